package nursery

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilesKeepTheirFlags receives a pidfd, as of a worker: the nursery waits for the worker by the same open file, and would
// take it for dead if that did not block.
func TestFilesKeepTheirFlags(t *testing.T) {
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := files(unix.UnixRights(pidfd)) // owns it now
	defer answer{files: got}.close()
	if len(got) != 1 {
		t.Fatalf("%d files", len(got))
	}
	if _, err := pidOf(got[0]); err != nil {
		t.Error(err)
	}
	if flags, err := unix.FcntlInt(uintptr(pidfd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
	if pid, err := pidOf(got[0]); err != nil || pid != os.Getpid() {
		t.Errorf("process %d, %v; want %d", pid, err, os.Getpid())
	}
}
