package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// controllers are what a worker's cgroup needs.
var controllers = []string{"cpu", "memory", "pids"}

// cgroupLayer looks at what it takes to have a cgroup for each worker.
func (h *host) cgroupLayer() []check {
	all := []check{h.cgroupVersion()}
	if h.unified() {
		all = append(all, h.cgroupControllers())
		all = append(all, h.cgroupAccess()...)
		all = append(all, h.swap())
	}
	all = append(all, h.serviceManager())
	if h.unified() && h.manager.err == nil { // else there is nothing to delegate, or nobody
		all = append(all, h.delegation())
	}
	return all
}

// unified reports whether v2 is where it usually is, alone.
func (h *host) unified() bool {
	kind := ""
	for _, m := range h.mounts() {
		if m.point == cgroupRoot {
			kind = m.kind // the last one hides those before it
		}
	}
	return kind == "cgroup2"
}

// mounted reports whether a kind of file system is, anywhere.
func (h *host) mounted(kind string) bool {
	return slices.ContainsFunc(h.mounts(), func(m mount) bool { return m.kind == kind })
}

func (h *host) cgroupVersion() check {
	c := found("cgroups", layerCgroup, "v2 (unified)", "v2 (unified)")
	parameter := "cgroup_no_v1=all"
	if h.exists("/run/systemd/system") {
		parameter = "systemd.unified_cgroup_hierarchy=1"
	}
	switch v1, v2 := h.mounted("cgroup"), h.mounted("cgroup2"); {
	case h.unified():
		return c
	case v1 && v2:
		c.Found = "hybrid: v2 beside v1"
		return c.but(statusMissing, "controllers that v1 uses can't be used by v2", h.bootParameter(parameter))
	case v1:
		c.Found = "v1"
		return c.but(statusMissing, "v1 has no cgroup.kill, and nothing of it can be delegated safely", h.bootParameter(parameter))
	}
	c.Found = "none at " + cgroupRoot
	if h.container() != "" {
		return c.but(statusMissing, "a worker's memory, CPU and tasks are bounded by rlimits and by the daemon's clock alone", h.withoutCgroup())
	}
	return c.but(statusMissing, "a worker's memory, CPU and tasks are bounded by rlimits and by the daemon's clock alone",
		"sudo mount -t cgroup2 cgroup2 "+cgroupRoot)
}

func (h *host) cgroupControllers() check {
	have := strings.Fields(h.read(cgroupRoot + "/cgroup.controllers"))
	c := found("cgroup controllers", layerCgroup, strings.Join(controllers, " "), "%s", orNone(strings.Join(present(have), " ")))
	lacking := slices.DeleteFunc(slices.Clone(controllers), func(name string) bool { return slices.Contains(have, name) })
	if len(lacking) == 0 {
		return c
	}
	why := "the kernel offers no " + strings.Join(lacking, ", ")
	switch {
	case h.container() != "":
		return c.but(statusMissing, why+" to this container", h.withoutCgroup())
	case slices.Contains(lacking, "memory"):
		return c.but(statusMissing, why, h.bootParameter("cgroup_enable=memory"))
	}
	return c.but(statusMissing, why, "# boot a kernel with CONFIG_MEMCG=y, CONFIG_CFS_BANDWIDTH=y and CONFIG_CGROUP_PIDS=y")
}

// present are those of the controllers that matter here.
func present(have []string) []string {
	return slices.DeleteFunc(slices.Clone(controllers), func(name string) bool { return !slices.Contains(have, name) })
}

// cgroupAccess tells of cgroups that nobody here can write to, as in most containers.
func (h *host) cgroupAccess() []check {
	for _, m := range h.mounts() {
		if m.point == cgroupRoot && m.readOnly {
			return []check{found("cgroup access", layerCgroup, "to write", "%s is mounted read-only", cgroupRoot).
				but(statusMissing, "a worker's memory, CPU and tasks are bounded by rlimits and by the daemon's clock alone", h.withoutCgroup())}
		}
	}
	return nil
}

