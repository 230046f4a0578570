package jail_test

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// TestFilled: what is loaded is the proved program, with the numbers of the process in its holes.
func TestFilled(t *testing.T) {
	got, err := jail.Filled(testEpoll, testEvent, testPID)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arches {
		if a.goarch != runtime.GOARCH {
			continue
		}
		proved, err := bpf.Assemble(fill(assemble(t, a.info)))
		if err != nil {
			t.Fatal(err)
		}
		var want []bpf.RawInstruction
		for _, in := range got {
			want = append(want, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K})
		}
		if diff := cmp.Diff(proved, want); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFilledRefuses(t *testing.T) {
	for _, n := range [][3]int{{}, {-1, 5, 1}, {4, 4, 1}, {3, 5, 1}, {4, 2, 1}, {4, 5, 0}} {
		if _, err := jail.Filled(n[0], n[1], n[2]); err == nil {
			t.Errorf("epoll %d, eventfd %d, pid %d: no error", n[0], n[1], n[2])
		}
	}
}
