package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// gather makes checks at once, and returns their answers in order.
func gather(ctx context.Context, g *guard.Guard, checks ...guard.Check) []guard.Answer {
	answers := make([]guard.Answer, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { answers[i] = g.Check(ctx, c) })
	}
	all.Wait()
	return answers
}

func calls(run string, tools ...string) (checks []guard.Check) {
	for _, tool := range tools {
		checks = append(checks, call(run, tool))
	}
	return checks
}

func verdicts(answers []guard.Answer) (words []string) {
	for _, a := range answers {
		word := a.Verdict.String()
		if !a.Judged {
			word = "unavailable"
		}
		words = append(words, word)
	}
	return words
}

// TestTwoRoundTrips is the figure that batches are for: 32 parallel calls and a judge that takes 15 ms.
func TestTwoRoundTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(15*time.Millisecond, allow)}
		g := serve(t, j)
		began := time.Now()
		for _, a := range gather(t.Context(), g, slices.Repeat(calls("r", "a.b"), 32)...) {
			if a.Verdict != guard.Allow || a.Together != 1 && a.Together != 31 {
				t.Errorf("%+v", a)
			}
		}
		if took := time.Since(began); took > 17*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if diff := cmp.Diff([]int{1, 31}, j.sizes()); diff != "" {
			t.Errorf("checks by request (-want +got):\n%s", diff)
		}
	})
}

// TestLoneCheckWaitsForNobody is one call after the other: no window delays any.
func TestLoneCheckWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := serve(t, &judge{answer: says(15*time.Millisecond, allow)})
		for range 5 {
			if a := g.Check(t.Context(), call("r", "a.b")); a.Latency != 15*time.Millisecond {
				t.Errorf("%+v", a)
			}
		}
	})
}

// TestWindow is a check that comes while another is in flight: it waits as long as the window, or as that one.
func TestWindow(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		15 * time.Millisecond:   15*time.Millisecond + guard.Window,
		1500 * time.Microsecond: 2 * time.Millisecond, // of the first 0.5 more, then its own
	} {
		synctest.Test(t, func(t *testing.T) {
			g := serve(t, &judge{answer: says(took, allow)})
			var first sync.WaitGroup
			first.Go(func() { g.Check(t.Context(), call("r", "a.b")) })
			time.Sleep(time.Millisecond)
			if a := g.Check(t.Context(), call("r", "a.b")); a.Latency != want || a.Together != 1 {
				t.Errorf("a judge that takes %v: %+v, want a latency of %v", took, a, want)
			}
			first.Wait()
		})
	}
}

// TestRunsDoNotMix: what one run asks is in no request of another's, and what belongs to none goes alone.
func TestRunsDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(15*time.Millisecond, allow)}
		g := serve(t, j)
		var checks []guard.Check
		for _, run := range []string{"x", "y", ""} {
			for range 5 {
				checks = append(checks, call(run, "of."+run))
			}
		}
		gather(t.Context(), g, checks...)
		for _, r := range j.got() {
			for _, c := range r.checks {
				if c.Action.Tool != r.checks[0].Action.Tool {
					t.Errorf("one request asks about %s and %s", r.checks[0].Action.Tool, c.Action.Tool)
				}
			}
		}
		sizes := j.sizes()
		slices.Sort(sizes)
		if diff := cmp.Diff([]int{1, 1, 1, 1, 1, 1, 1, 4, 4}, sizes); diff != "" {
			t.Errorf("checks by request (-want +got):\n%s", diff)
		}
	})
}

func TestBatchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(15*time.Millisecond, allow)}
		g := serve(t, j)
		gather(t.Context(), g, slices.Repeat(calls("r", "a.b"), 1+64+64+3)...)
		big := call("r", "a.b")
		big.Args = json.RawMessage(`"` + strings.Repeat("x", 60_000) + `"`)
		gather(t.Context(), g, slices.Repeat([]guard.Check{big}, 1+20)...)
		sizes := j.sizes()
		slices.Sort(sizes[:4])
		slices.Sort(sizes[4:])
		if diff := cmp.Diff([]int{1, 3, 64, 64, 1, 3, 17}, sizes); diff != "" {
			t.Errorf("checks by request (-want +got):\n%s", diff)
		}
		for _, r := range j.got() {
			if len(r.body) > 1<<20+64 {
				t.Errorf("a request of %d bytes", len(r.body))
			}
		}
	})
}

