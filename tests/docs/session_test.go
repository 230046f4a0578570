package docs_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// shellSession is a shell in which the blocks of a page are done one after the other, in a directory of its own, with the tests' own binaries.
type shellSession struct {
	dir         string
	here, there *strings.Replacer // the page's paths to the test's, and back
	exports     string
	stderr      string // of the last command
}

func newSession(t *testing.T) *shellSession {
	t.Helper()
	bin, dir := daemon.Binaries(t), daemon.Dir(t)
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("SANDBOXD_SOCKET", filepath.Join(dir, "none"))
	s := &shellSession{dir: dir}
	s.here = strings.NewReplacer(
		"go run ./", "go run -C "+repository+" ./", " bin/", " "+bin+"/", "(bin/", "("+bin+"/", " examples/mcp.json", " "+mcp(t), " examples/", " "+repository+"/examples/",
		"/tmp/", dir+"/",
	)
	s.there = strings.NewReplacer(dir+"/", "/tmp/")
	return s
}

// do does a block: runs the commands of a console, which must say what stands behind them; writes a policy under its name; and compares
// what has no language with what the last command said on standard error. Of what the page shows, … stands for any text.
func (s *shellSession) do(t *testing.T, f fenced) {
	t.Helper()
	name, named := strings.CutPrefix(f.text, "# ")
	name, _, _ = strings.Cut(name, "\n")
	switch {
	case f.lang == "console":
		for _, shown := range strings.Split("\n"+f.text, "\n$ ")[1:] {
			command, want, _ := strings.Cut(shown, "\n")
			s.run(t, command, strings.TrimSpace(want))
		}
	case f.lang == "yaml" && named && strings.HasSuffix(name, ".yaml"):
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sandboxctl(t, "", "policy", "check", path)
	case f.lang == "":
		s.same(t, "the last command, on standard error,", s.stderr, strings.TrimSpace(f.text))
	default:
		t.Errorf("%s: no test runs this block", f.name())
	}
}

func (s *shellSession) run(t *testing.T, command, want string) {
	t.Helper()
	command, _, _ = strings.Cut(command, "   # ")
	line := s.here.Replace(" " + command)
	switch {
	case strings.HasPrefix(command, "export "):
		s.exports += line + "\n"
		return
	case strings.HasPrefix(command, "make "):
		line = " make -n -C " + root + " " + strings.TrimPrefix(command, "make ") + " >/dev/null" // what it builds, the tests have
	case strings.HasSuffix(command, "&"):
		s.start(t, strings.TrimSuffix(line, "&"), want)
		return
	}
	shell := exec.Command("sh", "-c", s.exports+line)
	if !strings.HasPrefix(command, "make ") {
		shell.Dir = s.dir
	}
	var stderr strings.Builder
	shell.Stderr = &stderr
	out, err := shell.Output()
	s.stderr = strings.TrimSpace(s.there.Replace(stderr.String()))
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, s.stderr)
	}
	if want != "" {
		s.same(t, command, strings.TrimSpace(s.there.Replace(string(out))), want)
	}
}

// same compares what was said with what the page shows.
func (s *shellSession) same(t *testing.T, what, got, want string) {
	t.Helper()
	like := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
	if !regexp.MustCompile("^(?:" + like + ")$").MatchString(withoutPrivate(got)) {
		t.Errorf("%s says another thing than the page (-page +%s):\n%s", what, what, cmp.Diff(want, got))
	}
}

// withoutPrivate leaves out that a private daemon was started: the line names the machine's own layers.
func withoutPrivate(text string) string {
	return regexp.MustCompile(`(?m)^(?:to try|no daemon at) .*\n`).ReplaceAllString(text, "")
}

// start starts a command in the background, until the test ends, and waits for what it says, and for its socket.
func (s *shellSession) start(t *testing.T, line, want string) {
	t.Helper()
	var mu sync.Mutex // guards said
	var said bytes.Buffer
	command := exec.Command("sh", "-c", s.exports+"exec "+line)
	command.Dir = s.dir
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run has a child
	output := writer(func(text []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(text)
	})
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); command.Wait() }()
	t.Cleanup(func() {
		syscall.Kill(-command.Process.Pid, syscall.SIGTERM) // an error means that it has ended
		select {
		case <-ended:
		case <-time.After(40 * time.Second):
			t.Errorf("%s does not end", line)
			syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
			<-ended
		}
	})
	sockets := regexp.MustCompile(`--(?:listen|admin) (?:unix://)?(/\S+)`).FindAllStringSubmatch(line, -1)
	daemon.Eventually(t, time.Minute, func() error {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range sockets {
			conn, err := net.Dial("unix", m[1]) // its file is there before it is listened at
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", line, err, &said)
			}
			conn.Close()
		}
		if want != "" && !strings.Contains(s.there.Replace(said.String()), want) {
			return fmt.Errorf("%s says %s, and the page %s", line, &said, want)
		}
		return nil
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// inSession does a block in a session of its own.
func inSession(t *testing.T, f fenced) { newSession(t).do(t, f) }
