package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/policy"
)

// TestCancelledBeforeItBegan: a run that is cancelled while its beginning is written down is no failure of the log, and has an end there.
func TestCancelledBeforeItBegan(t *testing.T) {
	s := asking(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := audit.Default()
	c.Path = filepath.Join(dir, "audit.log")
	var err error
	if s.audit, err = audit.Open(c, audit.Options{}); err != nil {
		t.Fatal(err)
	}
	x, _ := s.gateway(t, nil)
	r, _ := x.launch(t, time.Hour)
	if r.account.Policy, err = policy.Parse("policy.yaml", []byte("version: 1\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if err = r.begin(ctx); !errors.Is(err, errCancelled) {
		t.Errorf("it was not begun because of: %v", err)
	}
	r.refused(ctx, err)
	if r.result.Outcome != sandboxd.OutcomeCancelled {
		t.Errorf("it ended as %+v", r.result.Error)
	}
	r.record()
	if err := s.audit.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(c.Path); err != nil || !strings.Contains(string(text), `"event":"run.end"`) {
		t.Errorf("%v: %s", err, text)
	}
}
