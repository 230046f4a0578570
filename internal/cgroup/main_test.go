package cgroup_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// roleVariable makes the test binary a process that a test confines.
const roleVariable = "SANDBOXD_CGROUP_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play does what the role is; those that a test starts first wait at their gate, for a line of standard input.
func play(role string) {
	in := bufio.NewReader(os.Stdin)
	line := func() {
		if _, err := in.ReadString('\n'); err != nil {
			os.Exit(0)
		}
	}
	if role != "sleep" && role != "parent" && role != "quiet" {
		line()
	}
	switch role {
	case "quiet":
		fmt.Println("quiet")
		line()
	case "sleep":
		time.Sleep(time.Hour)
	case "flood":
		spawn("sleep") // that memory.oom.group must take along
		for {
			hoard = append(hoard, touched(1<<20))
		}
	case "hold":
		held := touched(32 << 20)
		fmt.Println("holding")
		line()
		fmt.Println(held[0])
	case "spin":
		for {
			touched(1 << 10)
		}
	case "fork":
		for {
			if spawn("sleep") != nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	case "family":
		spawn("sleep")
		spawn("parent")
		time.Sleep(time.Hour)
	case "parent":
		spawn("sleep")
		time.Sleep(time.Hour)
	}
}

// hoard keeps what a flood has touched.
var hoard [][]byte

func touched(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = 1
	}
	return b
}

func self(role string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path)
	command.Env = []string{roleVariable + "=" + role, "GOMAXPROCS=1"}
	return command, nil
}

func spawn(role string) error {
	command, err := self(role)
	if err != nil {
		return err
	}
	return command.Start()
}

// actor is a process that plays a role, and that ends with the test.
type actor struct {
	command *exec.Cmd
	gate    io.Writer
	says    *bufio.Reader
}

func start(t testing.TB, role string) *actor {
	t.Helper()
	return startAs(t, role, nil)
}

func startAs(t testing.TB, role string, attributes *syscall.SysProcAttr) *actor {
	t.Helper()
	command, err := self(role)
	if err != nil {
		t.Fatal(err)
	}
	command.SysProcAttr = attributes
	gate, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	says, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	a := &actor{command, gate, bufio.NewReader(says)}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // tells nothing when the test has waited
	})
	return a
}

func (a *actor) pid() int { return a.command.Process.Pid }

// tell writes a line: the first one opens the gate.
func (a *actor) tell(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(a.gate, "\n"); err != nil {
		t.Fatal(err)
	}
}

// hear waits for a line.
func (a *actor) hear(t testing.TB) {
	t.Helper()
	if line, err := a.says.ReadString('\n'); err != nil {
		t.Fatalf("the process said %q, then: %v", line, err)
	}
}

// killed waits for the process, and says whether SIGKILL ended it.
func (a *actor) killed(t testing.TB) bool {
	t.Helper()
	err := a.command.Wait()
	return err != nil && err.Error() == "signal: killed"
}
