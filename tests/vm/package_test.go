package vm_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

// lifetime is a package's, from its installation to its end.
const lifetime = `
unit=/sys/fs/cgroup/system.slice/sandbox-nursery.service
logs() { journalctl --no-pager -o cat -u sandboxd -u sandbox-nursery | tail -40; dmesg | grep type=1326 | tail -5; }
# until_true COMMAND...: waits for it
until_true() { for i in $(seq 90); do if "$@" 2>/dev/null; then return 0; fi; sleep 1; done; echo "never true: $*"; logs; exit 1; }
told() { systemctl show -p StatusText --value sandboxd | grep -q "^$1"; }
is() { [ "$(systemctl show -p ActiveState --value sandboxd)" = "$1" ]; }
pid() { systemctl show -p MainPID --value sandboxd; }
# program NAME SOURCE: runs it as an ordinary user, and leaves its result
program() { as-user sh -c 'printf %s "$0" | sandboxctl run --output json -' "$2" >/results/$1.json 2>/results/$1.err; }
slow() { echo "await new Promise(r => setTimeout(r, $1)); return 1+1"; }

echo "vm: install"
dpkg --install /debs/old/*.deb || exit 1
usermod -aG sandboxd user
systemctl enable --quiet --now sandboxd.socket || exit 1
program first "return 1+1"
as-user sandboxctl doctor >/results/doctor 2>&1
echo "rc $?" >>/results/doctor
systemctl show -p Type --value sandboxd >/results/type

echo "vm: reload"
systemctl reload sandboxd 2>/dev/null
echo "rc $?" >/results/reload
systemctl kill -s HUP --kill-whom=main sandboxd
program reloaded "return 1+1"

echo "vm: watchdog"
mkdir -p /run/systemd/system/sandboxd.service.d
printf '[Service]\nWatchdogSec=5\n' >/run/systemd/system/sandboxd.service.d/short.conf
systemctl daemon-reload
systemctl restart sandboxd
hung=$(pid)
kill -STOP $hung
until_true [ ! -e /proc/$hung ]
program after-watchdog "return 1+1"
systemctl show -p NRestarts --value sandboxd >/results/restarts
rm -r /run/systemd/system/sandboxd.service.d
systemctl daemon-reload

echo "vm: no network"
mkdir -p /etc/systemd/system/sandboxd.service.d
cp /usr/share/sandboxd/drop-ins/no-network.conf /etc/systemd/system/sandboxd.service.d/
systemctl daemon-reload
systemctl restart sandboxd
program no-network "return 1+1"
tail -n +3 /proc/$(pid)/net/dev >/results/devices
rm -r /etc/systemd/system/sandboxd.service.d

echo "vm: upgrade, with a program that runs, one that waits in the daemon and one that waits at the socket"
sed -i 's/^  at_once: 64 /  at_once: 1 /; s/^  queue_wait: 5s /  queue_wait: 2m /; s/^drain: 30s /drain: 40s /' /etc/sandboxd/sandboxd.yaml
sed -i 's/^unknown: ask/unknown: deny/' /etc/sandboxd/policy.yaml
sha256sum /etc/sandboxd/*.yaml >/root/changed
systemctl daemon-reload
systemctl restart sandboxd
dpkg --unpack /debs/new/*.deb >/results/upgrade 2>&1 # what runs is the old one until it is configured
before=$(pid)
program running "$(slow 27000)" &
running=$!
until_true told "1 runs, 0 waiting"
program queued "return 1+1" &
queued=$!
until_true told "1 runs, 1 waiting"
dpkg --configure sandboxd >>/results/upgrade 2>&1 &
upgrade=$!
until_true is deactivating
program during "return 1+1" &
during=$!
wait $running $queued $during $upgrade
until_true is active
[ "$before" != "$(pid)" ] && echo another >/results/daemon
sha256sum --check --quiet /root/changed >/results/changed 2>&1
dpkg-query --show --showformat '${Version}' sandboxd >/results/version
/usr/lib/sandboxd/sandboxd --version >>/results/version 2>&1

echo "vm: removal while a program runs that outlasts the drain"
sed -i 's/^drain: 40s /drain: 2s /' /etc/sandboxd/sandboxd.yaml
systemctl restart sandboxd
program ended "$(slow 25000)" &
ended=$!
until_true told "1 runs, 0 waiting"
dpkg --remove sandboxd >/results/remove 2>&1 || echo failed >>/results/remove
wait $ended
grep -l sandbox /proc/[0-9]*/comm >/results/processes
ls -d $unit /run/sandboxd >>/results/processes 2>/dev/null
ls /etc/sandboxd/*.yaml >/results/kept

echo "vm: purge"
dpkg --purge sandboxd >/results/purge 2>&1 || echo failed >>/results/purge
systemctl daemon-reload
{
	find / -xdev \( -name '*sandboxd*' -o -name 'sandbox-*' -o -name '*sandboxctl*' -o -path '*sandboxd/*' \) -not -path '/results/*' -not -path '/debs/*' -not -path '/var/log/dpkg*'
	getent passwd sandboxd sandbox-worker
	getent group sandboxd sandbox-worker sandboxd-admin
	systemctl list-unit-files --no-legend 'sandbox*'
} >/results/left 2>&1
logs
`

