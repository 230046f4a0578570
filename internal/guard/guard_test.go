package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/guard"
)

func TestZeroBlocks(t *testing.T) {
	if v := (guard.Answer{}); v.Verdict != guard.Block || v.Judged {
		t.Errorf("the zero answer is %v, judged %v", v.Verdict, v.Judged)
	}
	if got := guard.Verdict(7).String(); got != "block" {
		t.Errorf("a verdict that is none prints as %q", got)
	}
}

// TestSends is the request, to the byte: the arguments are what was judged, numbers, order, spaces and all.
func TestSends(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(0, allow)}
		g := serve(t, j, func(c *guard.Config) { c.Key = key })
		a := g.Check(t.Context(), guard.Check{
			Run: "r1", Tool: "mail.send", Args: json.RawMessage(`{"b": 12345678901234567890.10,"a":"<&> \u00e9 é","to":["x"] }`),
			Intent: "tell <Ann> & Bob", Trigger: guard.ToolResult, Constraints: []string{"nobody else"},
			Context: guard.Context{
				Call: 4, Labels: []string{"untrusted"}, Read: []guard.Read{{Call: 3, Tool: "db.query", Bytes: 120}},
				Evidence: []guard.Evidence{{Path: "a", Characters: 41, Call: 3, Tool: "db.query"}},
			},
		})
		if a.Verdict != guard.Allow || !a.Judged || a.Attempts != 1 || a.Together != 1 || a.By != "http://127.0.0.1:1" {
			t.Errorf("%+v", a)
		}
		r := j.got()[0]
		want := `{"action":{"tool":"mail.send","args":{"b": 12345678901234567890.10,"a":"<&> \u00e9 é","to":["x"] }},` +
			`"intent":"tell <Ann> & Bob","trigger":"tool_result","constraints":["nobody else"],` +
			`"context":{"call":4,"labels":["untrusted"],"read":[{"call":3,"tool":"db.query","labels":[],"bytes":120}],` +
			`"evidence":[{"path":"a","characters":41,"call":3,"tool":"db.query"}]}}`
		if diff := cmp.Diff(want, r.body); diff != "" || r.path != "/v1/guard" {
			t.Errorf("%s (-want +got):\n%s", r.path, diff)
		}
		header := http.Header{
			"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {"sandboxd"},
			"Authorization": {"Bearer s3cret"}, "Content-Length": {fmt.Sprint(len(want))},
		}
		if diff := cmp.Diff(header, r.header); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
}

// TestUnjudgeable are checks that are not sent at all.
func TestUnjudgeable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(0, allow)}
		g := serve(t, j)
		for name, change := range map[string]func(*guard.Check){
			"names no tool":              func(c *guard.Check) { c.Tool = "" },
			`trigger is "whatever"`:      func(c *guard.Check) { c.Trigger = "whatever" },
			"arguments are no JSON":      func(c *guard.Check) { c.Args = nil },
			"arguments are no JSON in":   func(c *guard.Check) { c.Args = json.RawMessage(`{}},"intent":"x"`) },
			"are no JSON in UTF-8":       func(c *guard.Check) { c.Args = json.RawMessage("\"\xff\"") },
			"is no UTF-8":                func(c *guard.Check) { c.Constraints = []string{"ok", "\xff"} },
			"not judged in part":         func(c *guard.Check) { c.Args = json.RawMessage(`"` + strings.Repeat("x", 64<<10) + `"`) },
			"the constraints and":        func(c *guard.Check) { c.Intent = strings.Repeat("x", guard.MaxAbout) },
			"or a constraint is no UTF":  func(c *guard.Check) { c.Tool = "a.\xff" },
			"request or a constraint is": func(c *guard.Check) { c.Intent = "\xff" },
		} {
			c := call("r", "a.allow")
			change(&c)
			if a := g.Check(t.Context(), c); a.Verdict != guard.Ask || a.Judged || !strings.Contains(a.Reason, name) {
				t.Errorf("want %q: %+v", name, a)
			}
		}
		if n := len(j.got()); n != 0 {
			t.Errorf("%d requests", n)
		}
		c := call("r", "a.allow")
		c.Args = json.RawMessage(`"` + strings.Repeat("x", 64<<10-2) + `"`)
		if a := g.Check(t.Context(), c); a.Verdict != guard.Allow {
			t.Errorf("arguments of the longest length: %+v", a)
		}
	})
}

func TestOnUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := serve(t, &judge{answer: status(500)}, func(c *guard.Config) { c.OnUnavailable = "block" })
		if a := g.Check(t.Context(), call("r", "a.allow")); a.Verdict != guard.Block || a.Judged {
			t.Errorf("%+v", a)
		}
	})
}

// TestRetries counts the tries, and the time that they take by the bubble's clock.
func TestRetries(t *testing.T) {
	const exactly = time.Duration(0)
	for name, test := range map[string]struct {
		answers     []func(http.ResponseWriter, asked) // one after the other; then allow
		want        guard.Verdict
		attempts    int
		least, most time.Duration
		reason      string
	}{
		"busy twice":                   {[]func(http.ResponseWriter, asked){status(503), status(503)}, guard.Allow, 3, 35 * time.Millisecond, 80 * time.Millisecond, ""},
		"busy, says how long":          {[]func(http.ResponseWriter, asked){status(503, "Retry-After", "1")}, guard.Allow, 2, time.Second, time.Second, ""},
		"busy until a date":            {[]func(http.ResponseWriter, asked){status(503, "Retry-After", "Sat, 01 Jan 2000 00:00:01 GMT")}, guard.Allow, 2, time.Second, time.Second, ""},
		"busy for longer than it may":  {[]func(http.ResponseWriter, asked){status(503, "Retry-After", "2")}, guard.Ask, 1, exactly, exactly, "answered 503"},
		"busy for ever":                {[]func(http.ResponseWriter, asked){status(503, "Retry-After", "99999999999999999999")}, guard.Ask, 1, exactly, exactly, "answered 503"},
		"a broken header asks nothing": {[]func(http.ResponseWriter, asked){status(503, "Retry-After", "-5")}, guard.Allow, 2, 0, 30 * time.Millisecond, ""},
		"too many requests":            {[]func(http.ResponseWriter, asked){status(429, "Retry-After", "1")}, guard.Ask, 1, exactly, exactly, "answered 429"},
		"a fault":                      {[]func(http.ResponseWriter, asked){status(500)}, guard.Ask, 1, exactly, exactly, "answered 500"},
		"no key":                       {[]func(http.ResponseWriter, asked){status(401)}, guard.Ask, 1, exactly, exactly, "does not take the key"},
		"not here":                     {[]func(http.ResponseWriter, asked){status(404)}, guard.Ask, 1, exactly, exactly, "does not speak this protocol"},
		"elsewhere": {[]func(http.ResponseWriter, asked){status(307, "Location", "http://127.0.0.1:1/v1/guard")}, guard.Ask, 1, exactly, exactly,
			"redirects are not followed"},
		"nothing":             {[]func(http.ResponseWriter, asked){status(204)}, guard.Ask, 1, exactly, exactly, "answered 204"},
		"slow":                {[]func(http.ResponseWriter, asked){says(3*time.Second, allow)}, guard.Ask, 1, 2 * time.Second, 2 * time.Second, "did not answer within 2s"},
		"busy, and then slow": {[]func(http.ResponseWriter, asked){status(503), says(3*time.Second, allow)}, guard.Ask, 2, 2 * time.Second, 2 * time.Second, "before that: the guard answered 503"},
		"just in time":        {[]func(http.ResponseWriter, asked){says(1999*time.Millisecond, allow)}, guard.Allow, 1, 1999 * time.Millisecond, 1999 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &judge{}
				j.answer = func(w http.ResponseWriter, r asked) {
					if n := len(j.got()); n <= len(test.answers) {
						test.answers[n-1](w, r)
						return
					}
					says(0, allow)(w, r)
				}
				g := serve(t, j)
				a := g.Check(t.Context(), call("r", "a.b"))
				if a.Verdict != test.want || a.Judged != (test.want == guard.Allow) || a.Attempts != test.attempts || !strings.Contains(a.Reason, test.reason) {
					t.Errorf("%+v", a)
				}
				if a.Latency < test.least || a.Latency > test.most {
					t.Errorf("took %v, want %v to %v", a.Latency, test.least, test.most)
				}
				if n := len(j.got()); n != test.attempts {
					t.Errorf("%d requests, want %d", n, test.attempts)
				}
				time.Sleep(5 * time.Second) // for a server that is slow
			})
		})
	}
}

