//go:build sandboxd_test262

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// runAll runs tests in as many processes as there are workers, and calls done with each result, one at a time.
func (o *options) runAll(arm string, paths []string, done func(result)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	queue := make(chan string)
	go func() {
		defer close(queue)
		for _, path := range paths {
			queue <- path
		}
	}()
	var mu sync.Mutex // held by who calls done or sets failure
	var failure error
	var all sync.WaitGroup
	for range o.workers {
		all.Go(func() {
			w := worker{
				command: []string{self, "-dir", o.dir, "-time", o.time.String(), "-serve", arm},
				silence: 3 * stuckAfter * o.time,
			}
			defer w.stop()
			for path := range queue {
				r, err := w.run(path)
				mu.Lock()
				if err != nil {
					failure = err
				} else {
					done(r)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failure
}

// worker is a place for a process that runs tests. One that a test ended is replaced.
type worker struct {
	command []string
	silence time.Duration // that it is killed for: it ends its tests itself, this is for one that can't

	process *exec.Cmd // nil: there is none
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  bytes.Buffer
}

// run gives one test to the process. A test that ended it has failed; only a process that can't start is an error.
func (w *worker) run(path string) (result, error) {
	if w.process == nil {
		if err := w.start(); err != nil {
			return result{}, err
		}
	}
	process := w.process.Process
	silent := time.AfterFunc(w.silence, func() { process.Kill() })
	defer silent.Stop()
	fmt.Fprintln(w.in, path)
	line, err := w.out.ReadBytes('\n')
	var r result
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		w.stop()
		return result{Path: path, State: failed, Why: w.death()}, nil
	}
	if r.Last {
		w.stop()
	}
	r.Last = false
	return r, nil
}

func (w *worker) start() (err error) {
	process := exec.Command(w.command[0], w.command[1:]...)
	process.Env = append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=none")
	w.stderr.Reset()
	process.Stderr = &w.stderr
	if w.in, err = process.StdinPipe(); err != nil {
		return err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	w.process, w.out = process, bufio.NewReader(out)
	return nil
}

func (w *worker) stop() {
	if w.process != nil {
		w.in.Close()
		w.process.Wait()
		w.process = nil
	}
}

// death says what the process died of.
func (w *worker) death() string {
	text := w.stderr.String()
	if strings.Contains(text, "stack exceeds") {
		return "died: Go's stack overflows"
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return "died: " + first
}
