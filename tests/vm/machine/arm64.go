package machine

import (
	"encoding/json"
	"path"
	"path/filepath"
	"testing"
	"time"
)

// Command is what the init of a machine without a userland runs, as JSON in its file /init.json.
type Command struct {
	Args []string
	Dir  string
	Env  []string
	UID  uint32 // and GID
}

// ARM64 are the options of BootARM64.
type ARM64 struct {
	Files   map[string]string // as in Options; the guest has nothing else but /dev, /proc, /sys, /tmp and /results
	Command Command
	Within  time.Duration
}

// BootARM64 boots an arm64 kernel with an initramfs of the files and of our own init, runs the command, and powers off. It
// takes two seconds, and is enough for what depends on the CPU and the kernel only.
func BootARM64(t testing.TB, o ARM64) Result {
	t.Helper()
	need(t, "qemu-system-aarch64")
	image := kernel(t, Trixie, "arm64")
	files, err := expand(o.Files)
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal(o.Command)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	initramfs, program := filepath.Join(dir, "initramfs"), filepath.Join(dir, "init")
	goBuild(t, "arm64", "build", "-o", program, path.Join(module, "tests/vm/init"))
	files = append(files,
		file{name: "/init", mode: 0o755, host: program},
		file{name: "/init.json", mode: 0o644, text: command})
	if err := writeCPIO(initramfs, files); err != nil {
		t.Fatal(err)
	}
	return emulator{"qemu-system-aarch64", func(results string) []string {
		return []string{
			"-machine", "virt", "-accel", "tcg,thread=multi", "-cpu", "cortex-a72", "-smp", "2", "-m", "2048",
			"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
			"-kernel", image, "-initrd", initramfs, "-append", "console=ttyAMA0 panic=-1 quiet",
			"-device", "nvme,id=nvme,serial=vm",
			"-drive", drive("results", results) + ",cache=unsafe", "-device", "nvme-ns,bus=nvme,nsid=1,drive=results",
		}
	}}.untilResults(t, o.Within)
}
