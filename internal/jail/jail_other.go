//go:build !linux

package jail

import (
	"errors"
	"io"
)

var errNotLinux = errors.New("jail: only Linux can confine a worker")

// CloseOthers fails: there is no jail on this system.
func CloseOthers() error { return errNotLinux }

// Enter fails: there is no jail on this system. The process must exit.
func Enter(Spec) (Report, error) { return Report{}, errNotLinux }

// ForbidExec fails: only Linux has the filters.
func ForbidExec() error { return errNotLinux }

// Check fails: there is no jail on this system.
func Check(int, Report) error { return errNotLinux }

// CheckStatus fails: there is no jail on this system.
func CheckStatus(int, io.ReaderAt, Report) error { return errNotLinux }
