//go:build sandboxd_test262

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// What became of a test.
const (
	passed  = "pass"
	failed  = "fail"
	leftOut = "left out"
)

// result is what became of one test.
type result struct {
	Path     string   `json:"path"`
	State    string   `json:"state"`
	Why      string   `json:"why,omitempty"`
	Features []string `json:"features,omitempty"`
	Last     bool     `json:"last,omitempty"` // the process that ran it can run no other
}

// server runs tests in this process, each in a realm of its own. A test can end the process; the parent sees to that.
type server struct {
	dir     string
	open    func(most time.Duration, abandon func(why string)) (realm, error)
	most    time.Duration      // of one script
	harness map[string]*script // by name, those that all realms share

	mu   sync.Mutex // held by who answers, for good if that ends the process
	test result     // the one that runs
	out  *json.Encoder
}

// stuckAfter is how many times that the whole test may take: the realm has not noticed.
const stuckAfter = 12

// serve answers the paths that come on stdin, one a line, with a result each.
func serve(dir, arm string, most time.Duration) {
	s := &server{dir: dir, open: arms[arm], most: most, harness: map[string]*script{}, out: json.NewEncoder(os.Stdout)}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		s.mu.Lock()
		s.test = result{Path: lines.Text()}
		s.mu.Unlock()
		stuck := time.AfterFunc(stuckAfter*most, func() { s.abandon("does not end") })
		state, why, features := s.run(lines.Text())
		stuck.Stop()
		s.mu.Lock()
		s.test.State, s.test.Why, s.test.Features = state, why, features
		s.out.Encode(s.test)
		s.mu.Unlock()
	}
}

// abandon answers for a test that does not give way, and ends the process.
func (s *server) abandon(why string) {
	s.mu.Lock()
	s.test.State, s.test.Why, s.test.Last = failed, why, true
	s.out.Encode(s.test)
	os.Exit(0)
}

func (s *server) run(path string) (state, why string, features []string) {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil {
		return failed, err.Error(), nil
	}
	m, err := readMeta(string(text))
	if err != nil {
		return failed, err.Error(), nil
	}
	s.mu.Lock()
	s.test.Features = m.Features
	s.mu.Unlock()
	if why := m.leftOut(); why != "" {
		return leftOut, why, m.Features
	}
	for _, mode := range m.modes() {
		if state, why = s.runMode(&m, mode+string(text)); state != passed {
			if mode != "" {
				why = "in strict mode: " + why
			}
			break
		}
	}
	return state, why, m.Features
}

// runMode runs a test in a fresh realm.
func (s *server) runMode(m *meta, text string) (state, why string) {
	defer func() {
		if x := recover(); x != nil {
			state, why = failed, fmt.Sprintf("panic: %v", x)
		}
	}()
	r, err := s.open(s.most, s.abandon)
	if err != nil {
		return failed, err.Error()
	}
	h := &host{realm: r}
	h.define()
	for _, name := range m.includes() {
		if err := s.include(r, name); err != nil {
			return failed, "harness/" + name + ": " + err.Error()
		}
	}
	test, err := r.compile(text)
	if err == nil {
		_, err = r.run(test, false)
	}
	if h.asked != "" {
		return leftOut, h.asked
	}
	if m.Negative.Type != "" {
		return m.judge(err)
	}
	if err == nil && m.has("async") {
		err = h.wait()
	}
	if err != nil {
		return failed, err.Error()
	}
	return passed, ""
}

// include runs a file of the harness, which is compiled once if that will do.
func (s *server) include(r realm, name string) error {
	compiled, ok := s.harness[name]
	if !ok {
		text, err := os.ReadFile(filepath.Join(s.dir, "harness", filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if compiled, err = r.compile(string(text)); err != nil {
			return err
		}
		if compiled.shared {
			s.harness[name] = compiled
		}
	}
	_, err := r.run(compiled, false)
	return err
}

// judge says whether a negative test failed as it should.
func (m *meta) judge(err error) (state, why string) {
	var early *earlyError
	isEarly := errors.As(err, &early)
	var thrown *goja.Exception
	class := ""
	switch {
	case err == nil:
		return failed, "no " + m.Negative.Type
	case isEarly:
		class = early.class
	case errors.As(err, &thrown):
		class = constructor(thrown.Value())
	}
	if class != m.Negative.Type {
		return failed, fmt.Sprintf("no %s but %v", m.Negative.Type, err)
	}
	if isEarly != (m.Negative.Phase == "parse") {
		return failed, fmt.Sprintf("%v comes in another phase than %s", err, m.Negative.Phase)
	}
	return passed, ""
}

// constructor is the name of what made an error.
func constructor(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		if c, ok := o.Get("constructor").(*goja.Object); ok {
			return c.Get("name").String()
		}
	}
	return ""
}

// wait lets an asynchronous test come to its end, which it prints.
func (h *host) wait() error {
	for {
		for _, line := range h.printed {
			if line == "Test262:AsyncTestComplete" {
				return nil
			}
			if why, ok := strings.CutPrefix(line, "Test262:AsyncTestFailure:"); ok {
				return errors.New(why)
			}
		}
		if ok, err := h.realm.turn(); err != nil {
			return err
		} else if !ok {
			return errors.New("the test never says that it is complete")
		}
	}
}
