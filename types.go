package sandboxd

import (
	"context"
	"encoding/json"
	"fmt"
)

// DefaultSocket is where a packaged daemon listens for gateways.
const DefaultSocket = "/run/sandboxd/sandboxd.sock"

// DefaultAdminSocket is where a packaged daemon listens for administrators.
const DefaultAdminSocket = "/run/sandboxd/admin.sock"

// ProtocolVersion is the version of the gateway protocol that this package speaks.
const ProtocolVersion = "1"

// Program is one piece of model-written JavaScript and what it may use.
// The zero value of every field but Source means: as the profile says.
type Program struct {
	Source  string          `json:"source"`            // body of an async function, at most 64 KiB
	Profile string          `json:"profile,omitempty"` // name of a profile; empty: "default"
	Input   json.RawMessage `json:"input,omitempty"`   // any JSON; the program sees it as `input`
	Servers []string        `json:"servers,omitempty"` // names below `tools`; empty: all that the gateway announced
	Limits  *Limits         `json:"limits,omitempty"`  // may only lower the profile's
	Token   string          `json:"token,omitempty"`   // the gateway's own name for the run, echoed in calls and notifications

	// Progress and Console ask for run/progress and run/console notifications.
	Progress bool `json:"progress,omitempty"`
	Console  bool `json:"console,omitempty"`

	Traceparent string `json:"traceparent,omitempty"` // W3C trace context, handed on to tools/call

	// Intent is the user's request, in the user's words: what policy, the guard and people hold the calls against. It is never the
	// program, nor what a model made of the request. Constraints are what the user ruled out.
	Intent      string   `json:"intent,omitempty"`      // at most 16 KiB
	Constraints []string `json:"constraints,omitempty"` // at most 32, of 1 KiB

	// Seed and Now make a run repeatable: with both as the result of an earlier run has them, the same program that gets the same
	// answers from its tools gives the same result. Seed is where all that is random begins, Now what the clock shows first, in
	// milliseconds since 1970 as Date.now() gives them; the clock then stands still but for timers (docs/javascript.md).
	// Nil: the daemon draws a seed, and the clock shows the time.
	Seed *int64 `json:"seed,omitempty"` // 0 to MaxSeed
	Now  *int64 `json:"now,omitempty"`  // 0 to MaxNow

	TimeZone string `json:"time_zone,omitempty"` // a name of the IANA database, such as Europe/Berlin; empty: UTC
}

// Bounds on what makes a run repeatable.
const (
	MaxSeed = 1<<53 - 1       // the largest integer that every JSON reader keeps
	MaxNow  = 253402300799999 // the end of the year 9999
)

// Limits bound one run. Zero means: as the profile says. Times are milliseconds, sizes bytes.
type Limits struct {
	WallMS          int64 `json:"wall_ms,omitempty" yaml:"wall_ms,omitempty"`                   // waiting for tools included
	CPUMS           int64 `json:"cpu_ms,omitempty" yaml:"cpu_ms,omitempty"`                     // CPU time of the worker
	MemoryBytes     int64 `json:"memory_bytes,omitempty" yaml:"memory_bytes,omitempty"`         // of the worker
	Calls           int   `json:"calls,omitempty" yaml:"calls,omitempty"`                       // tool calls in all
	ConcurrentCalls int   `json:"concurrent_calls,omitempty" yaml:"concurrent_calls,omitempty"` // dispatched at once; the rest queue
	OutputBytes     int64 `json:"output_bytes,omitempty" yaml:"output_bytes,omitempty"`         // the returned value as JSON
	ConsoleBytes    int64 `json:"console_bytes,omitempty" yaml:"console_bytes,omitempty"`       // console text in all
	SourceBytes     int64 `json:"source_bytes,omitempty" yaml:"source_bytes,omitempty"`         // the program's text
	ArgumentBytes   int64 `json:"argument_bytes,omitempty" yaml:"argument_bytes,omitempty"`     // one call's arguments as JSON
	ResultBytes     int64 `json:"result_bytes,omitempty" yaml:"result_bytes,omitempty"`         // one call's result
}

// Outcome says how a run ended: OutcomeOK, or one of the kinds of failure.
type Outcome string

// The outcomes. A program can't catch the ones that are limits.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeInvalid   Outcome = "invalid"   // refused before a worker was used
	OutcomeError     Outcome = "error"     // threw, does not parse, or can never settle
	OutcomeTimeout   Outcome = "timeout"   // limit on wall clock
	OutcomeCPU       Outcome = "cpu"       // limit on CPU time
	OutcomeMemory    Outcome = "memory"    // limit on memory
	OutcomeOutput    Outcome = "output"    // limit on the size of the returned value
	OutcomeCalls     Outcome = "calls"     // limit on the number of calls
	OutcomeDenied    Outcome = "denied"    // a refused call that the program did not catch
	OutcomeViolation Outcome = "violation" // killed by seccomp, or broke the worker protocol
	OutcomeCrash     Outcome = "crash"     // the worker died of itself
	OutcomeCancelled Outcome = "cancelled" // by the gateway, or because it hung up
	OutcomeBusy      Outcome = "busy"      // no worker in time
	OutcomeInternal  Outcome = "internal"  // a fault of the daemon; details are in its log under the id
)

// CallState says what became of one tool call.
type CallState string

// The states of a call. Every call of a run is in exactly one when the run has ended.
const (
	CallNotStarted CallState = "not_started" // never sent to the gateway
	CallDenied     CallState = "denied"      // refused by the daemon
	CallSucceeded  CallState = "succeeded"
	CallFailed     CallState = "failed"
	CallUnknown    CallState = "unknown" // sent, and the run ended before an answer
)