// TestBatchAnswers asks about allow, ask and block in one request, and reads what comes.
func TestBatchAnswers(t *testing.T) {
	const a, b, k = `{"verdict":"allow"}`, `{"verdict":"ask","reason":"who is it?"}`, `{"verdict":"block"}`
	none := []string{"unavailable", "unavailable", "unavailable"}
	for _, test := range []struct {
		name   string
		answer string
		want   []string
		reason string // of the second
	}{
		{"right", `{"results":[` + a + `,` + b + `,` + k + `]}`, []string{"allow", "ask", "block"}, "who is it?"},
		{"richer", ` {"model":"m","results":[{"verdict":"allow","score":0.1,"why":{"verdict":"block"}},` + b + `,` + k + `],"took":3} `, []string{"allow", "ask", "block"}, ""},
		{"with places", `{"results":[{"index":0,"verdict":"allow"},{"index":1,"verdict":"ask"},{"index":2,"verdict":"block"}]}`, []string{"allow", "ask", "block"}, ""},
		{"in another order", `{"results":[{"index":1,"verdict":"ask"},{"index":0,"verdict":"allow"},{"index":2,"verdict":"block"}]}`,
			[]string{"unavailable", "unavailable", "block"}, "at place 1 says that its index is 0"},
		{"a place that is no number", `{"results":[{"index":"0","verdict":"allow"},{"index":1.0,"verdict":"allow"},{"index":2e0,"verdict":"allow"}]}`, none, ""},
		{"one is bad", `{"results":[` + a + `,{"verdict":"ALLOW"},` + k + `]}`, []string{"allow", "unavailable", "block"}, `verdict is "ALLOW"`},
		{"one is null", `{"results":[` + a + `,null,` + a + `]}`, []string{"allow", "unavailable", "allow"}, "where an object belongs"},
		{"one is a list", `{"results":[` + a + `,[` + a + `],` + a + `]}`, []string{"allow", "unavailable", "allow"}, ""},
		{"one is twice", `{"results":[` + a + `,{"verdict":"allow","verdict":"allow"},` + k + `]}`, []string{"allow", "unavailable", "block"}, "stands twice"},
		{"too few", `{"results":[` + a + `,` + a + `]}`, none, "results are 2, and 3 were asked for"},
		{"too many", `{"results":[` + a + `,` + a + `,` + a + `,` + a + `]}`, none, "more than the 3"},
		{"none", `{"results":[]}`, none, "results are 0"},
		{"no list", `{"results":{"0":` + a + `,"1":` + a + `,"2":` + a + `}}`, none, "and no array"},
		{"a single verdict", a, none, `has no member "results"`},
		{"a bare list", `[` + a + `,` + a + `,` + a + `]`, none, "where an object belongs"},
		{"results twice", `{"results":[` + a + `,` + a + `,` + a + `],"results":[` + a + `,` + a + `,` + a + `]}`, none, "stands twice"},
		{"another's results", `{"Results":[` + a + `,` + a + `,` + a + `]}`, none, "looks like another"},
		{"cut", `{"results":[` + a + `,` + a + `,` + a, none, "no JSON"},
		{"with a tail", `{"results":[` + a + `,` + a + `,` + a + `]}{}`, none, "no JSON"},
		{"no UTF-8", `{"results":[` + a + `,` + a + `,` + a + `],"x":"` + "\xff" + `"}`, none, "no JSON in UTF-8"},
		{"huge", `{"results":[` + a + `,` + a + `,` + a + `],"x":"` + strings.Repeat("x", guard.MaxBatchAnswer) + `"}`, none, "longer than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &judge{}
				j.answer = func(w http.ResponseWriter, r asked) {
					if len(r.checks) == 1 {
						says(15*time.Millisecond, allow)(w, r)
						return
					}
					// The test's answers are for this order.
					words := map[string]string{}
					for i, c := range r.checks {
						words[c.Action.Tool] = fmt.Sprint(i)
					}
					if diff := cmp.Diff(map[string]string{"t.first": "0", "t.second": "1", "t.third": "2"}, words); diff != "" {
						t.Errorf("order of the request (-want +got):\n%s", diff)
					}
					writeJSON(w, test.answer)
				}
				g := serve(t, j)
				answers := make([]guard.Answer, 3)
				var all sync.WaitGroup
				all.Go(func() { g.Check(t.Context(), call("r", "t.leader")) })
				for i, tool := range []string{"t.first", "t.second", "t.third"} {
					time.Sleep(500 * time.Microsecond)
					all.Go(func() { answers[i] = g.Check(t.Context(), call("r", tool)) })
				}
				all.Wait()
				if diff := cmp.Diff(test.want, verdicts(answers)); diff != "" {
					t.Errorf("(-want +got):\n%s%+v", diff, answers)
				}
				if !strings.Contains(answers[1].Reason, test.reason) || answers[1].Together != 3 {
					t.Errorf("want %q: %+v", test.reason, answers[1])
				}
				if s := g.State(); s.Failures != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// TestServerWithoutBatches is asked one by one, and about batches again after a while.
func TestServerWithoutBatches(t *testing.T) {
	for _, code := range []int{http.StatusNotFound, http.StatusMethodNotAllowed} {
		synctest.Test(t, func(t *testing.T) {
			j := &judge{}
			j.answer = func(w http.ResponseWriter, r asked) {
				if strings.HasSuffix(r.path, "/batch") {
					w.WriteHeader(code)
					return
				}
				says(15*time.Millisecond, byTool)(w, r)
			}
			g := serve(t, j)
			ask := func(want ...int) {
				t.Helper()
				before := len(j.got())
				answers := gather(t.Context(), g, calls("r", "t.allow", "t.ask", "t.block", "t.allow")...)
				if diff := cmp.Diff([]string{"allow", "ask", "block", "allow"}, verdicts(answers)); diff != "" {
					t.Errorf("(-want +got):\n%s%+v", diff, answers)
				}
				if diff := cmp.Diff(want, j.sizes()[before:]); diff != "" {
					t.Errorf("checks by request (-want +got):\n%s", diff)
				}
			}
			ask(1, 3, 1, 1, 1)
			if s := g.State(); s.Batches || s.Breaker != guard.Closed || s.Failures != 0 {
				t.Errorf("%+v", s)
			}
			ask(1, 1, 1, 1)
			time.Sleep(guard.NoBatchFor)
			ask(1, 3, 1, 1, 1)
		})
	}
}

// TestLeavingBeforeTheSplit: what nobody waits for is not asked one by one either.
func TestLeavingBeforeTheSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{}
		j.answer = func(w http.ResponseWriter, r asked) {
			time.Sleep(100 * time.Millisecond)
			if len(r.checks) > 1 {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			says(0, allow)(w, r)
		}
		g := serve(t, j)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { g.Check(t.Context(), call("r", "t.leader")) })
		synctest.Wait()
		all.Go(func() { g.Check(t.Context(), call("r", "t.stays")) })
		all.Go(func() { gather(ctx, g, calls("r", "t.leaves", "t.leaves")...) })
		time.Sleep(50 * time.Millisecond)
		cancel()
		all.Wait()
		if diff := cmp.Diff([]int{1, 3, 1}, j.sizes()); diff != "" || j.got()[2].checks[0].Action.Tool != "t.stays" {
			t.Errorf("checks by request (-want +got):\n%s%v", diff, j.got()[2].body)
		}
	})
}