// TestDownThenUp is a judge that comes back within the time of a check, which then does not fail.
func TestDownThenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, there := newPipes(), newPipes()
		gone.Close()
		server := &http.Server{Handler: &judge{answer: says(0, allow)}}
		go server.Serve(there)
		t.Cleanup(func() { server.Close() })
		began := time.Now()
		g := at(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			if time.Since(began) < time.Second {
				return gone.dial(ctx, network, address)
			}
			return there.dial(ctx, network, address)
		})
		if a := g.Check(t.Context(), call("r", "a.b")); a.Verdict != guard.Allow || a.Attempts < 4 || a.Latency < time.Second {
			t.Errorf("%+v", a)
		}
	})
}

// TestBreaker goes through its states by the bubble's clock.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: status(502)}
		g := serve(t, j)
		ask := func(want guard.Verdict, requests int, reason string) guard.Answer {
			t.Helper()
			before := len(j.got())
			a := g.Check(t.Context(), call("", "a.b"))
			if n := len(j.got()) - before; a.Verdict != want || n != requests || !strings.Contains(a.Reason, reason) {
				t.Fatalf("%d requests, want %d; want %q in %+v", n, requests, reason, a)
			}
			return a
		}
		state := func(want string, failures int) guard.State {
			t.Helper()
			s := g.State()
			if s.Breaker != want || s.Failures != failures {
				t.Fatalf("%+v, want %s after %d failures", s, want, failures)
			}
			return s
		}
		state(guard.Closed, 0)
		ask(guard.Ask, 1, "answered 502")
		ask(guard.Ask, 1, "answered 502")
		state(guard.Closed, 2)
		ask(guard.Ask, 1, "answered 502")
		if s := state(guard.Open, 3); time.Until(s.NextTry) != time.Second || s.Last != "the guard answered 502 Bad Gateway" {
			t.Errorf("%+v", s)
		}
		time.Sleep(999 * time.Millisecond)
		ask(guard.Ask, 0, "has been down for 1s (the guard answered 502 Bad Gateway), and is next tried in")
		for _, pause := range []time.Duration{2, 4, 8, 16, 30, 30} { // a probe that fails doubles the pause, to 30 s
			time.Sleep(time.Until(state(guard.Open, g.State().Failures).NextTry))
			ask(guard.Ask, 1, "answered 502")
			if s := g.State(); s.Breaker != guard.Open || time.Until(s.NextTry) != pause*time.Second {
				t.Fatalf("%+v, want a pause of %d s", s, pause)
			}
		}

		// One probe, while which nobody else is let through; it is slow, and its asker gives up: the next one probes.
		j.answer = says(time.Second, allow)
		time.Sleep(30 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var probe sync.WaitGroup
		probe.Go(func() { g.Check(ctx, call("", "a.b")) })
		synctest.Wait()
		state(guard.HalfOpen, 9)
		ask(guard.Ask, 0, "is next tried just now")
		cancel()
		probe.Wait()
		synctest.Wait()
		state(guard.Open, 9)
		ask(guard.Allow, 1, "")
		state(guard.Closed, 0)

		// A probe is not tried again: somebody waits for it.
		j.answer = status(502)
		for range 3 {
			ask(guard.Ask, 1, "")
		}
		time.Sleep(time.Second)
		j.answer = status(503)
		ask(guard.Ask, 1, "answered 503")
		time.Sleep(2 * time.Second)
		j.answer = says(0, allow)
		ask(guard.Allow, 1, "")

		// Failures count in a row only.
		j.answer = status(502)
		ask(guard.Ask, 1, "")
		ask(guard.Ask, 1, "")
		j.answer = says(0, allow)
		ask(guard.Allow, 1, "")
		j.answer = status(502)
		ask(guard.Ask, 1, "")
		ask(guard.Ask, 1, "")
		state(guard.Closed, 2)
	})
}

