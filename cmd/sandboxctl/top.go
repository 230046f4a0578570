package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandboxd/sandboxd"
)

func topCommand() *cobra.Command {
	socket := ""
	c := verb("top", "Watch the daemon live: its workers, queue, runs, calls and what decides on them", 0, 0, func(c *cobra.Command, _ []string) error {
		return top(c.Context(), socket)
	})
	c.Long = `Watch the daemon live, on a terminal: workers, queue, runs with their age and calls, rates, guard, approvals and audit log, every second.

Keys: up and down choose a run, Enter shows its calls, Esc goes back; s sorts by another column, p pauses, q ends.

Exit codes:
  0  ended by q or a signal
  1  no daemon, or no terminal: sandboxctl status and sandboxctl runs print the same once, with --json for programs
  2  the command line is wrong`
	adminSocketFlag(c.Flags().StringVar, &socket)
	return c
}

// top shows the model until somebody ends it. What is wrong before there is a screen is told like any error.
func top(ctx context.Context, socket string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return hinted{errors.New("top wants a terminal, at standard input and output"), "sandboxctl status --json, and sandboxctl runs --json, print the same once"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &topPoll{socket: socket, poke: make(chan struct{}, 1), seen: make(chan topSnapshot)}
	a, err := dialAdmin(ctx, socket)
	if err != nil {
		return err
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		a.close()
		return hinted{fmt.Errorf("top: terminal %q: %w", os.Getenv("TERM"), err), "set TERM to what the terminal is, such as xterm; sandboxctl status needs none"}
	}
	defer screen.Fini()
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		p.run(ctx, a)
	}()
	defer func() { cancel(); <-polled }()
	events, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(events, quit)
	defer func() {
		close(quit)
		for range events { // it closes them when it ends
		}
	}()
	m := topModel{colours: bool(tints(os.Stdout)), wanted: p.want}
	for {
		m.draw(screen)
		select {
		case <-ctx.Done():
			return nil
		case s := <-p.seen:
			m.take(s)
		case e, open := <-events:
			switch e := e.(type) {
			case *tcell.EventKey:
				if m.key(e) {
					return nil
				}
			case *tcell.EventResize:
				screen.Sync()
			}
			if !open {
				return errors.New("top: the terminal is gone")
			}
		}
	}
}

// topSnapshot is what the daemon answered at a time, or why it did not.
type topSnapshot struct {
	at     time.Time
	status sandboxd.StatusResult
	runs   sandboxd.RunList
	report *sandboxd.RunReport // of the run that is wanted
	gone   error               // why there is no report
	err    error
}

// topPoll asks the daemon for what is shown.
type topPoll struct {
	socket string
	seen   chan topSnapshot
	wanted atomic.Pointer[string] // whose report is wanted
	poke   chan struct{}          // it is another
}

const (
	topEvery = time.Second
	topWait  = 5 * time.Second // for an answer
	topRuns  = 200             // are enough for any screen
)

// want asks for the report of a run from now on; empty: of none.
func (p *topPoll) want(run string) {
	p.wanted.Store(&run)
	select {
	case p.poke <- struct{}{}:
	default: // it knows
	}
}

// run asks each second until ctx ends, and connects anew where the daemon was gone. The connection is closed then.
func (p *topPoll) run(ctx context.Context, a *admin) {
	defer func() {
		if a != nil {
			a.close()
		}
	}()
	for ctx.Err() == nil {
		s := topSnapshot{}
		if a == nil {
			a, s.err = dialAdmin(ctx, p.socket)
		}
		if s.err == nil {
			s = p.ask(ctx, a)
		}
		if s.err != nil && a != nil {
			a.close()
			a = nil
		}
		s.at = time.Now()
		select {
		case p.seen <- s:
		case <-ctx.Done():
		}
		select {
		case <-time.After(topEvery):
		case <-p.poke:
		case <-ctx.Done():
		}
	}
}

func (p *topPoll) ask(ctx context.Context, a *admin) (s topSnapshot) {
	ctx, cancel := context.WithTimeout(ctx, topWait)
	defer cancel()
	if s.err = a.ask(ctx, "status", struct{}{}, &s.status); s.err != nil {
		return s
	}
	if s.err = a.ask(ctx, "runs/list", sandboxd.RunsParams{Limit: topRuns}, &s.runs); s.err != nil {
		return s
	}
	if id := p.wanted.Load(); id != nil && *id != "" {
		s.report = &sandboxd.RunReport{}
		if s.gone = a.ask(ctx, "runs/show", sandboxd.ShowRunParams{Run: *id}, s.report); s.gone != nil {
			s.report = nil
		}
	}
	return s
}
