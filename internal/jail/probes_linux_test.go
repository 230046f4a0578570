package jail_test

import (
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

const (
	page = 4096
	rw   = unix.PROT_READ | unix.PROT_WRITE
	anon = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
)

var root = [...]byte{'/', 0} // static, as a uintptr keeps nothing alive

func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func prepareProbe(string) { attack.Prepare() }

func probeInside(name string) {
	a, _ := attack.Find(name)
	say("%s", attack.End(a.Do(&attack.Target{})))
}

// TestProbes makes every attack of the register in a sealed child of this package alone: no nursery, and nothing there
// to be hit. tests/escape makes them in earnest.
func TestProbes(t *testing.T) {
	for _, class := range attack.Classes {
		if class.Daemon {
			continue
		}
		for _, a := range class.Attacks {
			t.Run(strings.ReplaceAll(a.Name, " ", "_"), func(t *testing.T) {
				c := start(t, spec, "probe", a.Name)
				c.ready(t)
				said, end := c.end(t)
				wantSaid, wantEnd := "", attack.Killed
				if a.Ends != attack.Killed {
					wantSaid, wantEnd = a.Ends+"\n", "exit 0"
				}
				if said != wantSaid || end != wantEnd {
					t.Errorf("said %q, ended with %s; want %q, %s\n%s", said, end, wantSaid, wantEnd, c.stderr.String())
				}
			})
		}
	}
}
