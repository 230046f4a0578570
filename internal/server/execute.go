package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/broker"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// The causes with which a run's context ends.
var (
	errCancelled = errors.New("cancelled by the gateway")
	errHungUp    = errors.New("the gateway hung up")
)

// execute runs one program. What is wrong with the request is a JSON-RPC error; what becomes of the
// program is a result, on every ending.
func (x *session) execute(ctx context.Context, request *rpc.Request) (any, error) {
	var p sandboxd.Program
	if err := decode(request.Params, &p); err != nil {
		return nil, err
	}
	prof, limits, err := x.choose(p)
	if err != nil {
		return nil, err
	}
	servers, err := x.narrow(p.Servers)
	if err != nil {
		return nil, err
	}
	seed, now, err := repeatable(p, time.Now())
	if err != nil {
		return nil, err
	}
	zone, err := loadZone(p.TimeZone)
	if err != nil {
		return nil, err
	}
	span, traceparent := x.traces.Begin("run", p.Traceparent)
	r := &run{
		session: x, request: request, program: p, profile: prof, limits: limits, zone: zone,
		account: &broker.Run{
			ID: ulid.Make().String(), Token: p.Token, Traceparent: traceparent, Span: span, Task: p.Intent, Constraints: p.Constraints,
			Caller:  policy.Caller{UID: x.caller.UID, GID: x.caller.Groups[0], Gateway: x.client},
			Catalog: servers, Limits: limits, Gateway: x.peer,
			Policy: x.policy.Load().Policy, Quota: x.quotas.Of(x.caller.UID), Guard: x.guard, Audit: x.audit, Metrics: x.metrics, Log: x.log,
		},
		began: time.Now(),
	}
	r.account.Approve, r.redact = r.approve, r.account.Policy.Redact()
	r.result = sandboxd.Result{
		Run: r.account.ID, Token: p.Token, Value: json.RawMessage("null"), Console: []sandboxd.ConsoleLine{},
		Seed: seed, Now: now, TimeZone: zone.name,
		Isolation: sandboxd.Isolation{Seccomp: "off", Cgroup: "off", Namespaces: []string{}, Rlimits: []string{}, Missing: []string{}},
	}
	x.ledger.begin(r)
	x.slots.owe(1)
	if e := screen(p.Source, limits); e != nil {
		r.end(sandboxd.OutcomeInvalid, e)
		return rpc.Then{Result: r.close(), Do: r.bury}, nil
	}
	return rpc.Then{Result: x.admitted(ctx, r), Do: r.bury}, nil
}

// admitted carries the run out when it is its turn.
func (x *session) admitted(ctx context.Context, r *run) (result *sandboxd.Result) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer x.enroll(r.account.ID, r.program.Token, cancel)()
	defer func() {
		if fault := recover(); fault != nil {
			x.log.Error("a run failed", "run", r.account.ID, "panic", fault, "stack", string(debug.Stack()))
			r.internal()
			result = r.close()
		}
	}()
	if wait := r.account.Quota.Run(r.account.Policy.Limits().RunsPerMinute); wait > 0 {
		r.overQuota(wait)
		return r.close()
	}
	queued := r.account.Span.Child("queue", traces.Internal)
	err := x.slots.enter(ctx, x.caller.UID)
	queued.End()
	r.result.Stats.QueueMS = since(r.began)
	if err != nil {
		r.refused(ctx, err)
		return r.close()
	}
	defer x.slots.leave(x.caller.UID)
	defer context.AfterFunc(x.ending, func() { cancel(errShutdown) })()
	return r.carryOut(ctx)
}

func (x *session) choose(p sandboxd.Program) (profile.Profile, sandboxd.Limits, error) {
	name := p.Profile
	if name == "" {
		name = profile.Default
	}
	prof, ok := x.profiles[name]
	if !ok {
		return prof, sandboxd.Limits{}, rpc.Errorf(rpc.CodeInvalidParams, "profile: there is no %q; there are: %s",
			name, strings.Join(profile.Names(x.profiles), ", "))
	}
	limits, err := prof.Lower(p.Limits)
	if err != nil {
		return prof, limits, rpc.Errorf(rpc.CodeInvalidParams, "%s", err)
	}
	if len(p.Token) > maxToken || len(p.Traceparent) > maxToken {
		return prof, limits, rpc.Errorf(rpc.CodeInvalidParams, "token and traceparent have at most %d bytes", maxToken)
	}
	if err := checkIntent(p); err != nil {
		return prof, limits, err
	}
	if int64(len(p.Input)) > limits.ResultBytes {
		return prof, limits, rpc.Errorf(rpc.CodeInvalidParams, "input: %d bytes are over the %d that one value may have (limits.result_bytes)", len(p.Input), limits.ResultBytes)
	}
	return prof, limits, nil
}

