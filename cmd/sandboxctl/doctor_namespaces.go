package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// namespaceLayer looks at what it takes to make namespaces. The nursery of a service has them from its unit; one that
// the daemon starts makes them: as root, or in a user namespace. That all of it works together only the proof can tell.
func (h *host) namespaceLayer() []check {
	all := []check{h.namespaceLimits()}
	if h.uid == 0 {
		return append(all, h.adminCapability())
	}
	return append(append(append(all, h.debianSwitch()...), h.appArmor()...), h.hiddenProc()...)
}

// namespaceKinds are those that a nursery makes, as the kernel's limits call them.
var namespaceKinds = []string{"user", "net", "ipc", "mnt", "pid"}

func (h *host) namespaceLimits() check {
	kinds := namespaceKinds
	if h.uid == 0 {
		kinds = kinds[1:]
	}
	var none, fix, first []string
	for _, kind := range kinds {
		name := "user.max_" + kind + "_namespaces"
		n, has := h.number("/proc/sys/user/max_" + kind + "_namespaces")
		switch {
		case !has:
			none = append(none, "no "+name)
		case n <= 0:
			none = append(none, fmt.Sprintf("%s=%d", name, n))
			fix = append(fix, name+" = 1000")
		case first == nil:
			first = append(first, fmt.Sprintf("%s=%d", name, n))
		}
	}
	c := found("namespaces", layerNamespaces, "user.max_*_namespaces above 0", "%s", strings.Join(first, " "))
	if none == nil {
		return c
	}
	c.Found = strings.Join(none, " ")
	if fix == nil {
		return c.but(statusMissing, "the kernel has no such namespaces", "# boot a kernel with CONFIG_NAMESPACES=y and CONFIG_USER_NS=y")
	}
	return c.but(statusMissing, "nobody may make any", h.setSysctl(fix...))
}

// setSysctl sets them now, and at each boot.
func (h *host) setSysctl(lines ...string) string {
	if h.container() != "" {
		return "# on the host of this container: " + strings.Join(lines, ", ")
	}
	return commands(writeLines("/etc/sysctl.d/60-sandboxd.conf", lines...), "sudo sysctl --system")
}

// adminCapability is what root makes namespaces with. Root of a container may lack it.
func (h *host) adminCapability() check {
	const sysAdmin = 21 // capabilities(7)
	c := found("capabilities", layerNamespaces, "CAP_SYS_ADMIN", "%s", "CAP_SYS_ADMIN")
	for line := range strings.Lines(h.read("/proc/self/status")) {
		text, ok := strings.CutPrefix(line, "CapEff:")
		if effective, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64); ok && err == nil && effective&(1<<sysAdmin) != 0 {
			return c
		}
	}
	c.Found = "root without CAP_SYS_ADMIN"
	return c.but(statusMissing, "only with it can root give workers namespaces", commands(
		"# run it as an ordinary user where user namespaces are allowed, or say in "+h.configPath+":",
		"#   isolation: {allow_missing: [namespaces]}",
		"# to give the container the capability would take more from its wall than this layer adds"))
}

// debianSwitch is a patch of Debian's, which Ubuntu and Arch have too.
func (h *host) debianSwitch() []check {
	const name = "kernel.unprivileged_userns_clone"
	n, has := h.number("/proc/sys/kernel/unprivileged_userns_clone")
	if !has {
		return nil
	}
	c := found("unprivileged users", layerNamespaces, name+"=1", "%s=%d", name, n)
	if n == 0 {
		c = c.but(statusMissing, "only root may make user namespaces", h.setSysctl(name+" = 1"))
	}
	return []check{c}
}

// appArmor is Ubuntu's, from 23.10 on: a user namespace is of no use to a program without a profile that says userns.
func (h *host) appArmor() []check {
	const name = "kernel.apparmor_restrict_unprivileged_userns"
	n, has := h.number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
	if !has {
		return nil
	}
	c := found("AppArmor", layerNamespaces, "0, or a profile for sandboxd", "%s=%d", name, n)
	if n != 0 {
		c = c.but(statusMissing, "a user namespace is of no use to a program without an AppArmor profile that allows it", h.appArmorProfile())
	}
	return []check{c}
}

// appArmorProfile loads the profile that a package brings, or writes one for the daemon that is here.
func (h *host) appArmorProfile() string {
	daemon := path.Join(h.binaries.dir, "sandboxd")
	file := "/etc/apparmor.d/sandboxd"
	if text := h.read(file); text != "" && !strings.Contains(text, daemon) { // a package's
		file += "-" + h.name()
	}
	if h.exists(file) {
		return "sudo apparmor_parser -r " + quote(file)
	}
	return commands(
		writeLines(file, "abi <abi/4.0>,", "include <tunables/global>",
			fmt.Sprintf("profile %s %q flags=(unconfined) {", path.Base(file), daemon), "  userns,", "}"),
		"sudo apparmor_parser -r "+quote(file),
		"# or, for all programs: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
}

// hiddenProc tells of a /proc that is covered in part, as in most containers: the kernel then mounts no other one, which
// would show all of it, in a user namespace.
func (h *host) hiddenProc() []check {
	covers := 0
	for _, m := range h.mounts() {
		if strings.HasPrefix(m.point, "/proc/") && m.kind != "binfmt_misc" && m.kind != "autofs" {
			covers++
		}
	}
	if covers == 0 {
		return nil
	}
	fix := "# umount what covers parts of /proc: grep ' /proc/' /proc/self/mountinfo"
	switch h.container() {
	case "Podman":
		fix = "# start the container with --security-opt unmask=ALL"
	case "Docker":
		fix = "# start the container with --security-opt systempaths=unconfined"
	}
	return []check{found("/proc", layerNamespaces, "not covered", "%d mounts cover parts of it", covers).
		but(statusMissing, "a nursery may not mount a /proc of its own then", fix)}
}
