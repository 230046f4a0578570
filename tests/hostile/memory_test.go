package hostile_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestHog has a worker that takes all the address space that its rlimit leaves it: what is resident is what counts.
func TestHog(t *testing.T) {
	s := newStage(t, "", "@")
	c := s.Dial(t, honestGateway)
	r := daemon.InTime(t, 10*time.Second, func() *sandboxd.Result {
		r, err := c.Execute(context.Background(), sandboxd.Program{Source: script("hog"), Limits: &sandboxd.Limits{WallMS: 20_000}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
	if r.Outcome != sandboxd.OutcomeMemory {
		t.Errorf("outcome %s, %v", r.Outcome, r.Error)
	}
}

// TestUnreadResults has workers that ask for large results and read none: what the daemon holds for them is bounded, and
// each is ended.
func TestUnreadResults(t *testing.T) {
	s := newStage(t, "gateways: {memory_bytes: 33554432}\n", "@")
	o := honestGateway
	result := json.RawMessage(`{"structuredContent":{"a":"` + strings.Repeat("y", 1<<20) + `"},"content":[]}`)
	o.Tools = func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) { return result, nil }
	var steps []string
	for i := 1; i <= 32; i++ {
		steps = append(steps, call(i, "s", "big", `{}`))
	}
	source := script(append(steps, "deaf")...)
	before := rss(t, s.PID)
	ended := make(chan *sandboxd.Result)
	for range 2 {
		c := s.Dial(t, o)
		go func() {
			r, err := c.Execute(context.Background(), sandboxd.Program{Source: source})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
	}
	most := int64(0)
	for n := 0; n < 2; {
		select {
		case r := <-ended:
			n++
			if r != nil && r.Outcome != sandboxd.OutcomeViolation {
				t.Errorf("outcome %s, %v", r.Outcome, r.Error)
			}
		case <-time.After(20 * time.Millisecond):
			most = max(most, rss(t, s.PID))
		}
	}
	if grown := (most - before) >> 20; grown > 120 { // of which 32 may be long messages, and as much garbage
		t.Errorf("the daemon grew by %d MiB for results that nobody read", grown)
	}
}

// TestSleepingRuns has runs with large inputs that sleep: they hold no memory that other gateways need for a message.
func TestSleepingRuns(t *testing.T) {
	s := newStage(t, "gateways: {memory_bytes: 33554432}\n", "-")
	sleeper := s.Dial(t, honestGateway)
	input := json.RawMessage(`"` + strings.Repeat("x", 4<<20-2) + `"`)
	ctx, wake := context.WithCancel(context.Background())
	defer wake()
	for range 6 {
		go sleeper.Execute(ctx, sandboxd.Program{Source: "await new Promise(r => setTimeout(r, 20000))", Input: input})
	}
	daemon.Eventually(t, 15*time.Second, func() error {
		status, err := sleeper.Status(context.Background())
		if err == nil && status.Running < 6 {
			err = context.DeadlineExceeded
		}
		return err
	})
	o := honestGateway
	o.Tools = func(context.Context, sandboxd.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("y", 1<<20) + `"}]}`), nil
	}
	r, err := s.Dial(t, o).Execute(context.Background(), sandboxd.Program{Source: "return (await tools.s.get({})).length"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != sandboxd.OutcomeOK || string(r.Value) != "1048576" {
		t.Errorf("outcome %s, value %s, %v", r.Outcome, r.Value, r.Error)
	}
}

// TestCallsAfterTheEnd has a worker that calls tools when it was told that its time is up.
func TestCallsAfterTheEnd(t *testing.T) {
	s := newStage(t, "", "@")
	o := honestGateway
	o.Tools = func(_ context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
		t.Errorf("call %d reached the gateway", c.N)
		return json.RawMessage(`{"content":[]}`), nil
	}
	r, err := s.Dial(t, o).Execute(context.Background(), sandboxd.Program{
		Source: script("stopped", call(1, "s", "write", `{}`), done("ok", "1")), Limits: &sandboxd.Limits{WallMS: 300},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != sandboxd.OutcomeTimeout || len(r.Calls) != 1 || r.Calls[0].State != sandboxd.CallNotStarted {
		t.Errorf("outcome %s, calls %+v", r.Outcome, r.Calls)
	}
}
