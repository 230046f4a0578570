package jail

import (
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// LandlockInfo tells the kernel's Landlock ABI, and, as bits, the errata that it has mended (errata is 0 where the kernel
// can't tell: before 6.15, unless backported). It is for who explains a machine; what a jail makes of the two is in every
// Report. The error is ENOSYS where Landlock is not built in, EOPNOTSUPP where it is off since boot.
func LandlockInfo() (abi, errata int, err error) {
	if abi, err = ll.LandlockGetABIVersion(); err != nil {
		return 0, 0, fmt.Errorf("ask the kernel for its Landlock ABI: %w", err)
	}
	if errata, err = ll.LandlockGetErrata(); err != nil {
		errata = 0
	}
	return abi, errata, nil
}
