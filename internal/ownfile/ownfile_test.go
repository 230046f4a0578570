package ownfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sandboxd/sandboxd/internal/ownfile"
)

func TestReplaceAndRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two, which is longer", ""} {
		if err := ownfile.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := ownfile.Read(path, 100); err != nil || string(got) != text {
			t.Errorf("read %q, %v, want %q", got, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	if err := ownfile.Replace(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("wrote into a directory that does not exist")
	}
	if err := os.MkdirAll(filepath.Join(dir, "file", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Replace(filepath.Join(dir, "file"), nil); err == nil {
		t.Error("took the place of a directory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	other := write("other", 0o600)
	if os.Geteuid() == 0 {
		if err := os.Chown(other, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, path string
		most       int64
		want       string
	}{
		{"absent", filepath.Join(dir, "none"), 100, "no such file"},
		{"readable by others", write("open", 0o644), 100, "0644"},
		{"writable by the group", write("group", 0o620), 100, "chmod 0600"},
		{"a FIFO", fifo, 100, "no regular file"},
		{"a directory", dir, 100, "no regular file"},
		{"long", write("long", 0o600), 5, "longer than 5 bytes"},
	} {
		_, err := ownfile.Read(c.path, c.most)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := ownfile.Read(other, 100); os.Geteuid() == 0 && (err == nil || !strings.Contains(err.Error(), "belongs to user 12345")) {
		t.Errorf("another user's file: %v", err)
	}
}
