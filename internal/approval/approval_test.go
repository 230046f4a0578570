package approval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandboxd/sandboxd/internal/approval"
)

var limits = approval.Limits{Pending: 8, PerCaller: 4, Wait: time.Minute}

func request(run string, n int) approval.Request {
	return approval.Request{Run: run, N: n, Server: "pay", Tool: "refund", Arguments: []byte(`{"amount":7}`), Caller: "uid 1000"}
}

// ask asks in the background. The id of the request comes first, then the answer.
func ask(ctx context.Context, d *approval.Desk, r approval.Request) (id string, answer func() (approval.Answer, error)) {
	ids := make(chan string, 1)
	type end struct {
		approval.Answer
		error
	}
	ended := make(chan end, 1)
	go func() {
		a, err := d.Ask(ctx, r, func(r approval.Request) { ids <- r.ID })
		ended <- end{a, err}
		close(ids)
	}()
	return <-ids, func() (approval.Answer, error) { e := <-ended; return e.Answer, e.error }
}

func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		defer d.Begin("r")()
		id, answer := ask(t.Context(), d, request("r", 1))
		time.Sleep(10 * time.Second)
		pending := d.Pending()
		if len(pending) != 1 || pending[0].ID != id || pending[0].N != 1 || string(pending[0].Arguments) != `{"amount":7}` ||
			pending[0].Expires.Sub(pending[0].Asked) != time.Minute {
			t.Errorf("pending: %+v", pending)
		}
		if err := d.Answer(id, approval.Answer{Approved: true, Scope: approval.Once, By: "uid 0", Reason: "fine"}); err != nil {
			t.Fatal(err)
		}
		a, err := answer()
		if err != nil || !a.Approved || a.By != "uid 0" || a.Reason != "fine" || !a.At.Equal(time.Now()) {
			t.Errorf("%+v, %v", a, err)
		}
		if left := d.Pending(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}

		// The same call waits again: the answer was for one.
		again, answer := ask(t.Context(), d, request("r", 2))
		if again == "" || again == id {
			t.Fatalf("asked again as %q", again)
		}
		if err := d.Answer(again, approval.Answer{Scope: approval.Once, By: "uid 0"}); err != nil {
			t.Fatal(err)
		}
		if a, err := answer(); err != nil || a.Approved {
			t.Errorf("denied, and got %+v, %v", a, err)
		}
	})
}

func TestFirstAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		id, answer := ask(t.Context(), d, request("r", 1))
		var late, first int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				err := d.Answer(id, approval.Answer{Approved: i%2 == 0, Scope: approval.Once, By: fmt.Sprintf("uid %d", i)})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					first++
				} else if errors.As(err, new(approval.Late)) && strings.Contains(err.Error(), " by uid ") {
					late++
				}
			})
		}
		all.Wait()
		a, err := answer()
		if err != nil || first != 1 || late != 19 {
			t.Fatalf("%d first, %d late, %v", first, late, err)
		}
		err = d.Answer(id, approval.Answer{Approved: !a.Approved, Scope: approval.Once, By: "uid 99"})
		var stale approval.Late
		if !errors.As(err, &stale) || stale.By != a.By || stale.Approved != a.Approved {
			t.Errorf("later: %v, the answer was %+v", err, a)
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		id, answer := ask(t.Context(), d, request("r", 1))
		a, err := answer()
		if err != nil || a.Approved || a.By != "expiry" || a.Reason != "nobody answered within 1m0s" {
			t.Errorf("%+v, %v", a, err)
		}
		err = d.Answer(id, approval.Answer{Approved: true, Scope: approval.Once, By: "uid 0"})
		if err == nil || !strings.Contains(err.Error(), "denied by expiry") {
			t.Errorf("an approval after expiry: %v", err)
		}
		if left := d.Pending(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		ctx, cancel := context.WithCancel(t.Context())
		id, answer := ask(ctx, d, request("r", 1))
		cancel()
		if a, err := answer(); !errors.Is(err, context.Canceled) || a.Approved {
			t.Errorf("%+v, %v", a, err)
		}
		if err := d.Answer(id, approval.Answer{Approved: true, Scope: approval.Once, By: "uid 0"}); err == nil || !strings.Contains(err.Error(), "the run's end") {
			t.Errorf("an answer after the run: %v", err)
		}
	})
}

func TestForTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		end := d.Begin("r")
		defer d.Begin("other")()
		id, answer := ask(t.Context(), d, request("r", 1))
		if err := d.Answer(id, approval.Answer{Approved: true, Scope: approval.Same, By: "uid 0"}); err != nil {
			t.Fatal(err)
		}
		answer()
		if a, err := d.Ask(t.Context(), request("r", 2), func(approval.Request) { t.Error("asked again") }); err != nil || !a.Approved || a.By != "uid 0" {
			t.Errorf("the same call: %+v, %v", a, err)
		}
		for name, change := range map[string]func(*approval.Request){
			"other arguments": func(r *approval.Request) { r.Arguments = []byte(`{"amount":8}`) },
			"other tool":      func(r *approval.Request) { r.Tool = "refund2" },
			"other server":    func(r *approval.Request) { r.Server = "pay2" },
			"other run":       func(r *approval.Request) { r.Run = "other" },
		} {
			r := request("r", 3)
			change(&r)
			if a, err := d.Ask(t.Context(), r, func(approval.Request) {}); err != nil || a.Approved || a.By != "expiry" {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
		end()
		if a, err := d.Ask(t.Context(), request("r", 4), func(approval.Request) {}); err != nil || a.Approved {
			t.Errorf("after the run: %+v, %v", a, err)
		}
	})
}