// TestPackage installs the .deb on a machine that never had it, upgrades it under load, and removes it: README's "Install" and more.
func TestPackage(t *testing.T) {
	for _, c := range []struct {
		release      machine.Release
		kind, reload string // systemd 252 knows no notify-reload, and takes the line before
	}{
		{machine.Trixie, "notify-reload\n", "rc 0\n"},
		{machine.Bookworm, "notify\n", "rc 3\n"},
	} {
		t.Run(string(c.release), func(t *testing.T) {
			image := machine.Debian(t, c.release) // skips the test if it can't be had
			r := machine.Boot(t, machine.Options{Image: image, Within: 20 * time.Minute, Script: lifetime, Files: map[string]string{
				"/debs/old": deb(t, "1.0"),
				"/debs/new": deb(t, "1.1"),
			}})
			defer func() {
				if t.Failed() {
					t.Log(r.Log)
				}
			}()
			for _, name := range []string{"first", "reloaded", "after-watchdog", "no-network", "running", "queued", "during"} {
				if i := isolation(t, r, name); !i.Verified || len(i.Missing) > 0 || !strings.HasPrefix(i.Cgroup, "v2 leaf") {
					t.Errorf("%s: isolation is %+v", name, i)
				}
			}
			var ended sandboxd.Result
			if err := json.Unmarshal([]byte(r.Files["ended.json"]), &ended); err != nil || ended.Outcome != sandboxd.OutcomeCancelled {
				t.Errorf("a program that removal ended: %v, %s%s", err, r.Files["ended.json"], r.Files["ended.err"])
			}
			if doctor := r.Files["doctor"]; !strings.HasSuffix(doctor, "rc 0\n") {
				t.Errorf("doctor: %s", doctor)
			}
			if version := r.Files["version"]; version != "1.1-1sandboxd 1.1\n" {
				t.Errorf("after the upgrade: %q", version)
			}
			for _, name := range []string{"remove", "purge"} {
				if strings.Contains(r.Files[name], "failed") {
					t.Errorf("%s: %s", name, r.Files[name])
				}
			}
			for name, want := range map[string]string{
				"type": c.kind, "reload": c.reload, "restarts": "1\n", "devices": "    lo:", "daemon": "another\n", "changed": "", "processes": "",
				"kept": "/etc/sandboxd/policy.yaml\n/etc/sandboxd/sandboxd.yaml\n", "left": "",
			} {
				got := r.Files[name]
				if name == "devices" { // and what went through it
					got, _, _ = strings.Cut(got, " 0")
					got = strings.TrimRight(got, " ")
				}
				if got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// deb makes the package for amd64 under a version of its own, and returns the directory that has it.
func deb(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "make", "-C", filepath.Join("..", ".."), "deb", "ARCHES=amd64", "DIST="+dir, "PACKAGE_VERSION="+version)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make deb: %v\n%s", err, out)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("make deb left %q (%v)", packages, err)
	}
	only := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "cp", packages[0], only).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return only
}
