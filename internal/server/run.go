package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/broker"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/redact"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// run is one execution of a program, from its admission to its result.
type run struct {
	*session
	request *rpc.Request
	program sandboxd.Program
	profile profile.Profile
	limits  sandboxd.Limits
	zone    zone
	redact  policy.AnswerRedaction
	account *broker.Run

	began   time.Time               // when it was asked for
	started time.Time               // when its worker was leased
	stop    context.CancelCauseFunc // ends the run, and says why
	begun   bool                    // it is in the audit log
	leased  atomic.Bool             // for the ledger
	worker  *pool.Worker
	watcher *watcher
	calls   sync.WaitGroup
	result  sandboxd.Result
}

// carryOut leases a worker, sends it the program and does what it asks until the run has ended.
func (r *run) carryOut(ctx context.Context) *sandboxd.Result {
	if err := r.begin(ctx); err != nil {
		r.refused(ctx, err)
		return r.close()
	}
	leased, span := time.Now(), r.account.Span.Child("lease", traces.Internal)
	waiting, cancel := context.WithTimeout(ctx, r.config.Runs.QueueWait)
	w, err := r.pool.Lease(waiting, r.profile.Name, r.limits.MemoryBytes)
	cancel()
	r.result.Stats.LeaseMS = since(leased)
	if err != nil {
		span.Fail("no_worker")
		span.End()
		r.refused(ctx, err)
		return r.close()
	}
	r.worker, r.started, r.result.Stats.Warm = w, time.Now(), w.Warm
	r.metrics.Lease(r.profile.Name, w.Warm)
	r.ledger.lease(r, w.Warm)
	span.Truth("sandboxd.warm", w.Warm)
	span.End()
	r.result.Isolation, err = Isolation(w.Report(), w.Layers(), r.profile, r.config.Isolation.AllowMissing)
	if err != nil {
		r.refused(ctx, err)
		return r.close()
	}
	defer r.desk.Begin(r.account.ID)()
	ctx, r.stop = context.WithCancelCause(ctx)
	r.attend(ctx)
	return r.close()
}

// attend does what the worker asks until the run has ended, by whatever: nothing of it goes on by itself afterwards.
func (r *run) attend(ctx context.Context) {
	defer r.stop(errRunEnded)
	r.watcher = watch(r)
	defer r.watcher.end()
	r.follow(ctx)
}

// errRunEnded is the cause with which calls end that the program did not wait for.
var errRunEnded = errors.New("the run has ended")

// follow sends the program, and then does what the worker asks, one message after the other.
func (r *run) follow(ctx context.Context) {
	if err := r.send(); err != nil {
		r.broken(ctx, err)
		return
	}
	for {
		r.account.Room(ctx, wire.MaxArgs)
		message, err := r.worker.Next(ctx)
		if err != nil {
			r.broken(ctx, err)
			return
		}
		switch m := message.(type) {
		case []wire.Call:
			if err := r.call(ctx, m); err != nil {
				r.overCalls(err)
				return
			}
		case []wire.Line:
			r.print(ctx, m)
		case pool.Unsent:
			r.account.Unsent(m)
		case *wire.Done:
			r.done(ctx, m)
			return
		}
	}
}

func (r *run) send() error {
	servers := r.account.Catalog
	if r.program.Now == nil { // it may have waited for its turn
		r.result.Now = time.Now().UnixMilli()
	}
	err := r.worker.Start(wire.Start{
		Servers: servers.ServerNames(),
		Seed:    r.result.Seed, Now: r.result.Now, Still: r.program.Now != nil,
		TimeZone: r.zone.name,
		Limits: wire.Limits{
			Calls: r.limits.Calls, OutputBytes: r.limits.OutputBytes, ConsoleBytes: r.limits.ConsoleBytes,
			ArgumentBytes: r.limits.ArgumentBytes, CPUMS: r.limits.CPUMS, MemoryBytes: r.limits.MemoryBytes,
		},
	}, r.program.Source, r.program.Input, servers.Names, r.zone.data)
	// The text is the worker's now: a run that waits for long must not hold the memory that messages share.
	r.program.Source, r.program.Input = "", nil
	r.request.Release()
	if err != nil {
		return io.EOF // a worker that can't be written to is gone
	}
	return nil
}

// call starts a batch of calls, each on a goroutine that close waits for.
func (r *run) call(ctx context.Context, batch []wire.Call) error {
	if r.watcher.asked() != nil { // its time is up: nothing more goes out
		r.account.Unsent(batch)
		return nil
	}
	if err := r.account.Admit(batch); err != nil {
		return err
	}
	for _, judged := range broker.Judge(ctx, r.account, batch) {
		r.calls.Go(func() {
			defer r.recover()
			err := broker.Do(ctx, r.account, judged, func(result wire.Result, body []byte) {
				// A worker that is gone shows in follow; one that does not read must be told from there.
				if err := r.worker.Answer(result, body); errors.Is(err, wire.ErrProtocol) {
					r.stop(err)
				}
			})
			if err != nil {
				r.stop(&limitError{sandboxd.OutcomeDenied, err.Error(), "do what the refusals say, or return what there is: asking again changes nothing"})
			}
		})
	}
	return nil
}