// TestForTheRunTogether: an answer for the run is one for the same calls that wait already, and for no others.
func TestForTheRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		defer d.Begin("r")()
		id, first := ask(t.Context(), d, request("r", 1))
		same, second := ask(t.Context(), d, request("r", 2))
		different := request("r", 3)
		different.Arguments = []byte(`{"amount":8}`)
		_, third := ask(t.Context(), d, different)
		if err := d.Answer(id, approval.Answer{Approved: true, Scope: approval.Same, By: "uid 0"}); err != nil {
			t.Fatal(err)
		}
		if a, err := first(); err != nil || !a.Approved || a.ID != id || a.By != "uid 0" {
			t.Errorf("%+v, %v", a, err)
		}
		if a, err := second(); err != nil || !a.Approved || a.ID != same || a.By != "uid 0" {
			t.Errorf("%+v, %v", a, err)
		}
		if a, err := third(); err != nil || a.Approved || a.By != "expiry" {
			t.Errorf("other arguments: %+v, %v", a, err)
		}
		if left := d.Pending(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		ctx, cancel := context.WithCancel(t.Context())
		for n := range 4 {
			ask(ctx, d, request("r", n+1))
		}
		a, err := d.Ask(ctx, request("r", 5), func(approval.Request) { t.Error("asked") })
		if err != nil || a.Approved || a.By != "sandboxd" || !strings.Contains(a.Reason, "4 calls wait for approval already, the most that one caller may have") {
			t.Errorf("one caller: %+v, %v", a, err)
		}
		for n := range 4 {
			other := request("r", n+1)
			other.Caller = "uid 1001"
			ask(ctx, d, other)
		}
		third := request("r", 1)
		third.Caller = "uid 1002"
		if a, err := d.Ask(ctx, third, func(approval.Request) { t.Error("asked") }); err != nil || a.Approved || !strings.Contains(a.Reason, "all callers together") {
			t.Errorf("all callers: %+v, %v", a, err)
		}
		cancel()
		synctest.Wait()
		if id, _ := ask(t.Context(), d, request("r", 6)); id == "" {
			t.Error("no room after the others are gone")
		}
		for _, r := range d.Pending() {
			d.Answer(r.ID, approval.Answer{Scope: approval.Once, By: "uid 0"})
		}
	})
}

// TestRoomForArguments: whatever a profile lets one call have, a desk keeps no more than so much.
func TestRoomForArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		ctx, cancel := context.WithCancel(t.Context())
		large := request("r", 1)
		large.Arguments = make([]byte, 40<<20)
		_, gone := ask(ctx, d, large)
		if a, err := d.Ask(ctx, large, func(approval.Request) { t.Error("asked") }); err != nil || a.Approved || !strings.Contains(a.Reason, "41943040 bytes of arguments") {
			t.Errorf("twice 40 MiB: %+v, %v", a, err)
		}
		cancel()
		gone()
		ctx, cancel = context.WithCancel(t.Context())
		ask(ctx, d, large) // there is room again
		cancel()
		synctest.Wait()
	})
}

func TestAnswerRefuses(t *testing.T) {
	d := approval.NewDesk(limits)
	if err := d.Answer("nothing", approval.Answer{Scope: approval.Once, By: "uid 0"}); !errors.Is(err, approval.ErrUnknown) {
		t.Errorf("an unknown id: %v", err)
	}
	for _, a := range []approval.Answer{{Scope: approval.Once}, {By: "uid 0"}, {By: "uid 0", Scope: "all"}} {
		if err := d.Answer("nothing", a); err == nil || errors.Is(err, approval.ErrUnknown) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(limits)
		id, answer := ask(t.Context(), d, request("r", 1))
		if r, err := d.Find(id); err != nil || r.ID != id || r.N != 1 || d.RunOf(id) != "r" {
			t.Errorf("%+v, %v, run %q", r, err, d.RunOf(id))
		}
		if err := d.Answer(id, approval.Answer{Approved: true, Scope: approval.Once, By: "uid 0"}); err != nil {
			t.Fatal(err)
		}
		a, _ := answer()
		var late approval.Late
		if _, err := d.Find(id); !errors.As(err, &late) || late.By != "uid 0" || a.ID != id || late.ID != id || d.RunOf(id) != "r" {
			t.Errorf("after %+v: %v, run %q", a, err, d.RunOf(id))
		}
		if _, err := d.Find("nothing"); !errors.Is(err, approval.ErrUnknown) || d.RunOf("nothing") != "" {
			t.Errorf("nothing: %v", err)
		}
	})
}