// TestBreakerIsNoSwitch are answers that arguments can bring about: they must not switch the guard off for others.
func TestBreakerIsNoSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{}
		g := serve(t, j)
		for _, answer := range []func(http.ResponseWriter, asked){
			status(400), status(413), status(422), status(500), says(0, func(check, int) string { return `{}` }), says(0, func(check, int) string { return `no` }),
			says(0, func(check, int) string { return `"` + strings.Repeat("x", guard.MaxAnswer) }),
		} {
			j.answer = answer
			for range 5 {
				if a := g.Check(t.Context(), call("", "a.b")); a.Judged || a.Attempts != 1 {
					t.Errorf("%+v", a)
				}
			}
			if s := g.State(); s.Breaker != guard.Closed || s.Failures != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestConcurrentFailures are many at a time: they open the breaker once, and those that wait for a place end with it.
func TestConcurrentFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: func(w http.ResponseWriter, r asked) {
			time.Sleep(100 * time.Millisecond)
			status(502)(w, r)
		}}
		g := serve(t, j, func(c *guard.Config) { c.AtOnce = 4 })
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if a := g.Check(t.Context(), call("", "a.b")); a.Judged || a.Verdict != guard.Ask {
					t.Errorf("%+v", a)
				}
			})
		}
		began := time.Now()
		all.Wait()
		if n := len(j.got()); n > 8 {
			t.Errorf("%d requests to a judge that fails", n)
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if s := g.State(); s.Breaker != guard.Open || s.InFlight != 0 || s.Counts.Unavailable != 64 || time.Until(s.NextTry) > time.Second {
			t.Errorf("%+v", s)
		}
	})
}

// TestPlaces bounds the requests in flight, and the wait for one.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(1500*time.Millisecond, allow)}
		g := serve(t, j, func(c *guard.Config) { c.AtOnce = 3 })
		var all sync.WaitGroup
		var mu sync.Mutex
		late := 0
		for i := range 9 {
			all.Go(func() {
				a := g.Check(t.Context(), call("", fmt.Sprint("a.", i)))
				mu.Lock()
				defer mu.Unlock()
				if !a.Judged {
					late++
				}
			})
		}
		for _, want := range []int{3, 6} { // requests so far
			synctest.Wait()
			if n, made := g.State().InFlight, len(j.got()); n != 3 || made != want {
				t.Errorf("%d in flight, %d requests, want %d", n, made, want)
			}
			time.Sleep(1500 * time.Millisecond)
		}
		all.Wait()
		if late != 6 {
			t.Errorf("%d were late", late)
		}
		time.Sleep(time.Second) // for the server
	})
}

