package nursery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processCPU reads the CPU clock of another process: one system call, where /proc would take three and
// count in ticks of 10 ms.
func processCPU(pid int) (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|cpuclockSched), &t); err != nil {
		return 0, fmt.Errorf("read CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// pidOf tells the number by which this process knows another one that it has the pidfd of.
func pidOf(pidfd *os.File) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pidfd.Fd()))
	if err != nil {
		return 0, fmt.Errorf("tell a worker's pid: %w", err)
	}
	_, rest, _ := bytes.Cut(text, []byte("\nPid:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	pid, err := strconv.Atoi(string(line))
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("tell a worker's pid: it is %q here", line)
	}
	return pid, nil
}

// cpuclockSched in the low bits of a clock id asks for the scheduler's account (kernel,
// include/linux/posix-timers_types.h: CPUCLOCK_SCHED).
const cpuclockSched = 2

// memory reads a line of a process's status, such as VmHWM, in bytes.
func memory(status io.ReaderAt, key string) (int64, error) {
	text := make([]byte, 8<<10) // it has about 1.5 KiB
	n, err := status.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	_, rest, ok := bytes.Cut(text[:n], []byte("\n"+key+":"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(line)), 10, 64)
	if !ok || err != nil {
		return 0, errors.New("read memory: the process has ended")
	}
	return kilobytes << 10, nil
}

// maxStderr is what is read of a dead worker's standard error: Go's runtime says why it dies in
// the first line.
const maxStderr = 4 << 10

// stderrWait is for a pipe that somebody still holds open, which can't be: its writer is dead.
const stderrWait = time.Second

// readStderr returns the beginning of what a dead worker left in its pipe.
func readStderr(pipe *os.File) string {
	if err := pipe.SetReadDeadline(time.Now().Add(stderrWait)); err != nil {
		return ""
	}
	text := make([]byte, maxStderr)
	n, err := pipe.Read(text)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "\ufffd"))
}
