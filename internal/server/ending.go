package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/oklog/ulid/v2"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/broker"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// broken ends a run that the worker did not end by its own word. The worker is killed first, so that what is
// said of it is final.
func (r *run) broken(ctx context.Context, err error) {
	exit, buried := r.worker.Close()
	r.result.Stats.CPUMS = float64(exit.CPUMicros) / 1000
	r.result.Stats.PeakMemory = exit.PeakMemory
	limit := r.watcher.asked()
	errors.As(context.Cause(ctx), &limit)
	var fault *faultError
	switch {
	case errors.As(context.Cause(ctx), &fault):
		r.log.Error("a run failed", "run", r.account.ID, "error", fault)
		r.internal()
	case limit != nil:
		r.end(limit.kind, &sandboxd.Error{Message: limit.message, Hint: limit.hint})
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), wire.ErrProtocol):
		r.cancelled(ctx)
	case errors.Is(err, io.EOF) && buried == nil:
		r.died(exit)
	case errors.Is(err, io.EOF):
		r.log.Error("a run failed", "run", r.account.ID, "error", buried)
		r.internal()
	case errors.Is(err, wire.ErrProtocol):
		r.log.Warn("worker broke the protocol", "run", r.account.ID, "uid", r.caller.UID, "error", err)
		r.end(sandboxd.OutcomeViolation, &sandboxd.Error{Message: "the worker broke its protocol and was killed: the program took it over"})
	default:
		r.log.Error("a run failed", "run", r.account.ID, "error", err)
		r.internal()
	}
}

// faultError is the cause with which a run's context ends for a fault of the daemon.
type faultError struct{ error }

// died says what a worker's death means.
func (r *run) died(exit nursery.Exit) {
	r.log.Warn("worker died", "run", r.account.ID, "uid", r.caller.UID,
		"code", exit.Code, "signal", exit.Signal, "stderr", firstLine(exit.Stderr))
	switch {
	case exit.OOM:
		r.end(sandboxd.OutcomeMemory, r.overMemory())
	case exit.Signal == int(syscall.SIGSYS):
		call := r.kernel.forbidden(r.worker.PID())
		r.log.Warn("forbidden system call", "run", r.account.ID, "uid", r.caller.UID, "syscall", call)
		if call != "" {
			call = " (" + call + ")"
		}
		r.end(sandboxd.OutcomeViolation, &sandboxd.Error{Message: "the worker made a forbidden system call" + call + " and was killed by seccomp"})
	case strings.Contains(exit.Stderr, "stack exceeds"):
		r.end(sandboxd.OutcomeError, &sandboxd.Error{
			Message: "too deeply nested: the worker's stack is exhausted",
			Hint:    "recurse less deeply, or use a loop with a list of what is left to do",
		})
	case strings.Contains(exit.Stderr, "out of memory"), strings.Contains(exit.Stderr, "cannot allocate memory"):
		r.end(sandboxd.OutcomeMemory, r.overMemory())
	case exit.Signal == int(syscall.SIGXCPU), exit.Signal == int(syscall.SIGKILL) && exit.CPUMicros/1000 >= r.limits.CPUMS:
		r.end(sandboxd.OutcomeCPU, &sandboxd.Error{Message: cpuMessage(r.limits), Hint: cpuHint})
	default:
		r.end(sandboxd.OutcomeCrash, &sandboxd.Error{
			Message: "the worker died of itself (" + describe(exit) + ")",
			Hint:    "nothing is known to be wrong with the program; write what it does in another way",
		})
	}
}

func (r *run) overMemory() *sandboxd.Error {
	return &sandboxd.Error{
		Message: fmt.Sprintf("the program used more than its %d bytes of memory", r.limits.MemoryBytes),
		Hint:    "work through the data in smaller parts, and keep only what the answer needs",
	}
}

func describe(exit nursery.Exit) string {
	if exit.Signal != 0 {
		return "signal " + syscall.Signal(exit.Signal).String()
	}
	return fmt.Sprintf("exit code %d", exit.Code)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (r *run) overCalls(err error) {
	var limit *broker.LimitError
	if !errors.As(err, &limit) {
		r.log.Error("a run failed", "run", r.account.ID, "error", err)
		r.internal()
		return
	}
	r.end(sandboxd.OutcomeCalls, &sandboxd.Error{Message: limit.Error(), Hint: "ask tools for more at once, and stop when there is enough"})
}

func (r *run) cancelled(ctx context.Context) {
	message := errHungUp.Error()
	if cause := context.Cause(ctx); errors.Is(cause, errCancelled) || errors.Is(cause, errShutdown) {
		message = cause.Error()
	}
	r.end(sandboxd.OutcomeCancelled, &sandboxd.Error{Message: message})
}

// internal ends a run for a fault of ours: what it was is in the log only, under the run and an opaque id.
func (r *run) internal() {
	id := ulid.Make().String()
	r.log.Error("internal fault", "run", r.account.ID, "id", id)
	r.end(sandboxd.OutcomeInternal, &sandboxd.Error{Message: "the daemon failed; its log has more under " + id, ID: id})
}