const maxToken = 128

// Bounds on what a gateway tells of the user: what a judge can weigh.
const (
	maxIntent      = 16 << 10
	maxConstraints = 32
	maxConstraint  = 1 << 10
)

func checkIntent(p sandboxd.Program) error {
	if len(p.Intent) > maxIntent {
		return rpc.Errorf(rpc.CodeInvalidParams, "intent: %d bytes, at most %d: the user's request, and no more of the conversation", len(p.Intent), maxIntent)
	}
	if len(p.Constraints) > maxConstraints {
		return rpc.Errorf(rpc.CodeInvalidParams, "constraints: %d, at most %d", len(p.Constraints), maxConstraints)
	}
	for i, c := range p.Constraints {
		if len(c) > maxConstraint {
			return rpc.Errorf(rpc.CodeInvalidParams, "constraints[%d]: %d bytes, at most %d", i, len(c), maxConstraint)
		}
	}
	return nil
}

// repeatable are the seed and the time that a run begins with: those that were asked for, or a drawn one and this one.
func repeatable(p sandboxd.Program, clock time.Time) (seed, now int64, err error) {
	seed, now = rand.Int64N(sandboxd.MaxSeed+1), clock.UnixMilli()
	if p.Seed != nil {
		seed = *p.Seed
	}
	if p.Now != nil {
		now = *p.Now
	}
	if seed < 0 || seed > sandboxd.MaxSeed {
		return 0, 0, rpc.Errorf(rpc.CodeInvalidParams, "seed: %d is not within 0 and %d", seed, sandboxd.MaxSeed)
	}
	if p.Now != nil && (now < 0 || now > sandboxd.MaxNow) {
		return 0, 0, rpc.Errorf(rpc.CodeInvalidParams, "now: %d is not within 0 and %d, milliseconds since 1970", now, int64(sandboxd.MaxNow))
	}
	return seed, now, nil
}

// narrow picks the servers that the program may name from those that the gateway announced.
func (x *session) narrow(asked []string) (*catalog.Catalog, error) {
	announced := x.announced()
	if asked == nil {
		return announced, nil
	}
	narrowed, err := announced.Narrow(asked)
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%s", err)
	}
	return narrowed, nil
}

// refused ends a run that got no slot or no worker.
func (r *run) refused(ctx context.Context, err error) {
	var busy *pool.BusyError
	var missing *MissingError
	var record *recordError
	switch {
	case errors.As(err, &record):
		r.log.Error("a run was refused", "run", r.account.ID, "error", record)
		r.end(sandboxd.OutcomeInternal, &sandboxd.Error{
			Message: "the run can't be recorded, and so is not begun",
			Hint:    "the daemon's log says what is wrong with its audit log",
		})
	case errors.As(err, &missing):
		r.end(sandboxd.OutcomeInternal, &sandboxd.Error{
			Message: "no worker for this run: " + missing.Error(),
			Hint:    "another profile may do with less: initialize lists them",
		})
	case errors.As(err, &busy):
		r.metrics.Busy(busy.Reason)
		r.end(sandboxd.OutcomeBusy, &sandboxd.Error{
			Message:      "no worker for this run: " + busy.Error(),
			Hint:         "try again later, or with fewer runs at once",
			RetryAfterMS: retryAfter.Milliseconds(),
		})
	case ctx.Err() != nil:
		r.cancelled(ctx)
	default:
		r.log.Error("a run failed", "run", r.account.ID, "error", err)
		r.internal()
	}
}

const retryAfter = time.Second

// overQuota ends a run that is one too many of its caller's this minute.
func (r *run) overQuota(wait time.Duration) {
	r.metrics.Busy("quota")
	r.end(sandboxd.OutcomeBusy, &sandboxd.Error{
		Message: fmt.Sprintf("no worker for this run: the caller has started the %d programs a minute that the policy allows",
			r.account.Policy.Limits().RunsPerMinute),
		Hint:         "try again later, or do more in one program",
		RetryAfterMS: wait.Milliseconds() + 1,
	})
}

func since(t time.Time) float64 { return milliseconds(time.Since(t)) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