// recover ends the run for a fault of ours, and no other.
func (r *run) recover() {
	if fault := recover(); fault != nil {
		r.log.Error("a call failed", "run", r.account.ID, "panic", fault, "stack", string(debug.Stack()))
		r.stop(&faultError{fmt.Errorf("%v", fault)})
	}
}

// print keeps console lines; Worker.Next refuses those over the limit.
func (r *run) print(ctx context.Context, lines []wire.Line) {
	for _, l := range lines {
		line := sandboxd.ConsoleLine{Level: l.Level, Text: r.clean(r.redact.Console, l.Text)}
		r.result.Console = append(r.result.Console, line)
		if r.program.Console {
			r.notify(ctx, "run/console", sandboxd.Console{Run: r.account.ID, Token: r.program.Token, ConsoleLine: line})
		}
	}
}

// done takes the worker's own word on how the run ended.
func (r *run) done(ctx context.Context, d *wire.Done) {
	r.measure()
	r.result.Truncated = sandboxd.Truncated{ConsoleLines: d.DroppedLines, ConsoleBytes: d.DroppedBytes}
	if ctx.Err() != nil {
		r.broken(ctx, context.Cause(ctx))
		return
	}
	kind := sandboxd.Outcome(d.Kind)
	if late := r.watcher.asked(); late != nil && kind == sandboxd.OutcomeOK {
		r.end(late.kind, &sandboxd.Error{Message: late.message, Hint: late.hint})
		return
	}
	switch kind {
	case sandboxd.OutcomeOK:
		r.result.Outcome, r.result.Value, r.result.Hint = kind, json.RawMessage(d.Value), d.Hint
		if r.redact.Value {
			r.result.Value, _ = redact.Default().JSON(r.result.Value)
		}
		return
	case sandboxd.OutcomeError, sandboxd.OutcomeTimeout, sandboxd.OutcomeCPU, sandboxd.OutcomeMemory,
		sandboxd.OutcomeOutput, sandboxd.OutcomeCalls, sandboxd.OutcomeDenied, sandboxd.OutcomeCrash:
	default:
		r.broken(ctx, fmt.Errorf("%w: a run that ends as %.40q", wire.ErrProtocol, d.Kind))
		return
	}
	e := &sandboxd.Error{Message: "the worker did not say why"}
	if d.Error != nil {
		e = &sandboxd.Error{
			Message: d.Error.Message, Line: d.Error.Line, Column: d.Error.Column, Frame: d.Error.Frame, Hint: d.Error.Hint,
		}
	}
	if late := r.watcher.asked(); late != nil && e.Hint == "" {
		e.Hint = late.hint
	}
	r.end(kind, e)
}

// clean takes secrets out of text that leaves the run, if policy wants that.
func (r *run) clean(wanted bool, text string) string {
	if !wanted {
		return text
	}
	clean, _ := redact.Default().Text([]byte(text))
	return string(clean)
}

// measure reads the kernel's account of a worker that lives.
func (r *run) measure() {
	if cpu, err := r.worker.CPU(); err == nil {
		r.result.Stats.CPUMS = float64(cpu.Microseconds()) / 1000
	}
	if peak, err := r.worker.PeakMemory(); err == nil {
		r.result.Stats.PeakMemory = peak
	}
}

func (r *run) end(kind sandboxd.Outcome, e *sandboxd.Error) {
	e.Kind = kind
	e.Message, e.Frame, e.Hint = r.clean(r.redact.Errors, e.Message), r.clean(r.redact.Errors, e.Frame), r.clean(r.redact.Errors, e.Hint)
	r.result.Outcome, r.result.Error = kind, e
}

// close completes the result. Nothing is dispatched to the gateway afterwards.
func (r *run) close() *sandboxd.Result {
	unknown := r.account.Close()
	if r.worker != nil {
		r.worker.Hush()
	}
	r.calls.Wait()
	for _, n := range unknown {
		r.notify(context.Background(), "tools/cancel", sandboxd.ToolCancel{Run: r.account.ID, N: n})
	}
	r.result.Calls = r.account.Calls()
	for i := range r.result.Calls {
		r.result.Calls[i].Error = r.clean(r.redact.Errors, r.result.Calls[i].Error)
	}
	r.result.Stats.ToolMS = float64(r.account.ToolTime().Microseconds()) / 1000
	if !r.started.IsZero() {
		r.result.Stats.WallMS = since(r.started)
	}
	if r.watcher != nil {
		waited, _ := r.watcher.approvals()
		r.result.Stats.ApprovalMS = milliseconds(waited)
		r.result.Stats.WallMS = max(r.result.Stats.WallMS-r.result.Stats.ApprovalMS, 0)
	}
	r.record()
	r.measured()
	r.ledger.end(r)
	r.traced()
	r.log.Debug("run ended", "run", r.result.Run, "outcome", r.result.Outcome, "uid", r.caller.UID,
		"wall_ms", r.result.Stats.WallMS, "calls", len(r.result.Calls))
	return &r.result
}

// bury is for after the answer, which need not wait for a process to end.
func (r *run) bury() {
	r.slots.owe(-1)
	if r.worker == nil {
		return
	}
	if _, err := r.worker.Close(); err != nil {
		r.log.Error("worker not buried", "run", r.account.ID, "error", err)
	}
}