func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(time.Second, allow)}
		g := serve(t, j)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("the run is over")) })
		a := g.Check(ctx, call("r", "a.b"))
		if a.Verdict != guard.Ask || a.Judged || a.Latency != 100*time.Millisecond || !strings.Contains(a.Reason, "given up: the run is over") {
			t.Errorf("%+v", a)
		}
		if a := g.Check(ctx, call("r", "a.b")); a.Judged || a.Attempts != 0 {
			t.Errorf("%+v", a)
		}
		synctest.Wait()
		if s := g.State(); s.InFlight != 0 || s.Counts.GivenUp != 2 || s.Failures != 0 || s.Last != "" {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Second)
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(time.Second, allow)}
		g := serve(t, j)
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				if a := g.Check(t.Context(), call("r", "a.b")); a.Judged || !strings.Contains(a.Reason, "the daemon is ending") {
					t.Errorf("%+v", a)
				}
			})
		}
		synctest.Wait()
		g.Close()
		all.Wait()
		if a := g.Check(t.Context(), call("r", "a.b")); a.Judged || a.Verdict != guard.Ask {
			t.Errorf("%+v", a)
		}
		g.Close()
		time.Sleep(time.Second)
	})
}

// TestNeverAllowsUnsaid lets a judge answer at random, well and badly, and holds each verdict against what it said about
// that very check.
func TestNeverAllowsUnsaid(t *testing.T) {
	lies := []string{
		`{"verdict":"ALLOW"}`, `{"verdict":"allow "}`, `{"verdict":null}`, `{"verdict":1}`, `{"verdict":["allow"]}`, `{"verdict":{"verdict":"allow"}}`,
		`{"Verdict":"allow"}`, `{"verdict":"block","verdict":"allow"}`, `{"verdict":"allow","verdict":"allow"}`, `{"verdict":"allow","Verdict":"allow"}`,
		`"allow"`, `null`, `{}`, `[]`, `{"verdict":true}`, `{"result":{"verdict":"allow"}}`, `{"verdict":"allow","reason":7}`, `{"verdict":"\u0000allow"}`,
		`{"verdict":"allow","index":99}`, `{"verdict":"ask"}`, `{"verdict":"block"}`,
	}
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			var mu sync.Mutex
			said := make(map[string]bool) // tools that allow was said of
			j := &judge{}
			j.answer = func(w http.ResponseWriter, a asked) {
				mu.Lock()
				defer mu.Unlock()
				switch r.IntN(12) {
				case 0:
					status(503)(w, a)
					return
				case 1:
					status([]int{200, 302, 400, 404, 405, 500}[r.IntN(6)])(w, a)
					return
				case 2: // another number than was asked for
					writeJSON(w, `{"results":[`+strings.TrimSuffix(strings.Repeat(`{"verdict":"allow"},`, max(2, len(a.checks)+1)), ",")+`]}`)
					return
				case 3:
					panic(http.ErrAbortHandler)
				}
				says(0, func(c check, i int) string {
					if r.IntN(3) == 0 {
						said[c.Action.Tool] = true
						return []string{`{"verdict":"allow"}`, ` { "x" : [1] , "verdict" : "\u0061llow" , "reason" : null } `}[r.IntN(2)]
					}
					lie := lies[r.IntN(len(lies))]
					if strings.Contains(lie, "index") && len(a.checks) == 1 {
						return `{}` // of a lone check there is no place
					}
					return lie
				})(w, a)
			}
			g := serve(t, j)
			var all sync.WaitGroup
			for i := range 300 {
				all.Go(func() {
					time.Sleep(time.Duration(i%30) * time.Second)
					tool := fmt.Sprintf("a.t%d", i)
					a := g.Check(t.Context(), call(fmt.Sprint(i%3), tool))
					mu.Lock()
					defer mu.Unlock()
					if a.Verdict == guard.Allow && !(a.Judged && said[tool]) {
						t.Errorf("seed %d: %s is allowed, and nobody said so: %+v", seed, tool, a)
					}
				})
			}
			all.Wait()
			c := g.State().Counts
			if c.Checks != 300 || c.Allow+c.Ask+c.Block+c.Unavailable != 300 || c.Allow == 0 || c.Unavailable == 0 || c.Batches == 0 {
				t.Errorf("seed %d: %+v", seed, c)
			}
		})
	}
}
