//go:build !linux

package jail

// LandlockInfo fails: there is no Landlock on this system.
func LandlockInfo() (abi, errata int, err error) { return 0, 0, errNotLinux }
