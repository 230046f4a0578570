package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// bootWithin bounds the time from power on to the test: 2 to 10 s on an idle machine, minutes on a busy one.
	bootWithin = 10 * time.Minute

	// tries is how often a machine is booted whose kernel dies: emulated ones do at times.
	tries = 3
)

// emulator is a machine to be: its program, and the arguments that describe it, given the path of the disk for results.
type emulator struct {
	program string
	args    func(results string) []string
}

// untilResults boots the machine until it has left results.
func (e emulator) untilResults(t testing.TB, within time.Duration) Result {
	t.Helper()
	for try := 1; ; try++ {
		results, log, err := e.boot(t, within)
		if err == nil {
			return results
		}
		said := fmt.Sprintf("machine %d of %d: %v; the end of its console:\n%s", try, tries, err, tail(log))
		if errors.Is(err, errLimit) || try == tries || t.Context().Err() != nil {
			t.Fatal(said)
		}
		t.Log(said + "\nanother one is tried")
	}
}

// errLimit is a test that takes too long: another machine would not change that.
var errLimit = errors.New("the limit of the test")

// boot runs the machine until it powers off, and returns its results and the end of its console.
func (e emulator) boot(t testing.TB, within time.Duration) (Result, []byte, error) {
	t.Helper()
	dir := t.TempDir()
	disk := filepath.Join(dir, "results")
	if err := errors.Join(os.WriteFile(disk, nil, 0o600), os.Truncate(disk, maxResults)); err != nil {
		return Result{}, nil, err
	}
	began := time.Now()
	c := &console{started: make(chan struct{}), tell: func(line string) {
		t.Logf("%6.1f s  %s", time.Since(began).Seconds(), line)
	}}
	if err := e.run(t.Context(), c, within, dir, disk); err != nil {
		return Result{}, c.text, err
	}
	c.tell("powered off")
	r, err := readResults(disk)
	return r, c.text, err
}

func (e emulator) run(ctx context.Context, c *console, within time.Duration, dir, disk string) error {
	// The kernel kills the emulator with this thread, and so with this process, however that ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-c.started:
		case <-time.After(bootWithin):
			cancel(fmt.Errorf("it had not booted after %v", bootWithin))
		case <-ctx.Done():
		}
		select {
		case <-time.After(within):
			cancel(fmt.Errorf("stopped after %v, %w", within, errLimit))
		case <-ctx.Done():
		}
	})
	command := exec.CommandContext(ctx, e.program, e.args(disk)...)
	command.Env = append(os.Environ(), "TMPDIR="+dir) // for what the guest changes on its root file system
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = c, &stderr
	err := command.Run()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", e.program, err, tail(stderr.Bytes()))
	}
	return nil
}

// A guest writes lines with this prefix to its console for whoever watches the test, and this one when the test starts.
const prefix, StartLine = "vm: ", "vm: started"

// console keeps the end of what a machine writes.
type console struct {
	tell    func(line string) // is told lines with the prefix
	started chan struct{}     // closed when the test starts

	text []byte
	line []byte // what has come of the current one
}

// maxConsole bounds what is kept of a console, and the length of a line.
const maxConsole = 64 << 10

func (c *console) Write(p []byte) (int, error) {
	c.text = append(c.text, p...)
	if len(c.text) > 2*maxConsole {
		c.text = append(c.text[:0], c.text[len(c.text)-maxConsole:]...)
	}
	c.line = append(c.line, p...)
	for {
		line, rest, whole := bytes.Cut(c.line, []byte("\n"))
		if !whole {
			break
		}
		c.take(strings.TrimSpace(string(line)))
		c.line = rest
	}
	if len(c.line) > maxConsole {
		c.line = nil
	}
	return len(p), nil
}

func (c *console) take(line string) {
	if !strings.HasPrefix(line, prefix) {
		return
	}
	c.tell(strings.TrimPrefix(line, prefix))
	if line == StartLine {
		select {
		case <-c.started: // a script can say so too
		default:
			close(c.started)
		}
	}
}
