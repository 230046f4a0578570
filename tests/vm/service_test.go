package vm_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

// install puts the binaries and the units where a package does.
const install = `
set -eu
install -d /usr/lib/sandboxd/root/bin /etc/sandboxd
for d in cg dev etc proc run sys usr var; do install -d /usr/lib/sandboxd/root/$d; done
install /built/sandboxctl /usr/bin/
install /built/sandboxd /usr/lib/sandboxd/
install /built/sandbox-nursery /built/sandbox-worker /usr/lib/sandboxd/root/bin/
cp /units/*.service /units/*.socket /etc/systemd/system/
systemd-sysusers /sysusers.conf
printf 'callers: {gids: [sandboxd]}\nadmins: {gids: [sandboxd-admin]}\npool: {default: 2}\n' >/etc/sandboxd/sandboxd.yaml
usermod -aG sandboxd user
systemctl daemon-reload
systemctl enable --quiet --now sandboxd.socket sandbox-nursery.socket
set +eu
unit=/sys/fs/cgroup/system.slice/sandbox-nursery.service
logs() { journalctl --no-pager -o cat -u sandboxd -u sandbox-nursery | tail -40; dmesg | grep type=1326 | tail -5; }
# until_true COMMAND...: waits for it
until_true() { for i in $(seq 30); do if "$@" 2>/dev/null; then return 0; fi; sleep 1; done; echo "never true: $*"; logs; exit 1; }
two() { [ "$(ls -d $unit/worker-* | wc -l)" = 2 ]; }
served() { as-user sh -c 'echo "return 1+1" | sandboxctl run --output json -'; }
`

// look is what only the system itself can show of a worker. The daemon keeps two ready.
const look = `
echo "vm: first program, which starts both services"
served >/results/first.json 2>/results/first.err || { logs; exit 1; }
echo "vm: another user"
echo 'return 1' | setpriv --reuid=nobody --regid=nogroup --clear-groups sandboxctl run - >/results/other 2>&1
echo "rc $?" >>/results/other

echo "vm: administrators"
setpriv --reuid=nobody --regid=nogroup --groups="$(getent group sandboxd-admin | cut -d: -f3)" sandboxctl approvals list --json >/results/admin 2>&1
as-user sandboxctl approvals list --json >/results/no-admin 2>&1
echo "rc $?" >>/results/no-admin
stat -c '%a %U %G' /run/sandboxd/admin.sock >/results/admin-socket

until_true two
worker=$(cat $unit/worker-*/cgroup.procs | head -1)
mkdir /results/worker
for f in status cgroup mountinfo net/dev; do cat /proc/$worker/$f >/results/worker/$(basename $f); done
for f in memory.max memory.swap.max memory.oom.group cpu.max pids.max; do cat $unit/worker-*/$f | sort -u; done >/results/worker/limits
ls -l /proc/$worker/fd >/results/worker/fds
for n in ipc mnt net pid user; do
	[ "$(readlink /proc/$worker/ns/$n)" = "$(readlink /proc/1/ns/$n)" ] || echo $n
done >/results/worker/namespaces

echo "vm: the nursery is killed"
before=$(systemctl show -p MainPID --value sandbox-nursery)
systemctl kill --kill-whom=main -s KILL sandbox-nursery
until_true [ ! -e /proc/$worker ]
served >/results/after-nursery.json 2>/results/after-nursery.err
[ "$before" != "$(systemctl show -p MainPID --value sandbox-nursery)" ] && echo another >/results/nursery

echo "vm: the daemon is killed"
until_true two
workers=$(cat $unit/worker-*/cgroup.procs)
systemctl kill --kill-whom=main -s KILL sandboxd
sleep 1
for p in $workers; do [ ! -e /proc/$p ] || echo "$p lives"; done >/results/survivors
served >/results/after-daemon.json 2>/results/after-daemon.err

echo "vm: stop"
systemctl stop sandboxd.socket sandboxd-admin.socket sandbox-nursery.socket sandboxd.service sandbox-nursery.service
grep -l sandbox /proc/[0-9]*/comm >/results/left
ls -d $unit >>/results/left 2>/dev/null

echo "vm: a private daemon of an ordinary user"
as-user sh -c 'echo "return 1+1" | SANDBOXD_SOCKET= sandboxctl run --output json -' >/results/private.json 2>/results/private.err
echo "vm: a private daemon of root"
echo "return 1+1" | sandboxctl run --output json - >/results/root.json 2>/results/root.err
logs
`