// TestLeavingABatch: who gives up does not spoil it for the others, and the last one ends the request.
func TestLeavingABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{}, 100)
		j := &judge{}
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stop := context.AfterFunc(r.Context(), func() { ended <- struct{}{} })
			defer stop()
			j.ServeHTTP(w, r)
		})
		j.answer = says(500*time.Millisecond, allow)
		p := newPipes()
		s := &http.Server{Handler: server}
		go s.Serve(p)
		t.Cleanup(func() { s.Close() })
		g := at(t, p.dial)

		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var kept guard.Answer
		all.Go(func() { g.Check(ctx, call("r", "t.leader")) })
		synctest.Wait()
		all.Go(func() { g.Check(ctx, call("r", "t.leaves")) })
		all.Go(func() { kept = g.Check(t.Context(), call("r", "t.stays")) })
		early, leave := context.WithCancel(t.Context())
		all.Go(func() { g.Check(early, call("r", "t.never-sent")) })
		time.Sleep(guard.Window / 2)
		leave()
		time.Sleep(100 * time.Millisecond)
		cancel()
		all.Wait()
		if kept.Verdict != guard.Allow || kept.Together != 2 {
			t.Errorf("%+v", kept)
		}
		<-ended // the leader's request, which nobody waited for any more
		time.Sleep(time.Second)

		again, cancel := context.WithCancel(t.Context())
		for range 5 {
			all.Go(func() { g.Check(again, call("r", "t.leaves")) })
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		all.Wait()
		<-ended
		<-ended // the first one's, and that of the others
		synctest.Wait()
		if s := g.State(); s.InFlight != 0 || s.Failures != 0 || s.Counts.GivenUp != 8 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Second)
	})
}

// TestBatchIsRetried as one request.
func TestBatchIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{}
		j.answer = func(w http.ResponseWriter, r asked) {
			if n := len(j.got()); n == 2 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			says(15*time.Millisecond, allow)(w, r)
		}
		g := serve(t, j)
		for _, a := range gather(t.Context(), g, slices.Repeat(calls("r", "a.b"), 8)...) {
			if a.Verdict != guard.Allow {
				t.Errorf("%+v", a)
			}
		}
		if diff := cmp.Diff([]int{1, 7, 7}, j.sizes()); diff != "" {
			t.Errorf("checks by request (-want +got):\n%s", diff)
		}
		if c := g.State().Counts; c.Requests != 3 || c.Retries != 1 || c.Batches != 2 || c.Allow != 8 {
			t.Errorf("%+v", c)
		}
	})
}
