package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// kernel looks at its release, and at seccomp.
func (h *host) kernel() []check {
	return []check{h.release(), h.seccomp()}
}

func (h *host) release() check {
	text := h.read("/proc/sys/kernel/osrelease")
	c := found("kernel", "", "5.14", "%s", orNone(text))
	var major, minor int
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return c.but(statusWarning, "this is no release of Linux that is known here", "")
	}
	switch {
	case major < 5 || major == 5 && minor < 13:
		c.Layer = layerLandlock
		return c.but(statusMissing, "Landlock came with Linux 5.13", h.newerKernel("5.14"))
	case major == 5 && minor < 14:
		c.Layer = layerCgroup
		return c.but(statusMissing, "cgroup.kill, by which workers end, came with Linux 5.14", h.newerKernel("5.14"))
	}
	return c
}

func (h *host) seccomp() check {
	actions := strings.Fields(h.read("/proc/sys/kernel/seccomp/actions_avail"))
	c := found("seccomp", layerSeccomp, "kill_process", "%s", "kill_process")
	switch {
	case slices.Contains(actions, "kill_process"):
		return c
	case actions == nil && strings.Contains(h.read("/proc/self/status"), "\nSeccomp_filters:"):
		c.Found = "filters; their actions are not shown"
		return c
	}
	c.Found = orNone(strings.Join(actions, " "))
	return c.but(statusMissing, "no worker starts without it", "# boot a kernel with CONFIG_SECCOMP_FILTER=y, Linux 4.14 or later")
}

// landlockABIs are the releases of Linux that brought Landlock's ABIs, from 1 on.
var landlockABIs = []string{"5.13", "5.19", "6.2", "6.7", "6.10", "6.12", "6.15"}

// landlockLayer looks at what the kernel can deny.
func (h *host) landlockLayer() []check {
	needed := h.landlockNeeded()
	all := []check{h.landlockABI(needed)}
	if h.landlock.err == nil {
		all = append(all, h.landlockErrata())
	}
	if active := h.read("/sys/kernel/security/lsm"); active != "" { // securityfs is not mounted everywhere
		c := found("active LSMs", layerLandlock, "landlock", "%s", active)
		if !slices.Contains(strings.Split(active, ","), "landlock") {
			c = c.but(statusMissing, "Landlock is off since boot, or not built in", all[0].Fix)
		}
		all = append(all, c)
	}
	return all
}

// signalErratum is the one without which Landlock's scopes can't be used: a thread could not signal another of its own
// process, and the Go runtime preempts by signals.
const signalErratum = 2

const (
	abiScopes     = 6
	releaseErrata = "6.15" // the first that tells of errata; stable releases from 6.12 on do so too
)

func (h *host) landlockABI(needed int) check {
	l := h.landlock
	c := found("Landlock", layerLandlock, fmt.Sprintf("ABI %d", needed), "ABI %d", l.abi)
	const why = "no worker starts without it"
	switch {
	case errors.Is(l.err, syscall.EOPNOTSUPP):
		c.Found = "off since boot"
		return c.but(statusMissing, why, h.bootParameter("lsm="+h.lsmWithLandlock()))
	case errors.Is(l.err, syscall.ENOSYS) && h.container() != "":
		c.Found = "none"
		return c.but(statusMissing, "the kernel has none, or the container's seccomp filter hides it: "+why,
			"# run a newer "+h.container()+", whose filter lets landlock_create_ruleset, landlock_add_rule and landlock_restrict_self through")
	case l.err != nil:
		c.Found = "none"
		if !errors.Is(l.err, syscall.ENOSYS) {
			c.Found = l.err.Error()
		}
		return c.but(statusMissing, why, "# boot a kernel with CONFIG_SECURITY_LANDLOCK=y, and landlock in CONFIG_LSM")
	case l.counts() < needed:
		return c.but(statusMissing, "a profile wants more of the kernel, by its jail.landlock_abi",
			h.newerKernel(landlockABIs[min(needed, len(landlockABIs))-1]))
	}
	return c
}

// counts is the ABI that a jail makes of the kernel's: see jail.LandlockInfo.
func (l landlock) counts() int {
	if l.abi >= abiScopes && !l.mended(signalErratum) {
		return abiScopes - 1
	}
	return l.abi
}

func (l landlock) mended(erratum int) bool { return l.errata&(1<<(erratum-1)) != 0 }

func (h *host) landlockErrata() check {
	l := h.landlock
	var mended []string
	for erratum := 1; erratum <= 31; erratum++ {
		if l.mended(erratum) {
			mended = append(mended, fmt.Sprint(erratum))
		}
	}
	c := found("Landlock errata", "", fmt.Sprintf("%d, from ABI %d on", signalErratum, abiScopes), "%s mended", strings.Join(mended, " "))
	if mended == nil {
		c.Found = "none told to be mended"
	}
	if l.counts() < l.abi {
		return c.but(statusWarning, fmt.Sprintf("ABI %d counts as %d: signals and abstract sockets are left to seccomp alone", l.abi, l.counts()),
			h.newerKernel(releaseErrata))
	}
	return c
}

// landlockNeeded is the most that a profile wants that is to be proved.
func (h *host) landlockNeeded() int {
	needed := 1
	for _, name := range h.wanted {
		needed = max(needed, h.profiles[name].Jail.LandlockABI)
	}
	return needed
}

// lsmWithLandlock is the kernel's list of security modules, with Landlock before the others.
func (h *host) lsmWithLandlock() string {
	if active := h.read("/sys/kernel/security/lsm"); active != "" {
		return "landlock," + active
	}
	return "landlock,lockdown,yama,integrity,apparmor,selinux,bpf"
}

// landlock is what the kernel says of it.
type landlock struct {
	abi, errata int
	err         error
}

func askLandlock() (l landlock) {
	l.abi, l.errata, l.err = jail.LandlockInfo()
	return l
}
