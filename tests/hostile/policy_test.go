package hostile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestReloadStorm has the daemon told every few milliseconds to read a policy that somebody writes anew all the time, in two halves, while
// programs run. Each run has one of the whole ones from its beginning to its end, and none of them has what neither allows.
func TestReloadStorm(t *testing.T) {
	t.Parallel()
	const first, second = `version: 1
unknown: allow
deny: ["s.never"]
rules:
  - {name: switch, tools: ["s.switch"], action: allow}
`, `version: 1
unknown: allow
deny: ["s.never"]
rules:
  - {name: switch, tools: ["s.switch"], action: deny}
`
	path := filepath.Join(daemon.Dir(t), "policy.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write(first)
	s := newStage(t, "policy: "+path+"\nruns: {per_caller: 200, queue: 200, queue_wait: 1m}\n", "-")
	var storm sync.WaitGroup
	stop := make(chan struct{})
	every := func(d time.Duration, do func()) {
		storm.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(d):
					do()
				}
			}
		})
	}
	every(5*time.Millisecond, func() { s.Signal(t, syscall.SIGHUP) })
	texts := [2]string{second, first}
	n := 0
	every(150*time.Millisecond, func() {
		text := texts[n%2]
		n++
		write(text[:len(text)-20]) // in the middle of a rule
		time.Sleep(2 * time.Millisecond)
		write(text)
	})
	g := recorded(t, s.Daemon)
	var made, refused atomic.Int64
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			for range 50 {
				r, err := g.Execute(context.Background(), sandboxd.Program{Source: `
const by = async f => { try { await f({}); return 'made' } catch (e) { return e.rule } }
const before = await by(tools.s.switch)
await tools.s.always({})
return [before, await by(tools.s.switch), await by(tools.s.never)]`})
				switch {
				case err != nil:
					t.Error(err)
				case string(r.Value) == `["made","made","deny"]`:
					made.Add(1)
				case string(r.Value) == `["switch","switch","deny"]`:
					refused.Add(1)
				default:
					t.Errorf("a run ended as %s", sprint(r))
				}
			}
		})
	}
	runs.Wait()
	close(stop)
	storm.Wait()
	for _, c := range g.seen() {
		if c.Tool == "never" {
			t.Error("what both policies deny was sent")
		}
	}
	if made.Load()+refused.Load() != 200 || strings.Count(s.Log(), "msg=policy file=") < 2 {
		t.Errorf("%d and %d runs; the policy was read %d times", made.Load(), refused.Load(), strings.Count(s.Log(), "msg=policy file="))
	}
	t.Logf("%d runs had the one, %d the other; it was read %d times, and refused %d times", made.Load(), refused.Load(),
		strings.Count(s.Log(), "msg=policy file="), strings.Count(s.Log(), "not reloaded"))
	g.Close()
	for before := -1; before != reloads(s); time.Sleep(500 * time.Millisecond) { // the last one goes on, as does one that came meanwhile
		before = reloads(s)
	}
	s.finish(t)
}

// reloads counts how often a policy was read, taken into force or not.
func reloads(s *stage) int {
	return strings.Count(s.Log(), "msg=policy file=") + strings.Count(s.Log(), "not reloaded")
}

// TestQuotasAreOfCallers makes more calls than a caller may make in a minute, over several connections and runs. Whatever is refused in
// between, no more than that are sent.
func TestQuotasAreOfCallers(t *testing.T) {
	t.Parallel()
	const most = 12
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 2}\npolicy: " +
		daemon.Policy(t, fmt.Sprintf("unknown: allow\nlimits: {per_caller: {mutations_per_minute: %d}}\n", most)) + "\n"})
	began := time.Now()
	var all sync.WaitGroup
	gateways := make([]*recorder, 4)
	for i := range gateways {
		gateways[i] = recorded(t, d)
		all.Go(func() {
			for range 3 {
				r, err := gateways[i].Execute(context.Background(), sandboxd.Program{Source: storm})
				if err != nil || r.Outcome != sandboxd.OutcomeOK {
					t.Errorf("%s, %v", sprint(r), err)
				}
			}
		})
	}
	all.Wait()
	sent := 0
	for _, g := range gateways {
		sent += len(g.seen())
	}
	if again := int(time.Since(began).Minutes()*most) + 1; sent < most || sent > most+again {
		t.Errorf("%d calls were sent, of %d a minute and %d more meanwhile", sent, most, again)
	}
}

// TestDeniedStorm has programs that ask and ask for what is refused. They are ended, and none of it is sent.
func TestDeniedStorm(t *testing.T) {
	t.Parallel()
	s := newStage(t, "policy: "+daemon.Policy(t, "unknown: allow\ndeny: ['s.never']\nlimits: {denied_per_run: 3}\n")+
		"\nruns: {per_caller: 200, queue: 200, queue_wait: 1m}\n", "-")
	for _, a := range []struct{ name, source string }{
		{"one after the other", `for (;;) try { await tools.s.never({}) } catch {}`},
		{"at once", `await Promise.allSettled(Array.from({length: 32}, () => tools.s.never({}))); for (;;) await null`},
		{"by all its names", `for (const n of ['never', 'NEVER', 'never ', 'ne\u0000ver', 'nev\u200ber', '__proto__', 'never', 'never', 'never']) try { await tools.s[n]({}) } catch {} ; return 1`},
		{"among others", `for (let i = 0; i < 16; i++) try { await tools.s.echo({i}); await tools.s.never({}) } catch {} ; return 1`},
	} {
		s.attack(t, a.name, func(t *testing.T) {
			g := recorded(t, s.Daemon)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					r, err := g.Execute(context.Background(), sandboxd.Program{Source: a.source})
					if err != nil || r.Outcome != sandboxd.OutcomeDenied || !strings.Contains(r.Error.Message, "more than 3 tool calls were refused") {
						t.Errorf("a run ended as %s, %v", sprint(r), err)
					}
				})
			}
			all.Wait()
			for _, c := range g.seen() {
				if c.Tool != "echo" && c.Tool != "NEVER" && c.Tool != "never " {
					t.Errorf("sent: %q", c.Tool)
				}
			}
		})
	}
	s.finish(t)
}
