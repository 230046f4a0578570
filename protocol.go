package sandboxd

import (
	"encoding/json"
	"time"
)

// InitializeParams open a connection: the first request of a gateway.
type InitializeParams struct {
	ProtocolVersion string   `json:"protocol_version"`
	Client          Peer     `json:"client"`
	Servers         []string `json:"servers,omitempty"`   // whose tools the gateway can call
	Tools           []Tool   `json:"tools,omitempty"`     // of those servers, as far as the gateway knows them
	Approvals       bool     `json:"approvals,omitempty"` // the gateway answers approvals/request
}

// Tool is one tool of a server, as a gateway announces it. A server that has a tool here has no others: what a program
// calls is looked up, and its arguments are held against the schema, before the gateway is asked. The tools of a
// server that has none here are not known, and every name goes through.
type Tool struct {
	Server       string           `json:"server"`
	Name         string           `json:"name"`
	Description  string           `json:"description,omitempty"`
	InputSchema  json.RawMessage  `json:"input_schema,omitempty"`  // JSON Schema of the arguments
	OutputSchema json.RawMessage  `json:"output_schema,omitempty"` // JSON Schema of structuredContent
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
}

// ToolAnnotations are hints of the server, named as in MCP. They are no promises. Nil: not said.
type ToolAnnotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// What a gateway may announce. A schema over MaxSchemaBytes, or that can't be used for another reason, does not keep its
// tool from being called: its arguments are not checked, and each call in the result says so.
const (
	MaxTools       = 4096    // of all servers together
	MaxToolBytes   = 4 << 20 // of their names, descriptions and schemas together
	MaxSchemaBytes = 128 << 10
)

// Peer names a program and its version.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// InitializeResult says what the daemon offers.
type InitializeResult struct {
	ProtocolVersion string        `json:"protocol_version"`
	Server          Peer          `json:"server"`
	Profiles        []ProfileInfo `json:"profiles"`
}

// ProfileInfo is one profile of the daemon.
type ProfileInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Limits      Limits `json:"limits"`

	// Isolation is what a worker of the profile was proved to have when the daemon started;
	// nil for a profile of which no worker is kept ready.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// CancelParams name the runs to end: one by its ULID, or those of a token.
type CancelParams struct {
	Run   string `json:"run,omitempty"`
	Token string `json:"token,omitempty"`
}

// CancelResult says how many runs were ended.
type CancelResult struct {
	Cancelled int `json:"cancelled"`
}

// ToolCancel is the tools/cancel notification: the run of a call has ended, and nobody waits for its answer.
type ToolCancel struct {
	Run string `json:"run"`
	N   int    `json:"n"`
}

// DescribeParams ask for announced tools as TypeScript.
type DescribeParams struct {
	Tools        []ToolName `json:"tools,omitempty"`        // which; none: all
	Declarations bool       `json:"declarations,omitempty"` // whole declarations too
}

// ToolName names a tool, or all tools of a server.
type ToolName struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"`
}

// DescribeResult has the tools in the order in which they were announced.
type DescribeResult struct {
	Tools        []DescribedTool `json:"tools"`
	Declarations string          `json:"declarations,omitempty"` // a TypeScript declaration file
}

// DescribedTool is a tool on one line of at most 300 bytes: tools.github.get_issue(args: { … }): Promise<…>.
type DescribedTool struct {
	Server    string `json:"server"`
	Tool      string `json:"tool"`
	Signature string `json:"signature"`
}

// ApprovalRequest is a call that waits for somebody's answer. All of it but the names of the run, the rule, the caller and the times is,
// or may be, the work of a program that nobody has read.
type ApprovalRequest struct {
	ID       string    `json:"id"` // of the request; nobody can guess it
	Run      string    `json:"run"`
	Token    string    `json:"token,omitempty"` // of the run; for its gateway only
	N        int       `json:"n"`
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	Rule     string    `json:"rule,omitempty"`     // that asks
	Reasons  []string  `json:"reasons,omitempty"`  // why
	Evidence []string  `json:"evidence,omitempty"` // what the arguments carry of earlier results
	Task     string    `json:"task,omitempty"`     // the user's request, as the gateway told it
	Caller   string    `json:"caller"`             // whose run it is, by the kernel's account
	Asked    time.Time `json:"asked_at"`
	Expires  time.Time `json:"expires_at"` // then the call is denied
	Bytes    int       `json:"arguments_bytes"`
	// Arguments are the bytes that will be sent. In a list they are absent where they are long, and Start is their beginning.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Start     string          `json:"arguments_start,omitempty"`
}

