package jail

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	maxThreads = 32 // a worker has about 8
)

// status is what every thread of a worker must show in /proc/PID/task/TID/status.
var status = []struct{ key, want string }{
	{"Seccomp", "2"}, // SECCOMP_MODE_FILTER
	{"NoNewPrivs", "1"},
	{"CapInh", noCaps},
	{"CapPrm", noCaps},
	{"CapEff", noCaps},
	{"CapAmb", noCaps},
}

const (
	noCaps     = "0000000000000000"
	filtersKey = "Seccomp_filters" // Linux 5.9
)

// Check verifies from outside that pid is confined as r says, each thread of it. It is for the
// process that started the worker and whose own seccomp filters it inherited, once READY has come:
// from then on no thread can appear. It needs no privilege over pid, only /proc.
func Check(pid int, r Report) error {
	if Unjailed {
		return nil
	}
	if err := check(fmt.Sprintf("/proc/%d", pid), r); err != nil {
		return fmt.Errorf("check jail of %d: %w", pid, err)
	}
	return nil
}

func check(proc string, r Report) error {
	if r.Landlock < 1 || len(r.Proved) == 0 {
		return fmt.Errorf("report: landlock ABI %d, %d proofs", r.Landlock, len(r.Proved))
	}
	inherited, err := inheritedFilters()
	if err != nil {
		return err
	}
	tasks, err := os.ReadDir(proc + "/task")
	if err != nil {
		return err
	}
	if len(tasks) > maxThreads {
		return fmt.Errorf("%d threads, at most %d are right", len(tasks), maxThreads)
	}
	for _, t := range tasks {
		if err := checkThread(proc+"/task/"+t.Name()+"/status", inherited+filters); err != nil {
			return fmt.Errorf("thread %s: %w", t.Name(), err)
		}
	}
	return checkLimits(proc+"/limits", r.Rlimits)
}

func inheritedFilters() (int, error) {
	fields, err := readStatus("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[filtersKey])
}

func checkThread(path string, filters int) error {
	fields, err := readStatus(path)
	if err != nil {
		return err
	}
	for _, s := range status {
		if got := fields[s.key]; got != s.want {
			return fmt.Errorf("%s is %q, must be %q", s.key, got, s.want)
		}
	}
	if n, err := strconv.Atoi(fields[filtersKey]); err != nil || n < filters {
		return fmt.Errorf("%s is %q, must be %d or more", filtersKey, fields[filtersKey], filters)
	}
	return nil
}

func readStatus(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[key] = strings.TrimSpace(value)
		}
	}
	return fields, nil
}

// checkLimits compares the kernel's table of limits with the reported ones.
func checkLimits(path string, want []string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var got []string
	for _, r := range resources {
		_, rest, _ := bytes.Cut(b, []byte("\n"+r.label+" "))
		if f := bytes.Fields(rest[:min(len(rest), 64)]); len(f) > 1 {
			got = append(got, r.name+"="+limitText(string(f[0]), string(f[1])))
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("rlimits are %v, reported were %v", got, want)
	}
	return nil
}
