//go:build linux

package escape_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/escape/attack"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// TestWhole makes each attack in the whole jail, where its end is exact.
func TestWhole(t *testing.T) {
	t.Parallel()
	a := newArm(t, append(slices.Clone(layers), attack.Capabilities)...)
	for _, class := range attack.Classes {
		if class.Daemon {
			continue
		}
		t.Run(title(class.Name), func(t *testing.T) {
			for _, x := range class.Attacks {
				t.Run(title(x.Name), func(t *testing.T) { whole(t, a.try(t, x.Name), x) })
			}
		})
	}
}

func whole(t *testing.T, got result, x attack.Attack) {
	t.Helper()
	want := result{Began: true, End: attack.Killed}
	if x.Ends != attack.Killed {
		want = result{Began: true, Said: x.Ends, End: "lives", Hit: x.Ends == attack.OK}
	}
	switch {
	case got == want:
		tally.add(x.Name, "whole", got)
	case x.Needs != "" && got.Said == "" && got.End != "lives":
		skip.Because(t, "%s: %s", x.Name, x.Needs)
	default:
		t.Errorf("%s: %+v, want %+v", x.Name, got, want)
	}
}

// TestLayers makes the attacks that have an effect without each layer, with each layer alone, and without any. They must
// be stopped where a layer is on that is said to stop them, and nowhere else: what succeeds with no layer is an attack.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		others := slices.DeleteFunc(append(slices.Clone(layers), attack.Capabilities), func(o attack.Layer) bool { return o == l })
		layersOn(t, "without "+string(l), others...)
		layersOn(t, "only "+string(l), l)
	}
	layersOn(t, "nothing")
}

func layersOn(t *testing.T, name string, on ...attack.Layer) {
	t.Run(title(name), func(t *testing.T) {
		t.Parallel()
		a := newArm(t, on...)
		if slices.Contains(on, attack.UID) && !a.on(attack.UID) && len(on) == 1 {
			skip.Because(t, "a uid of their own, which workers have of a nursery that is root")
		}
		for _, class := range attack.Classes {
			for _, x := range class.Attacks {
				if x.Effect() {
					t.Run(title(x.Name), func(t *testing.T) { effective(t, a, name, x) })
				}
			}
		}
	})
}

func effective(t *testing.T, a *arm, name string, x attack.Attack) {
	t.Helper()
	got := a.try(t, x.Name)
	switch stopped := a.stops(x); {
	case !got.Began:
		t.Errorf("%s: it died before: %+v", x.Name, got)
	case got.Hit != stopped:
		tally.add(x.Name, name, got)
	case stopped:
		t.Errorf("%s: it succeeded, and %v stop it: %+v", x.Name, x.Stops, got)
	case x.Needs != "":
		skip.Because(t, "%s: %s", x.Name, x.Needs)
	default:
		t.Errorf("%s: nothing that stops it is on, and yet it failed: %+v", x.Name, got)
	}
}

func title(name string) string { return strings.ReplaceAll(name, " ", "_") }
