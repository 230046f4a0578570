package main

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// host is what there is to see of a machine: its files, and what only the kernel or a daemon can tell. Checks look at
// nothing else.
type host struct {
	files fs.FS  // the root directory
	arch  string // as Go names it

	uid     int
	user    string // name; empty: it has none
	runtime string // $XDG_RUNTIME_DIR

	landlock landlock
	manager  manager

	binaries   binaries
	configPath string
	config     config.Config // the defaults, where there is no file or it can't be read
	configErr  error
	profiles   map[string]profile.Profile
	profileErr error
	deciding   deciding // nothing, where configErr is not nil
	socket     socket

	wanted []string  // profiles to prove
	loads  []workers // that there are when all are ready; a private daemon has those of one profile
}

// workers are those of a profile, at their limits.
type workers struct {
	profile string
	count   int
	memory  int64 // bytes of each
	tasks   int   // of each
}

// private says that no daemon answers, so that a private one is started for the proof.
func (h *host) private() bool { return h.socket.err != nil }

// maxFile bounds what is read of a file: hosts of containers have thousands of mounts.
const maxFile = 4 << 20

// read returns a file's text without the white space around it; nothing if it can't be read.
func (h *host) read(name string) string {
	f, err := h.files.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (h *host) exists(name string) bool {
	_, err := fs.Stat(h.files, strings.TrimPrefix(name, "/"))
	return err == nil
}

// number reads a file that holds one; has is false where there is none.
func (h *host) number(name string) (n int64, has bool) {
	_, err := fmt.Sscan(h.read(name), &n)
	return n, err == nil
}

// firstPIDs is the pid namespace that a kernel boots with: PROC_PID_INIT_INO in linux/proc_ns.h.
const firstPIDs = "pid:[4026531836]"

// container names what runs the container that this is; empty where it is none. The marks alone are not enough: virtual
// machines are made from images of containers, too.
func (h *host) container() string {
	if pids, err := fs.ReadLink(h.files, "proc/self/ns/pid"); err == nil && pids == firstPIDs {
		return ""
	}
	switch kind := h.read("/run/systemd/container"); {
	case h.exists("/.dockerenv"):
		return "Docker"
	case h.exists("/run/.containerenv"):
		return "Podman"
	default:
		return kind
	}
}

// system names the distribution: os-release(5).
func (h *host) system(key string) string {
	for line := range strings.Lines(h.read("/etc/os-release")) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// bootParameter says how a parameter gets onto the kernel's command line.
func (h *host) bootParameter(parameter string) string {
	switch {
	case h.container() != "":
		return "# on the host of this container: add " + parameter + " to the kernel's command line, and reboot"
	case h.exists("/usr/sbin/grubby"):
		return commands(fmt.Sprintf("sudo grubby --update-kernel=ALL --args=%q", parameter), "sudo reboot")
	case h.exists("/usr/sbin/update-grub"):
		return commands(
			writeLines("/etc/default/grub.d/sandboxd.cfg", fmt.Sprintf(`GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX %s"`, parameter)),
			"sudo update-grub",
			"sudo reboot")
	case h.exists("/boot/firmware/cmdline.txt"):
		return commands(fmt.Sprintf("sudo sed -i 's/$/ %s/' /boot/firmware/cmdline.txt", parameter), "sudo reboot")
	}
	return "# add " + parameter + " to the kernel's command line, and reboot"
}

// newerKernel says how to get one that is of that release or later.
func (h *host) newerKernel(release string) string {
	switch h.system("ID") + " " + h.system("VERSION_ID") {
	case "debian 12":
		return commands("# with bookworm-backports among apt's sources:",
			"sudo apt-get install -t bookworm-backports linux-image-"+h.arch, "sudo reboot")
	case "ubuntu 22.04", "ubuntu 24.04":
		return commands("sudo apt-get install linux-generic-hwe-"+h.system("VERSION_ID"), "sudo reboot")
	}
	return "# boot Linux " + release + " or later"
}

// mount is a line of mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	point, kind string
	readOnly    bool
}

func (h *host) mounts() []mount {
	var all []mount
	for line := range strings.Lines(h.read("/proc/self/mountinfo")) {
		place, source, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(place), strings.Fields(source)
		if len(fields) < 6 || len(kind) < 1 {
			continue
		}
		all = append(all, mount{fields[4], kind[0], slices.Contains(strings.Split(fields[5], ","), "ro")})
	}
	return all
}

// ownCgroup is the directory of this process's cgroup v2, where it is usually mounted; empty where there is none.
func (h *host) ownCgroup() string {
	for line := range strings.Lines(h.read("/proc/self/cgroup")) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && h.unified() {
			return path.Join(cgroupRoot, at)
		}
	}
	return ""
}

const cgroupRoot = "/sys/fs/cgroup"

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
