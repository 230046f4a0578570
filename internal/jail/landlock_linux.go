package jail

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// strictest is the configuration that denies all that an ABI can deny, by ABI.
var strictest = []landlock.Config{
	1: landlock.V1, 2: landlock.V2, 3: landlock.V3, 4: landlock.V4, 5: landlock.V5, 6: landlock.V6,
	7: landlock.V7, 8: landlock.V8, 9: landlock.V9, 10: landlock.V10, 11: landlock.V11,
}

const (
	abiNetwork = 4 // TCP bind and connect
	abiScopes  = 6 // signals and abstract sockets
	abiLogging = 7
)

// landlock denies every thread all that the kernel's own ABI can deny, and sets no_new_privs on
// each, which it needs. It is never best effort: that succeeds on a kernel without Landlock.
func (e *entry) landlock() error {
	abi, err := landlockABI()
	if err != nil {
		return err
	}
	if abi < e.spec.LandlockABI {
		return fmt.Errorf("the kernel's ABI is %d, the spec wants %d", abi, e.spec.LandlockABI)
	}
	config := strictest[abi]
	if abi >= abiLogging {
		// What we try ourselves is no news for the audit log; a program can try nothing.
		config = config.DisableLoggingForOriginatingProcess()
	}
	if err := config.Restrict(); err != nil {
		return err
	}
	e.report.Landlock = abi
	return nil
}

// landlockABI is the ABI that can be put in force: the kernel's, as far as go-landlock knows it. From
// ABI 6 on it counts only with erratum 2 mended: before that, a thread could not signal another of
// its own process, and the Go runtime preempts by signals. A kernel that can't tell (before 6.15,
// unless backported) has it not mended; it counts as ABI 5, for go-landlock as well.
func landlockABI() (int, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0, fmt.Errorf("the kernel has no Landlock, or it is off: %w", err)
	}
	if abi >= abiScopes {
		const signalErratum = 1 << (2 - 1)
		if errata, err := ll.LandlockGetErrata(); err != nil || errata&signalErratum == 0 {
			abi = abiScopes - 1
		}
	}
	return min(abi, len(strictest)-1), nil
}