// TestService installs the two units and looks at what a program runs in.
func TestService(t *testing.T) {
	for _, c := range []struct {
		release    machine.Release
		landlock   int
		namespaces []string // PrivatePIDs= is known from systemd 257 on
	}{
		{machine.Trixie, 6, []string{"ipc", "mnt", "net", "pid"}},
		{machine.Bookworm, 2, []string{"ipc", "mnt", "net"}},
	} {
		t.Run(string(c.release), func(t *testing.T) {
			r := machine.Boot(t, machine.Options{Image: machine.Debian(t, c.release), Within: 20 * time.Minute, Script: install + look,
				Files: map[string]string{
					"/built":         machine.Build(t, "amd64"),
					"/sysusers.conf": filepath.Join("..", "..", "packaging", "sysusers.d", "sandboxd.conf"),
					"/units":         filepath.Join("..", "..", "systemd"),
				}})
			defer func() {
				if t.Failed() {
					t.Log(r.Log)
				}
			}()
			for _, name := range []string{"first", "after-nursery", "after-daemon"} {
				i := isolation(t, r, name)
				if i.Landlock != c.landlock || !strings.HasPrefix(i.Cgroup, "v2 leaf") || !slices.Equal(i.Namespaces, c.namespaces) ||
					!strings.HasPrefix(i.Seccomp, "kill") || !i.Verified || len(i.Missing) > 0 {
					t.Errorf("%s: isolation is %+v", name, i)
				}
			}
			if other := r.Files["other"]; !strings.Contains(other, "permission denied") || !strings.Contains(other, "rc 1") {
				t.Errorf("another user: %s", other)
			}
			if no := r.Files["no-admin"]; !strings.Contains(no, "permission denied") || !strings.Contains(no, "rc 1") {
				t.Errorf("a gateway's user on the admin socket: %s", no)
			}
			worker(t, r, c.namespaces)
			for name, want := range map[string]string{
				"nursery": "another\n", "survivors": "", "left": "", "admin": `{"approvals":[]}` + "\n", "admin-socket": "660 root sandboxd-admin\n",
			} {
				if got := r.Files[name]; got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for _, name := range []string{"private", "root"} {
				i := isolation(t, r, name)
				if !strings.HasPrefix(i.Cgroup, "v2 leaf") || !slices.Contains(i.Namespaces, "pid") || len(i.Missing) > 0 {
					t.Errorf("%s daemon: isolation is %+v: %s", name, i, r.Files[name+".err"])
				}
			}
		})
	}
}

func isolation(t *testing.T, r machine.Result, name string) sandboxd.Isolation {
	t.Helper()
	var result sandboxd.Result
	if err := json.Unmarshal([]byte(r.Files[name+".json"]), &result); err != nil || string(result.Value) != "2" {
		t.Errorf("%s: no result (%v): %s%s", name, err, r.Files[name+".json"], r.Files[name+".err"])
	}
	return result.Isolation
}

// worker checks what a worker that waits for its program has.
func worker(t *testing.T, r machine.Result, namespaces []string) {
	t.Helper()
	file := func(name string) string { return r.Files["worker/"+name] }
	if got := strings.Fields(file("namespaces")); !slices.Equal(got, namespaces) {
		t.Errorf("its own namespaces are %v, want %v", got, namespaces)
	}
	if got := file("cgroup"); !strings.HasPrefix(got, "0::/system.slice/sandbox-nursery.service/worker-") {
		t.Errorf("its cgroup is %s", got)
	}
	memory := (256 + 64 + 24) << 20
	if want := fmt.Sprintf("%d\n0\n1\n100000 100000\n24\n", memory); file("limits") != want {
		t.Errorf("its cgroup's limits are %q, want %q", file("limits"), want)
	}
	for line := range strings.Lines(file("mountinfo")) {
		f := strings.Fields(line)
		where, kind := f[4], f[slices.Index(f, "-")+1]
		switch {
		case kind == "ext4" && f[3] != "/usr/lib/sandboxd/root" && !strings.HasPrefix(f[3], "/usr/lib/sandboxd/root/bin/"),
			kind == "cgroup2" && f[3] != "/system.slice/sandbox-nursery.service",
			kind == "proc" && where != "/proc",
			!slices.Contains([]string{"ext4", "cgroup2", "proc", "tmpfs", "devpts"}, kind):
			t.Errorf("it sees a mount that it should not: %s", line)
		}
	}
	for line := range strings.Lines(file("dev")) {
		if name, _, isDevice := strings.Cut(strings.TrimSpace(line), ":"); isDevice && name != "lo" {
			t.Errorf("it sees network device %q", name)
		}
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"} {
		if !strings.Contains(file("status"), want+"\n") {
			t.Errorf("its status does not say %q", want)
		}
	}
	if n := strings.Count(file("fds"), " -> "); n != 6 {
		t.Errorf("its descriptors are\n%s", file("fds"))
	}
}
