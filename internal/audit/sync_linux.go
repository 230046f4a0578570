package audit

import (
	"errors"
	"os"
	"syscall"
)

// fdatasync puts what a file has on disk, its size included (fdatasync(2)).
func fdatasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
