package upstream

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

const (
	maxStderrLine = 4 << 10 // bytes; longer lines are split
	lastLines     = 5       // kept for an error that says why a server does not start
)

// stderrTail hands a server's stderr on line by line, and keeps the last lines.
type stderrTail struct {
	// set by newStderrTail, then read-only
	name string
	out  io.Writer

	mu      sync.Mutex // guards the fields below
	partial []byte
	last    []string
}

func newStderrTail(name string, out io.Writer) *stderrTail { return &stderrTail{name: name, out: out} }

// Write never fails: a server must not die because nobody can be told what it says.
func (t *stderrTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := p
	for len(rest) > 0 {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		n = min(n, maxStderrLine-len(t.partial))
		t.partial = append(t.partial, rest[:n]...)
		rest = rest[n:]
		if t.partial[len(t.partial)-1] == '\n' || len(t.partial) == maxStderrLine {
			t.flush()
		}
	}
	return len(p), nil
}

func (t *stderrTail) flush() {
	line := strings.TrimRight(string(t.partial), "\r\n")
	t.partial = t.partial[:0]
	fmt.Fprintf(t.out, "[%s] %s\n", t.name, line)
	if strings.TrimSpace(line) == "" {
		return
	}
	t.last = append(t.last, line)
	if len(t.last) > lastLines {
		t.last = t.last[1:]
	}
}

// tail returns the last lines, without what could steer a terminal.
func (t *stderrTail) tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.last
	if len(t.partial) > 0 {
		lines = append(lines[:len(lines):len(lines)], string(t.partial))
	}
	var b strings.Builder
	for _, line := range lines {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, line)
		fmt.Fprintf(&b, "\n  %.300s", line)
	}
	return b.String()
}

// sharedWriter lets the servers write whole lines by turns. Without a writer it drops them.
type sharedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (s *sharedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return len(p), nil
	}
	return s.w.Write(p)
}