// Result is what became of one run. It is complete on every ending.
type Result struct {
	Run       string          `json:"run"` // ULID
	Token     string          `json:"token,omitempty"`
	Outcome   Outcome         `json:"outcome"`
	Value     json.RawMessage `json:"value"`           // real JSON: a returned string stays a string; null unless ok
	Error     *Error          `json:"error,omitempty"` // unless ok
	Hint      string          `json:"hint,omitempty"`  // on ok: what the program probably meant to do
	Console   []ConsoleLine   `json:"console"`
	Truncated Truncated       `json:"truncated"`
	Calls     []Call          `json:"calls"`
	Seed      int64           `json:"seed"` // see Program
	Now       int64           `json:"now"`  // see Program
	TimeZone  string          `json:"time_zone"`
	Stats     Stats           `json:"stats"`
	Isolation Isolation       `json:"isolation"`
}

// Error tells a person or a model what went wrong and where, in the program as it was sent.
type Error struct {
	Kind    Outcome `json:"kind"`
	Message string  `json:"message"`
	Line    int     `json:"line,omitempty"`   // from 1
	Column  int     `json:"column,omitempty"` // from 1, in UTF-16 code units
	Frame   string  `json:"frame,omitempty"`  // text of that line
	Hint    string  `json:"hint,omitempty"`   // what to do instead

	RetryAfterMS int64  `json:"retry_after_ms,omitempty"` // with busy
	ID           string `json:"id,omitempty"`             // with internal: where to look in the log
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Kind, e.Message)
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)", e.Kind, e.Message, e.Line, e.Column)
}

// ConsoleLine is one console call of a program.
type ConsoleLine struct {
	Level string `json:"level"` // log, info, warn, error or debug
	Text  string `json:"text"`
}

// Truncated says what a result leaves out.
type Truncated struct {
	ConsoleLines int   `json:"console_lines,omitempty"` // lines over the limit on console text
	ConsoleBytes int64 `json:"console_bytes,omitempty"` // their size
}

// Call is one tool call of a run.
type Call struct {
	N        int       `json:"n"` // from 1; <run>/<n> is the idempotency key
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	State    CallState `json:"state"`
	Decision string    `json:"decision,omitempty"` // deny, ask or allow
	Rule     string    `json:"rule,omitempty"`     // that decided
	Verdict  string    `json:"verdict,omitempty"`  // of the guard: block, ask or allow
	Approved string    `json:"approved_by,omitempty"`
	Bytes    int64     `json:"bytes"` // size of the result handed to the program
	MS       float64   `json:"ms"`    // from dispatch to answer
	Error    string    `json:"error,omitempty"`

	// Redacted is how many secrets were taken out of its arguments and its result, as the policy wants it.
	Redacted int `json:"redacted,omitempty"`

	// Unchecked is why the arguments were not held against the schema that the gateway announced.
	Unchecked string `json:"unchecked,omitempty"`
}

// Stats are the costs of a run. Times are milliseconds.
type Stats struct {
	QueueMS    float64 `json:"queue_ms"`    // waiting for a slot
	LeaseMS    float64 `json:"lease_ms"`    // waiting for a worker
	WallMS     float64 `json:"wall_ms"`     // from lease to end, approvals apart
	CPUMS      float64 `json:"cpu_ms"`      // of the worker, its birth included
	ToolMS     float64 `json:"tool_ms"`     // with at least one call at the gateway
	ApprovalMS float64 `json:"approval_ms"` // waiting for people
	PeakMemory int64   `json:"peak_memory_bytes"`
	Warm       bool    `json:"warm"` // the worker was ready before it was asked for
}

// Isolation says which layers confined the run's worker, as they were proved, not as they were asked for.
type Isolation struct {
	Seccomp    string   `json:"seccomp"`    // "kill" with the count of filters, or "off"
	Landlock   int      `json:"landlock"`   // ABI in force; 0: off
	Cgroup     string   `json:"cgroup"`     // "off", or what it bounds
	Namespaces []string `json:"namespaces"` // those that differ from the host's
	Rlimits    []string `json:"rlimits"`    // name=value
	Verified   bool     `json:"verified"`   // what is listed was proved from inside and checked from outside
	Missing    []string `json:"missing"`    // layers that are not in force: the profile does not require them, or allow_missing waives them
}

// ToolCall is what a gateway is asked to perform.
type ToolCall struct {
	Run            string          `json:"run"`
	Token          string          `json:"token,omitempty"`
	N              int             `json:"n"`
	IdempotencyKey string          `json:"idempotency_key"` // <run>/<n>
	Server         string          `json:"server"`
	Tool           string          `json:"tool"`
	Arguments      json.RawMessage `json:"arguments"` // a JSON object
	Origin         string          `json:"origin"`    // "code": the result goes to a program, never into a context
	Trigger        string          `json:"trigger"`
	Traceparent    string          `json:"traceparent,omitempty"`
}

// ToolHandler performs one allowed tool call and returns an MCP CallToolResult as JSON. An error means
// that the call could not be made; its text reaches the program as the message of a ToolError. A tool that
// ran and failed is a CallToolResult with isError. ctx ends when the run does.
type ToolHandler func(ctx context.Context, call ToolCall) (json.RawMessage, error)

// Progress is a run/progress notification.
type Progress struct {
	Run       string  `json:"run"`
	Token     string  `json:"token,omitempty"`
	ElapsedMS float64 `json:"elapsed_ms"`
	Calls     int     `json:"calls"`    // asked for so far
	Finished  int     `json:"finished"` // of those
	Doing     string  `json:"doing"`    // "starting", "computing", "waiting for <server>.<tool>" or "waiting for approval of <server>.<tool>"
}

// Console is a run/console notification.
type Console struct {
	Run   string `json:"run"`
	Token string `json:"token,omitempty"`
	ConsoleLine
}
