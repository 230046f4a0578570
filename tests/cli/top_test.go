package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// terminal is a program on a terminal of its own.
type terminal struct {
	*os.File
	command *exec.Cmd
	exited  chan struct{}

	mu    sync.Mutex // guards the field below
	shown display
}

// onTerminal starts a program on a new pseudo-terminal (pty(7)) of some size.
func onTerminal(t *testing.T, rows, columns uint16, name string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{File: master, command: exec.Command(name, args...), exited: make(chan struct{})}
	term.shown.size(int(rows), int(columns))
	term.command.Stdin, term.command.Stdout, term.command.Stderr = slave, slave, slave
	term.command.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=1")
	term.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.command.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	read := make(chan struct{})
	go func() { // until the last end of the slave is closed
		defer close(read)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			term.shown.write(buffer[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { defer close(term.exited); term.command.Wait() }()
	t.Cleanup(func() {
		term.command.Process.Kill() // an error means that it has ended
		<-term.exited
		<-read
		master.Close()
	})
	return term
}

// display is as much of a terminal (ECMA-48) as a screen takes that is drawn cell by cell.
type display struct {
	cells    [][]rune
	row, col int
	rest     []byte // of a sequence or a character that is not whole yet
	strange  string // what steers a terminal and is none of what a screen is drawn with
}

func (d *display) size(rows, columns int) {
	d.cells = make([][]rune, rows)
	for i := range d.cells {
		d.cells[i] = slices.Repeat([]rune{' '}, columns)
	}
	d.row, d.col = 0, 0
}

var (
	sequence = regexp.MustCompile(`^\x1b(?:\[([0-9;?<=> !-/]*)([@-~])|[()][0-9A-Z]|[=>78]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)
	unwhole  = regexp.MustCompile(`^\x1b(?:\[[0-9;?<=> !-/]*|[()]?|\][^\x07\x1b]*\x1b?)$`)
)

func (d *display) write(text []byte) {
	text = append(d.rest, text...)
	for d.rest = nil; len(text) > 0; {
		m := sequence.FindSubmatch(text)
		switch {
		case m != nil:
			text = text[len(m[0]):]
			d.steer(string(m[1]), string(m[2]))
			continue
		case unwhole.Match(text), !utf8.FullRune(text):
			d.rest = slices.Clone(text)
			return
		}
		c, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case c == '\r':
			d.col = 0
		case c == '\n':
			d.row = min(d.row+1, len(d.cells)-1)
		case !unicode.IsPrint(c):
			d.strange += fmt.Sprintf("%q before %.20q ", c, text)
		default:
			if d.col < len(d.cells[d.row]) {
				d.cells[d.row][d.col] = c
			}
			d.col++
		}
	}
}

func (d *display) steer(arguments, do string) {
	switch do {
	case "H":
		row, col := 1, 1
		fmt.Sscanf(arguments, "%d;%d", &row, &col)
		d.row, d.col = min(row, len(d.cells))-1, col-1
	case "J":
		d.size(len(d.cells), len(d.cells[0]))
	case "m":
		if regexp.MustCompile(`(^|;)[349][0-8](;|$)`).MatchString(arguments) {
			d.strange += "colour " + arguments + " " // NO_COLOR is set
		}
	case "", "h", "l", "t", "q", "n", "c", "u", "@": // modes, titles, cursors, questions and keys
	default:
		d.strange += fmt.Sprintf("%q ", arguments+do)
	}
}

// view is what the terminal shows.
func (term *terminal) view() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	var b strings.Builder
	for _, row := range term.shown.cells {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// resize changes the terminal's size.
func (term *terminal) resize(t *testing.T, rows, columns uint16) {
	t.Helper()
	term.mu.Lock()
	term.shown.size(int(rows), int(columns))
	term.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(term.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// shows waits until the terminal does.
func (term *terminal) shows(t *testing.T, text string) {
	t.Helper()
	daemon.Eventually(t, 20*time.Second, func() error {
		if view := term.view(); !strings.Contains(view, text) {
			return fmt.Errorf("it does not show %q:\n%s", text, view)
		}
		return nil
	})
}

func (term *terminal) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := term.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// TestTop watches a real daemon on a real terminal: a run, its calls, another size, and the daemon that ends and comes back.
func TestTop(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	admin := filepath.Join(daemon.Dir(t), "admin") // leads to the daemon of the moment
	if err := os.Symlink(d.Admin, admin); err != nil {
		t.Fatal(err)
	}
	c := d.Dial(t, sandboxd.Options{Name: "watched", Servers: []string{"none"}})
	r, err := c.Execute(t.Context(), sandboxd.Program{Source: `try { await tools.none["\u001b[31mred\u202e"]({}) } catch {}`})
	if err != nil {
		t.Fatal(err)
	}

	ctl := filepath.Join(daemon.Binaries(t), "sandboxctl")
	term := onTerminal(t, 24, 120, ctl, "top", "--socket", admin)
	term.shows(t, "default: 2 of 2 ready")
	term.types(t, "s")
	term.shows(t, "s sort: duration")
	term.types(t, "\r")
	term.shows(t, "of uid ")
	term.shows(t, `none.\u001b[31mred\u202e`)
	term.types(t, "\x1b")
	term.shows(t, "RUN ")
	term.resize(t, 10, 150)
	term.shows(t, r.Run) // anew

	if err := os.Remove(admin); err != nil {
		t.Fatal(err)
	}
	d.Signal(t, syscall.SIGTERM)
	term.shows(t, "the daemon does not answer, and is tried again: ")
	other := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\n"})
	if err := os.Symlink(other.Admin, admin); err != nil {
		t.Fatal(err)
	}
	term.shows(t, "1 of 1 ready")
	term.types(t, "q")
	select {
	case <-term.exited:
	case <-time.After(20 * time.Second):
		t.Fatal("q does not end it")
	}
	if code := term.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	if term.shown.strange != "" {
		t.Errorf("it wrote %s", term.shown.strange)
	}
}

// TestTopWantsATerminal: elsewhere it says what does without, and without a daemon what that is missing.
func TestTopWantsATerminal(t *testing.T) {
	ctl := filepath.Join(daemon.Binaries(t), "sandboxctl")
	out, err := exec.Command(ctl, "top").CombinedOutput()
	if want := "sandboxctl: error: top wants a terminal"; err == nil || !strings.HasPrefix(string(out), want) || !strings.Contains(string(out), "hint: sandboxctl status --json") {
		t.Errorf("%v: %s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{ctl, "top", "--socket", filepath.Join(t.TempDir(), "none")}, "hint: sudo systemctl enable sandboxd-admin.socket"},
		{[]string{"env", "TERM=nonesuch", ctl, "top", "--socket", daemon.Start(t, daemon.Options{}).Admin}, "hint: set TERM to what the terminal is"},
	} {
		term := onTerminal(t, 24, 80, c.args[0], c.args[1:]...)
		term.shows(t, c.want)
		<-term.exited
		if code := term.command.ProcessState.ExitCode(); code != 1 {
			t.Errorf("%v ends with %d", c.args, code)
		}
	}
}

// TestColours: a terminal gets them, unless NO_COLOR is set.
func TestColours(t *testing.T) {
	d := daemon.Start(t, daemon.Options{})
	if _, err := d.Dial(t, sandboxd.Options{}).Execute(t.Context(), sandboxd.Program{Source: "return 1"}); err != nil {
		t.Fatal(err)
	}
	ctl := filepath.Join(daemon.Binaries(t), "sandboxctl")
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{[]string{"-u", "NO_COLOR"}, true}, {[]string{"NO_COLOR="}, true}, {[]string{"NO_COLOR=1"}, false}, {[]string{"-u", "NO_COLOR", "TERM=dumb"}, false},
	} {
		term := onTerminal(t, 24, 160, "env", append(c.env, ctl, "runs", "--socket", d.Admin)...)
		term.shows(t, "default, test")
		<-term.exited
		term.mu.Lock()
		if got := strings.Contains(term.shown.strange, "colour 32"); got != c.want || !c.want && term.shown.strange != "" {
			t.Errorf("%v: %q", c.env, term.shown.strange)
		}
		term.mu.Unlock()
	}
}
