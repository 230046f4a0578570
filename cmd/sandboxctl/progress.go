package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sandboxd/sandboxd"
)

// progress is one line on a terminal that tells what takes long. Elsewhere it is silent.
type progress struct {
	out *os.File // nil: not a terminal

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	shown bool
}

func newProgress(out *os.File) *progress {
	if !term.IsTerminal(int(out.Fd())) {
		out = nil
	}
	return &progress{out: out}
}

// patience is how long nothing is said.
const patience = time.Second

// say shows a text, if it is still true after a second.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = time.AfterFunc(patience, func() { p.show(text) })
}

// run shows how a run goes on: the daemon tells after each second.
func (p *progress) run(r sandboxd.Progress) {
	p.show(fmt.Sprintf("%.0f s, %d of %d calls done, %s", r.ElapsedMS/1000, r.Finished, r.Calls, visible(r.Doing)))
}

func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || p.timer == nil {
		return
	}
	p.shown = true
	fmt.Fprintf(p.out, "\r\x1b[K… %s", text)
}

// clear removes the line, and ends the progress.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
