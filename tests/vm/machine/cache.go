package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// buildWithin bounds the making of one thing in the cache, and the wait for another process that makes it.
const buildWithin = 15 * time.Minute

// cached is the directory that holds what build makes of a recipe. It is made once: a recipe that changes has another
// directory, and processes that want the same wait for the one that makes it.
func cached(t testing.TB, name string, recipe []string, build func(dir string) error) string {
	t.Helper()
	hash := sha256.Sum256([]byte(strings.Join(recipe, "\x00")))
	dir := filepath.Join(cacheRoot(t), name+"-"+hex.EncodeToString(hash[:6]))
	unlock, err := lock(dir + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	began := time.Now()
	t.Logf("building %s", dir)
	unfinished := dir + ".unfinished"
	if err := errors.Join(os.RemoveAll(unfinished), os.Mkdir(unfinished, 0o755)); err != nil { // of one that was killed
		t.Fatal(err)
	}
	if err := build(unfinished); err != nil {
		os.RemoveAll(unfinished)
		t.Fatalf("build %s: %v", name, err)
	}
	if err := os.Rename(unfinished, dir); err != nil {
		t.Fatal(err)
	}
	t.Logf("built in %.1f s", time.Since(began).Seconds())
	return dir
}

func cacheRoot(t testing.TB) string {
	t.Helper()
	root := os.Getenv("SANDBOXD_VM_CACHE")
	if root == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("%v; SANDBOXD_VM_CACHE names a directory instead", err)
		}
		root = filepath.Join(caches, "sandboxd-vm")
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// lock takes a lock that the kernel drops with this process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(buildWithin); ; time.Sleep(200 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}
