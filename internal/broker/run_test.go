package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/wire"
)

func calls(from, n int, server string) []wire.Call {
	batch := make([]wire.Call, n)
	for i := range batch {
		batch[i] = wire.Call{ID: from + i, Server: server, Tool: "t", Args: []byte("{}")}
	}
	return batch
}

func servers(names ...string) *catalog.Catalog {
	c, err := catalog.New(names, nil)
	if err != nil {
		panic(err)
	}
	return c
}

func account(limit, atOnce int) *Run {
	return &Run{ID: "r", Catalog: servers("s"), Limits: sandboxd.Limits{Calls: limit, ConcurrentCalls: atOnce}, Policy: rules("unknown: allow")}
}

// rules is a policy; its version need not be said.
func rules(text string) *policy.Policy {
	p, err := policy.Parse("policy.yaml", []byte("version: 1\n"+text))
	if err != nil {
		panic(err)
	}
	return p
}

// do judges a call, and does it.
func do(ctx context.Context, r *Run, c wire.Call, reply Reply) error {
	return Do(ctx, r, Judge(context.WithoutCancel(ctx), r, []wire.Call{c})[0], reply)
}

func states(r *Run) string {
	var all []sandboxd.CallState
	for i, c := range r.Calls() {
		if c.N != i+1 {
			return fmt.Sprintf("call %d stands at place %d", c.N, i+1)
		}
		all = append(all, c.State)
	}
	return fmt.Sprint(all)
}

// TestDeniedCallsGiveTheirPlaceBack: a denial takes no place from the calls that come after it, whether it had one or
// waited for one.
func TestDeniedCallsGiveTheirPlaceBack(t *testing.T) {
	ctx := context.Background()
	for _, together := range []bool{true, false} {
		r := account(20, 2)
		var refusals int
		reply := func(result wire.Result, _ []byte) {
			if result.Form == wire.FormBlocked {
				refusals++
			}
		}
		batch := calls(1, 6, "nope")
		if together {
			if err := r.Admit(batch); err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{5, 0, 3, 1, 2, 4} { // in any order
				do(ctx, r, batch[i], reply)
			}
		} else {
			for _, c := range batch {
				if err := r.Admit([]wire.Call{c}); err != nil {
					t.Fatal(err)
				}
				do(ctx, r, c, reply)
			}
		}
		if refusals != 6 || len(r.places) != 0 {
			t.Errorf("together %v: %d refusals, %d places taken", together, refusals, len(r.places))
		}
		if err := r.Admit(calls(7, 1, "s")); err != nil {
			t.Fatal(err)
		}
		if err := r.turn(ctx, 7); err != nil {
			t.Error(err)
		}
	}
}

func TestAdmitAllOrNone(t *testing.T) {
	r := account(3, 2)
	if err := r.Admit(calls(1, 2, "s")); err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if err := r.Admit(calls(3, 2, "s")); !errors.As(err, &limit) || limit.Limit != 3 {
		t.Errorf("error is %v", err)
	}
	if got := states(r); got != "[not_started not_started not_started not_started]" {
		t.Error(got)
	}
}

// TestTurns: calls go out in order, and never more at once than there are places.
func TestTurns(t *testing.T) {
	const n, atOnce = 50, 4
	r := account(n, atOnce)
	if err := r.Admit(calls(1, n, "s")); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []int
	out, most := 0, 0
	var all sync.WaitGroup
	for i := range n {
		id := n - i // the last one asks first
		all.Go(func() {
			defer r.leave(id)
			if err := r.turn(context.Background(), id); err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, id)
			out++
			most = max(most, out)
			mu.Unlock()
			r.pass(id)
			mu.Lock()
			out--
			mu.Unlock()
		})
	}
	all.Wait()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("calls went out as %v", order)
	}
	if most > atOnce {
		t.Errorf("%d calls were out at once, at most %d may", most, atOnce)
	}
	if len(r.places) != 0 || r.unsent != 0 {
		t.Errorf("%d places taken, %d bytes waiting", len(r.places), r.unsent)
	}
}

