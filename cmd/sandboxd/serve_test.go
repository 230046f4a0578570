package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// TestJournal: what is recorded while the daemon lives, its own end included, goes to the journal.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := audit.Default()
	c.Path = filepath.Join(dir, "audit.log")
	var told []string
	l, err := audit.Open(c, audit.Options{Journal: func(_ string, fields map[string]string) error {
		told = append(told, fields["SANDBOXD_EVENT"])
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	closeAudit := keepAudit(l, slog.Default())
	const runs = 900 // fewer than may wait for the journal: none is dropped
	for range runs {
		if err := l.Append(t.Context(), audit.RunEnd{Run: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	closeAudit()
	if n := len(told); n != runs+2 || told[0] != audit.KindCreate || told[n-1] != audit.KindDaemonStop {
		t.Errorf("the journal was told %d events, want %d: %v", n, runs+2, told[max(0, n-3):])
	}
}
