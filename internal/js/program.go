package js

import "time"

// Program is what one engine runs.
type Program struct {
	Source  string   // body of an async function
	Input   []byte   // JSON text, seen as `input`; empty: `input` is undefined
	Servers []string // names below `tools`
	Names   string   // other names of servers, and tools as far as they are known, in the form of wire.Start
	Limits  Limits

	Seed  int64     // of all that is random
	Now   time.Time // what the clock shows first; zero: the process's time
	Still bool      // the clock does not go on by itself: see clock

	Zone *time.Location // local time, for the whole process; nil: as it is, UTC at first
}

// Limits bound one run. A program can't catch any of them but ArgumentBytes. The zero value of a field means
// that of DefaultLimits, so that no bound is lost by forgetting one; a negative Calls allows no call at all.
type Limits struct {
	Calls         int           // tool calls in all
	OutputBytes   int64         // the returned value as JSON
	ConsoleBytes  int64         // console text in all, one byte a line included; what is over is dropped and counted
	ArgumentBytes int64         // one call's arguments as JSON
	CPU           time.Duration // CPU time of the process since Run began
	MemoryBytes   int64         // live Go heap and stacks of the process
}

// DefaultLimits are those of the default profile.
var DefaultLimits = Limits{
	Calls:         32,
	OutputBytes:   64 << 10,
	ConsoleBytes:  4 << 10,
	ArgumentBytes: 256 << 10,
	CPU:           5 * time.Second,
	MemoryBytes:   256 << 20,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	fill(&l.Calls, d.Calls)
	fill(&l.OutputBytes, d.OutputBytes)
	fill(&l.ConsoleBytes, d.ConsoleBytes)
	fill(&l.ArgumentBytes, d.ArgumentBytes)
	fill(&l.CPU, d.CPU)
	fill(&l.MemoryBytes, d.MemoryBytes)
	return l
}

func fill[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Host is what an engine asks of the process around it. Calls and Console run on Run's goroutine and must
// not wait for anything that comes through Deliver.
type Host struct {
	// Calls takes every call that was made until the program had nothing left to do but wait. Their ids
	// ascend from 1 over the whole run, and a batch is complete: it is taken whole or never sent.
	Calls func([]Call)

	// Console takes lines while the program is still running. The last ones are in Outcome.Lines.
	Console func([]Line)

	// Abandon is called on a goroutine of its own when the program was stopped and native code did not
	// give way within the grace. It must end the process and not return: Run is then stuck for good.
	// The outcome has no position, as the program's stack can't be read while it runs.
	Abandon func(Outcome)
}

// Call is one tool call of the program.
type Call struct {
	ID     int // from 1
	Server string
	Tool   string
	Args   []byte // a JSON object; nil in Outcome.Unsent
}

// Form says how the body of an answer becomes a value.
type Form int

const (
	Failed  Form = iota // Body is a message: the call rejects with a ToolError
	Invalid             // Body says what is wrong with the call, which was not made: it rejects with a ToolError
	Blocked             // the call rejects with a ToolBlocked
	JSON                // Body is JSON text
	Auto                // Body is JSON text if it is a whole object or array, else it is the string itself
)

// Answer settles one call. The engine owns Body from then on.
type Answer struct {
	ID   int
	Form Form
	Body []byte

	// Of Blocked: the tool as the policy names it, the rule that refused, and why.
	Tool, Rule, Reason string
}

// Line is what one console call wrote. Text may contain line breaks.
type Line struct {
	Level string // log, info, warn, error or debug
	Text  string
}

// The kinds of outcome that this package gives; Stop may add others.
const (
	KindOK     = "ok"
	KindError  = "error"  // threw, does not parse, or can never settle
	KindCPU    = "cpu"    // limit on CPU time
	KindMemory = "memory" // limit on memory
	KindOutput = "output" // limit on the size of the returned value
	KindCalls  = "calls"  // limit on the number of calls
	KindDenied = "denied" // a ToolBlocked that the program did not catch
	KindCrash  = "crash"  // a fault of the interpreter
)

// Outcome says how a run ended.
type Outcome struct {
	Kind  string
	Value []byte // JSON text of the returned value; nil unless ok
	Error *Error // nil if ok
	Hint  string // on ok: what the program probably meant to do

	Lines        []Line // console lines that were not handed to Host.Console
	DroppedLines int    // console lines over the limit, left out whole
	DroppedBytes int64  // console text over the limit

	Unsent  []Call // made by the program, never handed to Host.Calls
	Pending []Call // handed to Host.Calls and not answered when the run ended
}

// Error says what went wrong and where, in the program as it was sent.
type Error struct {
	Message string
	Line    int    // from 1; 0: not known
	Column  int    // from 1, in UTF-16 code units
	Frame   string // text of that line, clipped around the column
	Hint    string // what to do instead
}