// TestTurnEnds: a call whose run ends while it waits, for those before it or for a place, takes none.
func TestTurnEnds(t *testing.T) {
	r := account(9, 1)
	if err := r.Admit(calls(1, 3, "s")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.turn(ctx, 1); err != nil {
		t.Fatal(err)
	}
	r.pass(1)
	cancel()
	for _, n := range []int{2, 3} {
		if err := r.turn(ctx, n); err == nil {
			t.Error("a turn came to a run that has ended")
		}
		r.leave(n)
	}
	if len(r.places) != 1 {
		t.Errorf("%d places taken", len(r.places))
	}
	r.leave(1)
	if len(r.places) != 0 {
		t.Errorf("%d places taken", len(r.places))
	}
}

func TestClose(t *testing.T) {
	r := account(9, 9)
	if err := r.Admit(calls(1, 4, "s")); err != nil {
		t.Fatal(err)
	}
	r.dispatch(1)
	r.dispatch(2)
	r.settle(&Judged{n: 1}, sandboxd.CallSucceeded, 5, "", "")
	r.deny(&Judged{n: 3, refusal: &refusal{byPolicy, "rule", "why"}})
	if unknown := r.Close(); fmt.Sprint(unknown) != "[2]" {
		t.Errorf("unknown calls: %v", unknown)
	}
	if r.dispatch(4) {
		t.Error("a call went out of a run that has ended")
	}
	r.settle(&Judged{n: 2}, sandboxd.CallSucceeded, 5, "", "")
	r.deny(&Judged{n: 4, refusal: &refusal{byPolicy, "rule", "why"}})
	if got := states(r); got != "[succeeded unknown denied not_started]" {
		t.Errorf("states changed after the end: %s", got)
	}
}

// TestRoom: who reads from a worker waits while too many bytes of arguments wait to go out.
func TestRoom(t *testing.T) {
	r := account(9, 1)
	if err := r.Admit(calls(1, 3, "s")); err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{})
	go func() { r.Room(context.Background(), 3); close(room) }()
	r.pass(1)
	select {
	case <-room:
		t.Error("there was room for 4 bytes where 3 may wait")
	default:
	}
	r.pass(2)
	<-room
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.Room(ctx, 0) // returns, as its run has ended
}

// TestOnlyOwnNames: an alias is the worker's affair. One that a worker sends, or a name in another case, is no tool, and nothing of it
// reaches the gateway, which is nil here.
func TestOnlyOwnNames(t *testing.T) {
	c, err := catalog.New([]string{"my-hub"}, []sandboxd.Tool{{Server: "my-hub", Name: "drop-all", InputSchema: []byte(`{"required":["a"]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []struct{ server, tool, form, rule string }{
		{"my-hub", "drop_all", wire.FormInvalid, "tools"},
		{"my-hub", "dropAll", wire.FormInvalid, "tools"},
		{"my-hub", "Drop-all", wire.FormInvalid, "tools"},
		{"my-hub", "drop-all ", wire.FormInvalid, "tools"},
		{"my-hub", "drop-all\u200b", wire.FormBlocked, "names"},
		{"my-hub", "drop-\xff", wire.FormBlocked, "names"},
		{"my_hub", "drop-all", wire.FormBlocked, "servers"},
		{"my-hub", "drop-all", wire.FormInvalid, "arguments"},
	} {
		r := account(20, 2)
		r.Catalog = c
		batch := []wire.Call{{ID: 1, Server: call.server, Tool: call.tool, Args: []byte("{}")}}
		if err := r.Admit(batch); err != nil {
			t.Fatal(err)
		}
		form := ""
		do(context.Background(), r, batch[0], func(result wire.Result, _ []byte) { form = result.Form })
		if got := r.Calls()[0]; form != call.form || got.Rule != call.rule || got.State != sandboxd.CallDenied || got.Error == "" {
			t.Errorf("%s.%q: answered %q, %+v", call.server, call.tool, form, got)
		}
	}
}
