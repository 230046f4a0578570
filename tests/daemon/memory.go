package daemon

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// Memory is the least that the daemon gets by with, of what is resident, in KiB, when garbage collections run one after the other. What is resident
// else depends on where the last one left off, and is up to three times as much. They run because a gateway sends lines that
// are refused, each of which was read into 256 KiB that are garbage then.
func (d *Daemon) Memory(t testing.TB) int {
	t.Helper()
	conn, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	line, answers := strings.Repeat("x", 200<<10)+"\n", bufio.NewReader(conn)
	least := math.MaxInt
	for inVain := 0; inVain < 100; inVain++ {
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // a collection ends before there is more garbage, and the runtime gives pages back
		if now := Status(t, d.PID, "VmRSS"); now < least {
			least, inVain = now, 0
		}
	}
	return least
}

// Status is a number in /proc/PID/status (proc_pid_status(5)).
func Status(t testing.TB, pid int, key string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+key+":")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatalf("%s of process %d: %v", key, pid, err)
	}
	return n
}
