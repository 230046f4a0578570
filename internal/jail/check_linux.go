package jail

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

const maxThreads = 32 // a worker has about 6

// status is what every thread of a worker must show in /proc/PID/task/TID/status. A process can't
// fake a line: its name, the one thing that it chooses, is escaped there.
var status = []string{
	"Seccomp:\t2", // SECCOMP_MODE_FILTER
	"NoNewPrivs:\t1",
	"CapInh:\t0000000000000000",
	"CapPrm:\t0000000000000000",
	"CapEff:\t0000000000000000",
	"CapAmb:\t0000000000000000",
}

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
	abi, err := landlockABI()
	if err != nil {
		return err
	}
	if r.Landlock != abi || len(r.Proved) == 0 {
		return fmt.Errorf("report: landlock ABI %d of a kernel that has %d, %d proofs", r.Landlock, abi, len(r.Proved))
	}
	own, err := readFile("/proc/self/status")
	if err != nil {
		return err
	}
	inherited, err := countFilters(own)
	if err != nil {
		return err
	}
	tasks, err := readDir(proc + "/task")
	if err != nil {
		return err
	}
	if len(tasks) > maxThreads {
		return fmt.Errorf("%d threads, at most %d are right", len(tasks), maxThreads)
	}
	for _, t := range tasks {
		if err := checkThread(proc+"/task/"+t+"/status", inherited+filters); err != nil {
			return fmt.Errorf("thread %s: %w", t, err)
		}
	}
	return checkLimits(proc+"/limits", r.Rlimits)
}

func checkThread(path string, filters int) error {
	b, err := readFile(path)
	if err != nil {
		return err
	}
	for _, line := range status {
		if !bytes.Contains(b, []byte("\n"+line+"\n")) {
			return fmt.Errorf("its status is not %q", line)
		}
	}
	n, err := countFilters(b)
	if err == nil && n < filters {
		err = fmt.Errorf("it has %d seccomp filters, must be %d or more", n, filters)
	}
	return err
}

// countFilters finds the number of seccomp filters in a status file (Linux 5.9).
func countFilters(status []byte) (int, error) {
	_, rest, _ := bytes.Cut(status, []byte("\nSeccomp_filters:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	if err != nil {
		return 0, fmt.Errorf("number of seccomp filters: %w", err)
	}
	return n, nil
}

// checkLimits compares the kernel's table of limits with the reported ones.
func checkLimits(path string, want []string) error {
	b, err := readFile(path)
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
