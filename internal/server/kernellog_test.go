package server

import "testing"

func TestKernelLog(t *testing.T) {
	const head = `5,1023,22595739647,-;audit: type=1326 audit(1796025919.580:4452): auid=4294967295 uid=65534 gid=65534 ses=4294967295 `
	for _, c := range []struct{ name, record, want string }{
		{"a kill", head + `pid=71 comm="4095" exe="/sandbox-worker" sig=31 arch=c000003e syscall=41 compat=0 ip=0x40a7ee code=0x80000000` + "\n", "socket"},
		{"a number that has no name", head + `pid=71 comm="4095" exe="/w" sig=31 arch=c000003e syscall=9999 compat=0 ip=0x1 code=0x80000000`, "number 9999"},
		{"x32", head + `pid=71 comm="4095" exe="/w" sig=31 arch=c000003e syscall=1073741825 compat=0 ip=0x1 code=0x80000000`, "number 1073741825"},
		{"32 bits", head + `pid=71 comm="4095" exe="/w" sig=31 arch=40000003 syscall=11 compat=1 ip=0x1 code=0x80000000`, "number 11 of another architecture"},
		{"a file that is called so", head + `pid=71 comm="4095" exe=2F746D702F612062 sig=31 arch=c000003e syscall=59 compat=0 ip=0x1 code=0x80000000`, "execve"},
		{"another process", head + `pid=72 comm="4095" exe="/w" sig=31 arch=c000003e syscall=41 compat=0 ip=0x1 code=0x80000000`, ""},
		{"another end", head + `pid=71 comm="4095" exe="/w" sig=11 arch=c000003e syscall=41 compat=0 ip=0x1 code=0x50000`, ""},
		{"in a continuation line", "6,1,1,-;usb 1-1\n " + head + `pid=71 comm="x" exe="/w" sig=31 arch=c000003e syscall=41 compat=0 ip=0x1`, ""},
		{"from a driver", `4,1,1,-;eth0: audit: type=1326 uid=0 pid=71 comm="x" exe="/w" sig=31 arch=c000003e syscall=41 compat=0`, ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kernelLog{seen: make(map[int]string)}
			k.note([]byte(c.record))
			if got := k.seen[71]; got != c.want {
				t.Errorf("call %q, want %q", got, c.want)
			}
		})
	}
	t.Run("it can't grow", func(t *testing.T) {
		k := &kernelLog{seen: make(map[int]string)}
		for pid := range 3 * maxSeen {
			k.seen[pid+1000] = "x"
			if len(k.seen) >= maxSeen {
				k.note([]byte(head + `pid=71 comm="4095" exe="/w" sig=31 arch=c000003e syscall=41 compat=0 `))
			}
		}
		if len(k.seen) > maxSeen {
			t.Errorf("%d are remembered", len(k.seen))
		}
	})
}