// The scopes of an answer.
const (
	ScopeCall = "call" // that call
	ScopeRun  = "run"  // and each call of the same tool with the same arguments, for the rest of the run
)

// ApprovalAnswer is what a gateway says to an ApprovalRequest.
type ApprovalAnswer struct {
	Approve bool   `json:"approve"`
	Scope   string `json:"scope,omitempty"`  // ScopeCall, the default, or ScopeRun
	Reason  string `json:"reason,omitempty"` // for the program, and for the audit: at most MaxReasonBytes
}

// MaxReasonBytes bounds the reason of an answer.
const MaxReasonBytes = 1 << 10

// ApprovalCancel is the approvals/cancel notification: nobody waits for a gateway's answer to this request any more.
type ApprovalCancel struct {
	ID string `json:"id"`
}

// ApprovalList has what waits, the oldest first. Texts are cut in it.
type ApprovalList struct {
	Approvals []ApprovalRequest `json:"approvals"`
	More      int               `json:"more,omitempty"` // that wait as well, and that the answer had no room for
}

// ShowParams ask for one request, whole.
type ShowParams struct {
	ID string `json:"id"`
}

// DecideParams answer a request.
type DecideParams struct {
	ID      string `json:"id"`
	Approve bool   `json:"approve"`
	Scope   string `json:"scope,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// DecideResult is the answer as it counts.
type DecideResult struct {
	ID      string `json:"id"`
	Approve bool   `json:"approve"`
	Scope   string `json:"scope"`
	By      string `json:"by"` // who gave it, by the kernel's account
}

// StatusResult is the daemon's state.
type StatusResult struct {
	Version string       `json:"version"`
	Running int          `json:"running"`
	Waiting int          `json:"waiting"`
	Pool    []PoolStatus `json:"pool"`

	Deciding *Deciding `json:"deciding,omitempty"` // for administrators only
	Serving  *Serving  `json:"serving,omitempty"`  // for administrators only
}

// Deciding is the state of what decides on calls.
type Deciding struct {
	Approvals int          `json:"approvals"` // calls that wait for one
	Policy    PolicyStatus `json:"policy"`
	Guard     *GuardStatus `json:"guard"` // nil: there is none
	Audit     *AuditStatus `json:"audit"` // nil: nothing is recorded
}

// PolicyStatus is the policy that programs get which begin now.
type PolicyStatus struct {
	File  string    `json:"file"` // or directory
	Hash  string    `json:"hash"`
	Rules int       `json:"rules"` // and flows
	Since time.Time `json:"since"` // it is in force

	Failing string `json:"failing,omitempty"` // why the last reload left it in force
}

// GuardStatus is how it goes with the guard.
type GuardStatus struct {
	By       string      `json:"by"`                // where it is
	Breaker  string      `json:"breaker"`           // closed: it is asked; open: it is not, until NextTry; half-open: one check tries it
	Failures int         `json:"failures"`          // in a row
	Since    time.Time   `json:"since,omitzero"`    // of the first of them
	NextTry  time.Time   `json:"next_try,omitzero"` // when open
	InFlight int         `json:"in_flight"`         // requests
	Batches  bool        `json:"batches"`           // checks share requests
	Last     string      `json:"last_error,omitempty"`
	LastAt   time.Time   `json:"last_error_at,omitzero"`
	Counts   GuardCounts `json:"counts"` // since the daemon's start
}

// GuardCounts add up: Checks is the sum of the five after it.
type GuardCounts struct {
	Checks      uint64 `json:"checks"`
	Allow       uint64 `json:"allow"`
	Ask         uint64 `json:"ask"`
	Block       uint64 `json:"block"`
	Unavailable uint64 `json:"unavailable"` // there was no verdict
	GivenUp     uint64 `json:"given_up"`    // nobody waited for one any more
	Requests    uint64 `json:"requests"`
	Retries     uint64 `json:"retries"` // of the requests
	Batches     uint64 `json:"batches"` // of the requests
}

// AuditStatus is how it goes with the audit log.
type AuditStatus struct {
	File    string `json:"file"`
	Failing string `json:"failing,omitempty"` // why nothing can be written, and so each call is refused
	Events  int64  `json:"events"`            // written since the daemon's start
	Refused int64  `json:"refused"`           // that could not be
	Dropped int64  `json:"dropped"`           // by the journal; the file has them
}

// PoolStatus is the state of one profile's workers.
type PoolStatus struct {
	Profile string `json:"profile"`
	Size    int    `json:"size"`              // to be ready
	Ready   int    `json:"ready"`             // that are
	Failing string `json:"failing,omitempty"` // why the last birth failed
}

// Serving is whom the daemon serves, and with what. What adds up does so since the daemon's start.
type Serving struct {
	Gateways int            `json:"gateways"` // that are connected
	Callers  []CallerStatus `json:"callers"`  // that have a run, or wait for one
	Leases   []LeaseStatus  `json:"leases"`   // of each profile's workers
	Ended    []Tally        `json:"ended"`    // runs, by their outcome
	Calls    []Tally        `json:"calls"`    // of the runs that have ended, by their state
	Recent   []RunSummary   `json:"recent"`   // the runs that ended last, the newest first
}

// CallerStatus is one who has runs.
type CallerStatus struct {
	Caller string `json:"caller"` // by the kernel's account
	Runs   int    `json:"runs"`   // and those that wait to be one
}

// LeaseStatus is what became of one profile's workers.
type LeaseStatus struct {
	Profile   string     `json:"profile"`
	Leased    int        `json:"leased"`              // have a run now
	Warm      int64      `json:"warm"`                // were ready before they were asked for
	Cold      int64      `json:"cold"`                // were waited for
	Isolation *Isolation `json:"isolation,omitempty"` // as in initialize
}

// Tally is how many there are of something.
type Tally struct {
	Of string `json:"of"`
	N  int64  `json:"n"`
}

// RunSummary is a run in a list: one that goes on, or one of the last that have ended.
type RunSummary struct {
	Run       string    `json:"run"`
	Caller    string    `json:"caller"`            // by the kernel's account
	Gateway   string    `json:"gateway,omitempty"` // as it calls itself
	Profile   string    `json:"profile"`
	Began     time.Time `json:"began_at"` // when it was asked for
	ElapsedMS float64   `json:"elapsed_ms"`
	Outcome   Outcome   `json:"outcome,omitempty"` // absent: it goes on
	Doing     string    `json:"doing,omitempty"`   // if it does
	Calls     int       `json:"calls"`
	Out       int       `json:"out"` // of these, at the gateway
	Failed    int       `json:"failed"`
	Denied    int       `json:"denied"`
}

// RunsParams ask for a list of runs.
type RunsParams struct {
	Limit int `json:"limit,omitempty"` // the most that are listed, up to MaxRuns; 0: MaxRuns
}

// MaxRuns is how many runs a list has at most.
const MaxRuns = 512

// RunList has the runs that go on, the oldest first, and then those that ended last, the newest first.
type RunList struct {
	Runs []RunSummary `json:"runs"`
	More int          `json:"more,omitempty"` // that the daemon knows as well
}

// ShowRunParams ask for one run.
type ShowRunParams struct {
	Run string `json:"run"`
}

// RunReport is all that the daemon remembers of a run: nothing of what its program, arguments, results and errors say.
type RunReport struct {
	RunSummary
	Stats    Stats        `json:"stats"` // all zero while it goes on
	Timeline []CallReport `json:"timeline"`
	More     int          `json:"more,omitempty"` // calls after those
}

// CallReport is one call of a run, with its times.
type CallReport struct {
	N        int       `json:"n"`
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	State    CallState `json:"state"`
	Waits    string    `json:"waits_for,omitempty"` // while the run goes on: turn, guard, approval or tool
	Decision string    `json:"decision,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"` // of the decision, where its words can't quote arguments
	Verdict  string    `json:"verdict,omitempty"`
	Approved string    `json:"approved_by,omitempty"`
	// Class is what refused it (deny, check, limit, policy, guard, approval, audit), or what failed: the tool, by its own or its gateway's
	// word, or the gateway, which could not be asked or gave no answer that can be used.
	Class    string  `json:"class,omitempty"`
	AtMS     float64 `json:"at_ms"` // when the program asked for it
	Guard    *Span   `json:"guard,omitempty"`
	Approval *Span   `json:"approval,omitempty"`
	Sent     *Span   `json:"sent,omitempty"` // from dispatch to answer
	Bytes    int64   `json:"bytes"`          // of the result
}

// Span is a time within a run, counted from its beginning. One that goes on is counted until now.
type Span struct {
	AtMS float64 `json:"at_ms"`
	MS   float64 `json:"ms"`
}
