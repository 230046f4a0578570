// Package wire is the protocol between the daemon and one worker, on one stream socket.
//
// Every message is a line of JSON, the header, of bounded length. Texts that can be long (a program, a
// tool result, arguments, the returned value) follow the line as raw bytes whose number the header
// announces, so that no side scans megabytes to find where a message ends.
//
//	to the worker:    gate (jail spec)   start (+ source, input, names, zone)   result (+ body)   stop
//	from the worker:  ready (report)     calls (+ arguments)       console (+ texts)   unsent   done (+ value)
package wire

import "encoding/json"

// The types of a message. A worker gets one gate and one start, and sends one ready and one done.
const (
	TypeGate    = "gate"
	TypeReady   = "ready"
	TypeStart   = "start"
	TypeCalls   = "calls"
	TypeResult  = "result"
	TypeConsole = "console"
	TypeUnsent  = "unsent"
	TypeStop    = "stop"
	TypeDone    = "done"
)

// Bounds on what either side accepts.
const (
	MaxHeader = 128 << 10 // a line
	MaxBody   = 16 << 20  // one text behind it: no limit of a profile may be larger
	MaxName   = 128       // bytes of the name of a server or a tool, as MCP asks for
	MaxCalls  = 64        // of one message: with the longest names, all escaped, they fit a line
	MaxArgs   = 1 << 20   // bytes of arguments of one message with more than one call
	MaxLines  = 1024      // of console, likewise
)

// Gate is the first message to a worker: it is in its cgroup, and may confine itself.
type Gate struct {
	Type string          `json:"type"`
	Jail json.RawMessage `json:"jail"` // a jail.Spec
}

// Ready is the worker's answer: it is jailed, and has proved it.
type Ready struct {
	Type   string          `json:"type"`
	Report json.RawMessage `json:"report"` // a jail.Report
}

// Start is the program. The source, the input, the names and the zone follow the line.
//
// The names are those of tools, as far as they are known, and aliases: text that the worker reads when the program asks
// for one. For each server that has any there is a line with its name and its aliases, separated by tabs, and then for
// each of its tools a tab, the tool's name and its aliases, likewise.
type Start struct {
	Type    string   `json:"type"`
	Source  int      `json:"source"` // bytes
	Input   int      `json:"input"`  // bytes; 0: none
	Names   int      `json:"names"`  // bytes
	Servers []string `json:"servers"`
	Limits  Limits   `json:"limits"`

	Seed  int64 `json:"seed"`  // of all that is random
	Now   int64 `json:"now"`   // what the clock shows first, in milliseconds since 1970
	Still bool  `json:"still"` // the clock does not go on by itself

	TimeZone string `json:"time_zone"` // its name
	Zone     int    `json:"zone"`      // bytes of its rules, as time.LoadLocationFromTZData takes them; 0: UTC
}

// Limits are those that the engine itself keeps, as a courtesy: it knows where in the program it is.
// The daemon keeps them again, from outside.
type Limits struct {
	Calls         int   `json:"calls"`
	OutputBytes   int64 `json:"output_bytes"`
	ConsoleBytes  int64 `json:"console_bytes"`
	ArgumentBytes int64 `json:"argument_bytes"`
	CPUMS         int64 `json:"cpu_ms"`
	MemoryBytes   int64 `json:"memory_bytes"`
}

// Result is the answer to one call. Its body follows the line.
type Result struct {
	Type string `json:"type"`
	ID   int    `json:"id"`
	Form string `json:"form"`
	Size int    `json:"size"`
	Rule string `json:"rule,omitempty"` // with FormBlocked
}

// What the body of a result is.
const (
	FormJSON    = "json"    // a JSON value
	FormAuto    = "auto"    // text, which is parsed if it is a JSON object or array
	FormFailed  = "failed"  // the message of a ToolError
	FormInvalid = "invalid" // what is wrong with the call, which was not made: a ToolError as well
	FormBlocked = "blocked" // the reason of a ToolBlocked
)

// Stop ends the run: the engine answers with a done of that kind, or is killed.
type Stop struct {
	Type    string `json:"type"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Calls are calls that the program made before it had to wait. Their arguments follow the line, one after
// the other. In an unsent message they are calls that the program made and that nobody shall perform.
type Calls struct {
	Type  string `json:"type"`
	Calls []Call `json:"calls"`
}

// Call is one tool call.
type Call struct {
	ID     int    `json:"id"` // from 1, ascending by 1
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Size   int    `json:"size"` // of its arguments, which are a JSON object
	Args   []byte `json:"-"`
}

// Console are lines that the program printed. Their texts follow the line, one after the other.
type Console struct {
	Type  string `json:"type"`
	Lines []Line `json:"lines"`
}

// Line is one console call.
type Line struct {
	Level string `json:"level"`
	Size  int    `json:"size"`
	Text  string `json:"-"`
}

// Done ends the run. The value follows the line.
type Done struct {
	Type  string `json:"type"`
	Kind  string `json:"kind"`
	Size  int    `json:"size"` // of the value, as JSON
	Error *Error `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`

	DroppedLines int   `json:"dropped_lines,omitempty"` // console over the limit
	DroppedBytes int64 `json:"dropped_bytes,omitempty"`

	Value []byte `json:"-"`
}

// Error is where and why a program failed.
type Error struct {
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Frame   string `json:"frame,omitempty"`
	Hint    string `json:"hint,omitempty"`
}
