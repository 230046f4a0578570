// Package machine boots Linux machines in QEMU's emulation, for tests of what only another kernel, PID 1 or CPU can show.
//
// It takes no KVM, no network, no mount and no loop device. A guest has two or three disks: its root file system, which is
// never changed; a tar archive with what the test brought; and an empty one, on which the guest leaves its results as
// another tar archive.
package machine

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Options of Boot.
type Options struct {
	Image  Image
	Files  map[string]string // what the guest gets, by its path there: a file, or all below a directory, root's there
	Script string            // for sh, run as root in /root once the system is up
	Within time.Duration     // the script must end within this: a guest is 5 to 15 times slower than the host
}

// Result is what a guest left.
type Result struct {
	RC    int               // of the script
	Log   string            // what it wrote to standard output and standard error
	Files map[string]string // what it left in /results, which is everyone's to write to, by path below that
}

//go:embed guest/main
var mainScript []byte

//go:embed guest/as-user
var asUser []byte

//go:embed guest/in-cgroup
var inCgroup []byte

// Boot boots a machine with systemd, runs the script, and powers off. Lines that begin with "vm: " in the script's output
// are logged while it runs. It finds these programs:
//
//	as-user COMMAND ARG…           runs the command in a login session of the ordinary user
//	in-cgroup USER COMMAND ARG…    runs it in a unit of that user, in a cgroup that is delegated to it and that
//	                               SANDBOXD_TEST_CGROUP names
//
// The test fails if the machine does, and waits for three of them at most, if kernels die.
func Boot(t testing.TB, o Options) Result {
	t.Helper()
	need(t, "qemu-system-x86_64")
	files, err := expand(o.Files)
	if err != nil {
		t.Fatal(err)
	}
	files = append(files,
		file{name: "/vm/main", mode: 0o644, text: mainScript},
		file{name: "/vm/script", mode: 0o644, text: []byte(o.Script)},
		file{name: "/vm/bin/as-user", mode: 0o755, text: asUser},
		file{name: "/vm/bin/in-cgroup", mode: 0o755, text: inCgroup},
	)
	brought := filepath.Join(t.TempDir(), "files")
	if err := writeTar(brought, files); err != nil {
		t.Fatal(err)
	}
	return emulator{"qemu-system-x86_64", func(results string) []string {
		return []string{
			// cx16: QEMU 7.2 corrupts memory with cmpxchg16b. la57: five levels of page tables are slow to emulate.
			"-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "max,la57=off,cx16=off", "-smp", "2", "-m", "2048",
			"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
			"-kernel", o.Image.Kernel,
			"-append", "root=PARTUUID=" + partitionID + " rw rootfstype=ext4 console=ttyS0 panic=-1 quiet mitigations=off",
			"-device", "nvme,id=nvme,serial=vm",
			"-drive", drive("root", o.Image.Disk) + ",snapshot=on,cache=unsafe", "-device", "nvme-ns,bus=nvme,nsid=1,drive=root",
			"-drive", drive("files", brought) + ",read-only=on", "-device", "nvme-ns,bus=nvme,nsid=2,drive=files",
			"-drive", drive("results", results) + ",cache=unsafe", "-device", "nvme-ns,bus=nvme,nsid=3,drive=results",
		}
	}}.untilResults(t, o.Within)
}

// drive is a raw one without a place in the machine yet. A comma in a value is doubled.
func drive(id, path string) string {
	return "if=none,format=raw,id=" + id + ",file=" + strings.ReplaceAll(path, ",", ",,")
}

func newResult(files map[string]string) (Result, error) {
	rc, err := strconv.Atoi(strings.TrimSpace(files["rc"]))
	if err != nil {
		return Result{}, fmt.Errorf("%w: rc is %q", errNoResults, files["rc"])
	}
	r := Result{RC: rc, Log: files["log"], Files: files}
	delete(files, "rc")
	delete(files, "log")
	return r, nil
}
