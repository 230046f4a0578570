package main

import "github.com/sandboxd/sandboxd"

// Exit codes: one for each class of failure.
const (
	exitFailed    = 1 // sandboxctl could not do its work: no daemon, no such file, a server that does not start
	exitUsage     = 2 // the command line is wrong
	exitProgram   = 3 // the program is at fault: invalid, error
	exitLimit     = 4 // the program went over a limit: timeout, cpu, memory, output, calls
	exitDenied    = 5 // a call was refused, and the program did not catch that: denied
	exitViolation = 6 // the worker was killed by its jail, or died: violation, crash
	exitCancelled = 7
	exitBusy      = 8
	exitInternal  = 9 // a fault of the daemon
)

const exitHelp = `Exit codes:
  0  ok
  1  sandboxctl could not do its work: no daemon, no such file, a server that does not start
  2  the command line is wrong
  3  the program is at fault (invalid, error)
  4  the program went over a limit (timeout, cpu, memory, output, calls)
  5  a tool call was refused, and the program did not catch that (denied)
  6  the worker was killed by its jail, or died (violation, crash)
  7  cancelled
  8  the daemon is busy
  9  a fault of the daemon (internal)`

var exitCodes = map[sandboxd.Outcome]int{
	sandboxd.OutcomeOK:        0,
	sandboxd.OutcomeInvalid:   exitProgram,
	sandboxd.OutcomeError:     exitProgram,
	sandboxd.OutcomeTimeout:   exitLimit,
	sandboxd.OutcomeCPU:       exitLimit,
	sandboxd.OutcomeMemory:    exitLimit,
	sandboxd.OutcomeOutput:    exitLimit,
	sandboxd.OutcomeCalls:     exitLimit,
	sandboxd.OutcomeDenied:    exitDenied,
	sandboxd.OutcomeViolation: exitViolation,
	sandboxd.OutcomeCrash:     exitViolation,
	sandboxd.OutcomeCancelled: exitCancelled,
	sandboxd.OutcomeBusy:      exitBusy,
	sandboxd.OutcomeInternal:  exitInternal,
}

// programError is a run that did not end well; it has been printed.
type programError struct {
	cause *sandboxd.Error
	code  int
}

func (e *programError) Error() string { return e.cause.Error() }

func failure(r *sandboxd.Result) error {
	if r.Outcome == sandboxd.OutcomeOK {
		return nil
	}
	code, known := exitCodes[r.Outcome]
	if !known { // of a newer daemon
		code = exitFailed
	}
	return &programError{r.Error, code}
}
