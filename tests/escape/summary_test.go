//go:build linux

package escape_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

// results are what became of the attacks, by arm and attack. An arm is "whole", "only seccomp", "without seccomp" and so
// on; "run" are those in runs of a daemon.
type results struct {
	mu sync.Mutex // guards the field below
	by map[string]map[string]result
}

var tally = results{by: make(map[string]map[string]result)}

func (r *results) add(attack, arm string, got result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[arm] == nil {
		r.by[arm] = make(map[string]result)
	}
	r.by[arm][attack] = got
}

// summarize prints what was tried, what stopped it, and what is allowed; then which layer stopped what alone, and what
// still was stopped without it.
func summarize(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "in the whole jail\ttried\tSIGSYS\terrno\tended by the daemon\tallowed on purpose")
	var all [5]int
	for _, class := range attack.Classes {
		n := ends(class)
		for i := range all {
			all[i] += n[i]
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", class.Name, n[0], n[1], n[2], n[3], n[4])
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\t%d\t%d\n", all[0], all[1], all[2], all[3], all[4])
	for _, kind := range []string{"only ", "without "} {
		fmt.Fprintf(w, "\nstopped %s\tof\t%s\n", strings.TrimSpace(kind)+" …", headline())
		for _, class := range attack.Classes {
			if effects := effectsOf(class); len(effects) > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\n", class.Name, len(effects), stopped(kind, effects))
			}
		}
	}
	w.Flush() // to standard output, where an error can be told to nobody
}

// ends counts a class's attacks: tried, and by how they ended.
func ends(class attack.Class) (n [5]int) {
	for _, x := range class.Attacks {
		got, ok := tally.by["whole"][x.Name]
		if class.Daemon {
			got, ok = tally.by["run"][x.Name]
		}
		if !ok {
			continue
		}
		n[0]++
		switch {
		case class.Daemon:
			n[3]++
		case got.End == attack.Killed:
			n[1]++
		case got.Said == attack.OK:
			n[4]++
		default:
			n[2]++
		}
	}
	return n
}

func headline() string {
	var all []string
	for _, l := range layers {
		all = append(all, string(l))
	}
	return strings.Join(all, "\t")
}

// stopped counts, for each layer, the attacks that had no effect with only that layer, or without it: "-" if this machine
// could not show it.
func stopped(kind string, effects []attack.Attack) string {
	var all []string
	for _, l := range layers {
		arm, ok := tally.by[kind+string(l)]
		n := 0
		for _, x := range effects {
			if got, tried := arm[x.Name]; tried && !got.Hit {
				n++
			}
		}
		if !ok {
			all = append(all, "-")
		} else {
			all = append(all, fmt.Sprint(n))
		}
	}
	return strings.Join(all, "\t")
}

func effectsOf(class attack.Class) []attack.Attack {
	var all []attack.Attack
	for _, x := range class.Attacks {
		if x.Effect() {
			all = append(all, x)
		}
	}
	return all
}