// withoutCgroup is for containers, where the layer can only be had from outside.
func (h *host) withoutCgroup() string {
	return commands(
		"# bound the container from outside, such as with --memory and --pids-limit, and say in "+h.configPath+":",
		"#   isolation: {allow_missing: [cgroup]}",
		"# or run sandboxd on the host, as a service")
}

// swap looks whether a worker can be kept from it.
func (h *host) swap() check {
	c := found("swap", layerCgroup, "none, or memory.swap.max", "none")
	if h.memory("SwapTotal") <= 0 {
		return c
	}
	own := h.ownCgroup()
	if own == "" || own == cgroupRoot || h.exists(path.Join(own, "memory.swap.max")) || !h.exists(path.Join(own, "memory.max")) {
		c.Found = "limited for each cgroup" // or this is the root, or has no memory controller: the files are elsewhere
		return c
	}
	c.Found = "not accounted"
	return c.but(statusMissing, "a worker could fill it", "# take swapaccount=0 off the kernel's command line, and reboot; or swapoff -a")
}

// manager is the service manager that this user can ask for a cgroup.
type manager struct {
	version int   // of systemd; 0: there is none
	err     error // nil: it answers
}

// markVersion is the first systemd that marks what it delegates, by which the nursery knows that it may divide a cgroup.
const markVersion = 251

func (h *host) serviceManager() check {
	whose := "user"
	if h.uid == 0 {
		whose = "system"
	}
	c := found("service manager", layerCgroup, fmt.Sprintf("systemd %d", markVersion), "systemd %d, the %s manager answers", h.manager.version, whose)
	const why = "a cgroup is systemd's to give: to a service, or to a scope such as sandboxctl run asks for"
	switch {
	case h.manager.version == 0 || !h.exists("/run/systemd/system"):
		c.Found = "none"
		if h.container() != "" {
			return c.but(statusMissing, why, h.withoutCgroup())
		}
		return c.but(statusMissing, why, "# run sandboxd where systemd is PID 1")
	case h.manager.version < markVersion:
		c.Found = fmt.Sprintf("systemd %d", h.manager.version)
		return c.but(statusMissing, "an older one does not mark what it delegates", "# run a system with a newer systemd, such as Debian 12")
	case h.manager.err != nil:
		c.Found = fmt.Sprintf("systemd %d, no %s manager", h.manager.version, whose)
		return c.but(statusMissing, why, h.userManager())
	}
	return c
}

// userManager says how a user gets one.
func (h *host) userManager() string {
	runtime := fmt.Sprintf("/run/user/%d", h.uid)
	export := "export XDG_RUNTIME_DIR=" + runtime
	switch {
	case h.uid == 0:
		return "# systemd does not answer: see journalctl -b _PID=1"
	case h.runtime != runtime && h.exists(runtime+"/systemd/private"):
		return export
	}
	return commands("sudo loginctl enable-linger "+quote(h.name()), export)
}

// name is how commands call the user.
func (h *host) name() string {
	if h.user != "" {
		return h.user
	}
	return fmt.Sprint(h.uid)
}

// delegation looks at what the user's service manager has to give. That of the system has all.
func (h *host) delegation() check {
	c := found("delegation", layerCgroup, strings.Join(controllers, " "), "%s", strings.Join(controllers, " "))
	if h.uid == 0 {
		return c
	}
	dir := fmt.Sprintf("%s/user.slice/user-%d.slice/user@%d.service", cgroupRoot, h.uid, h.uid)
	have := present(strings.Fields(h.read(dir + "/cgroup.controllers")))
	c.Found = orNone(strings.Join(have, " "))
	if len(have) == len(controllers) {
		return c
	}
	return c.but(statusMissing, "the system's service manager does not hand all of them on to the user's", commands(
		"sudo mkdir -p /etc/systemd/system/user@.service.d",
		writeLines("/etc/systemd/system/user@.service.d/sandboxd.conf", "[Service]", "Delegate="+strings.Join(controllers, " ")),
		"sudo systemctl daemon-reload",
		"# then log out of all sessions, and in again"))
}
