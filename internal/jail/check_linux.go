package jail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
//
// It is dear: a process whose files in /proc were looked up by another one costs milliseconds to reap on a
// busy machine, where the kernel takes their names out of its cache in competition with the process's last
// threads. CheckStatus is for each worker, Check for the first of its kind.
func Check(pid int, r Report) error {
	if Unjailed {
		return nil
	}
	if err := check(fmt.Sprintf("/proc/%d", pid), r); err != nil {
		return fmt.Errorf("check jail of %d: %w", pid, err)
	}
	return nil
}

// CheckStatus verifies what /proc/PID/status tells, of the process and its first thread: the others have the filter
// if this one has, as it was put on all of them at once or on none. The file is to be opened when pid was started,
// and closed when it was reaped.
func CheckStatus(pid int, status io.ReaderAt, r Report) error {
	if Unjailed {
		return nil
	}
	if err := checkStatus(pid, status, r); err != nil {
		return fmt.Errorf("check jail of %d: %w", pid, err)
	}
	return nil
}

func checkStatus(pid int, status io.ReaderAt, r Report) error {
	inherited, err := checkReport(r)
	if err != nil {
		return err
	}
	b := make([]byte, 8<<10) // it has about 1.5 KiB
	n, err := status.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return err
	}
	b = b[:n]
	if !bytes.Contains(b, fmt.Appendf(nil, "\nPid:\t%d\n", pid)) {
		return errors.New("its status is another process's")
	}
	if threads, err := number(b, "Threads"); err != nil || threads > maxThreads {
		return fmt.Errorf("%d threads (%v), at most %d are right", threads, err, maxThreads)
	}
	return checkThread(b, inherited+filters)
}

// checkReport refuses a report that can't be true, and returns how many filters pid inherited.
func checkReport(r Report) (inherited int, err error) {
	abi, err := landlockABI()
	if err != nil {
		return 0, err
	}
	if enabled("prove landlock") && (r.Landlock != abi || len(r.Proved) == 0) {
		return 0, fmt.Errorf("report: landlock ABI %d of a kernel that has %d, %d proofs", r.Landlock, abi, len(r.Proved))
	}
	own, err := readFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return number(own, filtersKey)
}

func check(proc string, r Report) error {
	inherited, err := checkReport(r)
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
		b, err := readFile(proc + "/task/" + t + "/status")
		if err != nil {
			return err
		}
		if err := checkThread(b, inherited+filters); err != nil {
			return fmt.Errorf("thread %s: %w", t, err)
		}
	}
	return checkLimits(proc+"/limits", r.Rlimits)
}

func checkThread(b []byte, filters int) error {
	for _, line := range status {
		if enabled(line) && !bytes.Contains(b, []byte("\n"+line+"\n")) {
			return fmt.Errorf("its status is not %q", line)
		}
	}
	n, err := number(b, filtersKey)
	if err == nil && n < filters && enabled(filtersKey) {
		err = fmt.Errorf("it has %d seccomp filters, must be %d or more", n, filters)
	}
	return err
}

const filtersKey = "Seccomp_filters" // Linux 5.9

// number finds a number in a status file.
func number(status []byte, key string) (int, error) {
	_, rest, _ := bytes.Cut(status, []byte("\n"+key+":\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return n, nil
}

// checkLimits compares the kernel's table of limits with the reported ones.
func checkLimits(path string, want []string) error {
	if !enabled("set rlimits") {
		return nil
	}
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
