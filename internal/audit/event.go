package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is one of the structs below, and nothing else.
type Event interface {
	kind() string
	bounded() Event // a copy that fits a line
}

// The kinds of events, as they stand in a line.
const (
	KindRunStart        = "run.start"
	KindRunEnd          = "run.end"
	KindCallIntent      = "call.intent"
	KindCallOutcome     = "call.outcome"
	KindCallDenied      = "call.denied"
	KindApprovalRequest = "approval.request"
	KindApprovalAnswer  = "approval.answer"
	KindPolicyLoad      = "policy.load"
	KindDaemonStart     = "daemon.start"
	KindDaemonStop      = "daemon.stop"
	KindCreate          = "audit.create"
	KindRotate          = "audit.rotate"
	KindOpen            = "audit.open"
	KindDelete          = "audit.delete"
	KindRepair          = "audit.repair"
	KindRecovered       = "audit.recovered"
)

// Peer is who the kernel says is at the other end of a socket.
type Peer struct {
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	PID  int32  `json:"pid"`
	Unit string `json:"unit,omitempty"` // of the service manager, by the peer's cgroup
}

// RunStart is written before a program gets a worker.
type RunStart struct {
	Run     string          `json:"run"`
	Caller  Peer            `json:"caller"`
	Gateway string          `json:"gateway,omitempty"` // the name that it gave itself: a claim
	Profile string          `json:"profile"`
	Policy  string          `json:"policy,omitempty"` // hash of the policy that the run keeps to its end
	Program Payload         `json:"program"`          // made by Plain: whoever has the program can find its runs
	Intent  *Payload        `json:"intent,omitempty"` // the user's request
	Limits  json.RawMessage `json:"limits,omitempty"`
}

// RunEnd is written when nothing of the run is dispatched any more.
type RunEnd struct {
	Run     string         `json:"run"`
	Outcome string         `json:"outcome"`
	Calls   map[string]int `json:"calls,omitempty"` // by state
	Usage   Usage          `json:"usage"`
}

// Usage is what a run took.
type Usage struct {
	Wall       time.Duration `json:"wall_ns"`
	CPU        time.Duration `json:"cpu_ns"`
	Tools      time.Duration `json:"tools_ns"`
	Approvals  time.Duration `json:"approvals_ns"`
	PeakMemory int64         `json:"peak_memory_bytes"`
}

// Call names one call of a run.
type Call struct {
	Run    string `json:"run"`
	N      int    `json:"n"`
	Server string `json:"server"`
	Tool   string `json:"tool"` // its real name, whatever alias the program used
}

// Judgement is why a call may be made, or not.
type Judgement struct {
	Arguments Payload    `json:"arguments"`
	Decision  string     `json:"decision"` // of the policy: deny, ask or allow
	Rule      string     `json:"rule,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Guard     *Verdict   `json:"guard,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Labels    []string   `json:"labels,omitempty"` // of the rule
	Trigger   string     `json:"trigger,omitempty"`
	Seen      *Seen      `json:"seen,omitempty"` // nil: it is not known
}

// Seen is what policy saw when it decided on a call, as far as the other lines do not tell. Their order tells little: a decision comes
// before its line, and a result reaches the program before its outcome is written.
type Seen struct {
	Denied      int64           `json:"denied"`      // calls of the run that had been refused
	Pending     []int           `json:"pending"`     // calls of the run before this one that had no answer yet
	Annotations map[string]bool `json:"annotations"` // what the server says of the tool
}

// Verdict is the guard's answer.
type Verdict struct {
	Verdict string        `json:"verdict"`
	Source  string        `json:"source,omitempty"` // what judged, or why nobody did
	Latency time.Duration `json:"latency_ns"`
}

// Approval is the answer to an ask.
type Approval struct {
	ID string `json:"id"`
	By *Peer  `json:"by,omitempty"` // nil: it expired
}

// Evidence is that an argument carries material from an earlier result.
type Evidence struct {
	Argument   string `json:"argument"` // its path
	Call       int    `json:"call"`     // whose result it was
	Tool       string `json:"tool"`
	Characters int    `json:"characters"`
}

// CallIntent is written before a call goes to the gateway. Each gets a CallOutcome: when the daemon dies between the
// two, the next one writes state unknown.
type CallIntent struct {
	Call
	Judgement
	IdempotencyKey string `json:"idempotency_key"`
}

// CallDenied is a call that was refused, and not sent.
type CallDenied struct {
	Call
	Judgement
	By string `json:"by"` // what refused it: deny, limit, policy, guard, approval
}

// CallOutcome is what became of a call that was sent, or was to be.
type CallOutcome struct {
	Run      string        `json:"run"`
	N        int           `json:"n"`
	State    string        `json:"state"` // succeeded, failed, unknown, denied or not_started
	Result   *Payload      `json:"result,omitempty"`
	Reason   string        `json:"reason,omitempty"` // never the tool's own words: those are in Result
	Duration time.Duration `json:"duration_ns"`
}

// ApprovalRequest is a call that waits for an answer.
type ApprovalRequest struct {
	ID string `json:"id"`
	Call
	Arguments Payload   `json:"arguments"`
	Reason    string    `json:"reason,omitempty"`
	Expires   time.Time `json:"expires"`
}

// ApprovalAnswer is that answer.
type ApprovalAnswer struct {
	ID     string `json:"id"`
	Run    string `json:"run"`
	N      int    `json:"n"`
	Answer string `json:"answer"`          // approved, denied or expired
	Scope  string `json:"scope,omitempty"` // call, or run: the same tool and arguments for its rest
	By     *Peer  `json:"by,omitempty"`    // nil: it expired
	Reason string `json:"reason,omitempty"`
}

// PolicyLoad is a policy that holds from here on, or that was refused.
type PolicyLoad struct {
	File   string `json:"file"`
	Policy string `json:"policy,omitempty"` // its hash
	Rules  int    `json:"rules"`
	By     *Peer  `json:"by,omitempty"`    // who asked for it; nil: the start, or a signal
	Error  string `json:"error,omitempty"` // then the old one holds
}

// DaemonStart is the daemon's first event.
type DaemonStart struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// DaemonStop is its last one: a DaemonStart without one before it follows a crash, or lines that were cut off.
type DaemonStop struct {
	Reason string `json:"reason,omitempty"`
}

// created is the first line of a log.
type created struct {
	Format int    `json:"format"`
	Key    string `json:"key"` // names the key of its hashes
}

// rotated is the first line of each further file.
type rotated struct {
	Format   int    `json:"format"`
	Key      string `json:"key"`
	Previous string `json:"previous"` // file
	Reason   string `json:"reason"`
}

// open is written after that, if there are such calls.
type open struct {
	Calls []string `json:"calls"` // RUN/N of those without an outcome yet
}

// deleted is written before a file is.
type deleted struct {
	File  string `json:"file"`
	First uint64 `json:"first"` // line in it
	Bytes int64  `json:"bytes"`
	Error string `json:"error,omitempty"` // it could not be, and is there still
}

// repaired is damage that was found.
type repaired struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"` // of those bytes
	Kept   string `json:"kept,omitempty"`   // file that they are in now
	Reason string `json:"reason"`
}

// recovered ends a time in which nothing could be written.
type recovered struct {
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
	Refused int64     `json:"refused"` // events
}

func (RunStart) kind() string        { return KindRunStart }
func (RunEnd) kind() string          { return KindRunEnd }
func (CallIntent) kind() string      { return KindCallIntent }
func (CallOutcome) kind() string     { return KindCallOutcome }
func (CallDenied) kind() string      { return KindCallDenied }
func (ApprovalRequest) kind() string { return KindApprovalRequest }
func (ApprovalAnswer) kind() string  { return KindApprovalAnswer }
func (PolicyLoad) kind() string      { return KindPolicyLoad }
func (DaemonStart) kind() string     { return KindDaemonStart }
func (DaemonStop) kind() string      { return KindDaemonStop }
func (created) kind() string         { return KindCreate }
func (rotated) kind() string         { return KindRotate }
func (open) kind() string            { return KindOpen }
func (deleted) kind() string         { return KindDelete }
func (repaired) kind() string        { return KindRepair }
func (recovered) kind() string       { return KindRecovered }

// durable says whether an event must be on disk before its writer goes on, with sync: mutations. What is not is still written: only
// a crash of the whole machine can lose it, and then no call was sent because of it.
func durable(e Event) bool {
	switch e := e.(type) {
	case CallIntent: // a label that says that it writes, too, outweighs
		return !slices.Contains(e.Labels, "read") || slices.Contains(e.Labels, "write")
	case PolicyLoad, DaemonStart, DaemonStop, ApprovalAnswer:
		return true
	}
	return false
}

// Bounds of what stands in a line.
const (
	maxName   = 256      // bytes of a name
	maxText   = 1 << 10  // of a sentence
	maxStored = 16 << 10 // of a payload
	maxList   = 32       // items
)

// cut shortens a text, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (cut from %d bytes)", len(text))
}

func name(text string) string     { return cut(text, maxName) }
func sentence(text string) string { return cut(text, maxText) }

func (e RunStart) bounded() Event {
	e.Run, e.Gateway, e.Profile, e.Policy = name(e.Run), name(e.Gateway), name(e.Profile), name(e.Policy)
	e.Caller, e.Program, e.Intent = e.Caller.bounded(), e.Program.bounded(), bounded(e.Intent, Payload.bounded)
	return e
}

func (e RunEnd) bounded() Event {
	e.Run, e.Outcome = name(e.Run), name(e.Outcome)
	return e
}

func (e CallIntent) bounded() Event {
	e.Call, e.Judgement, e.IdempotencyKey = e.Call.bounded(), e.Judgement.bounded(), name(e.IdempotencyKey)
	return e
}

func (e CallDenied) bounded() Event {
	e.Call, e.Judgement, e.By = e.Call.bounded(), e.Judgement.bounded(), name(e.By)
	return e
}

func (e CallOutcome) bounded() Event {
	e.Run, e.State, e.Reason, e.Result = name(e.Run), name(e.State), sentence(e.Reason), bounded(e.Result, Payload.bounded)
	return e
}

func (e ApprovalRequest) bounded() Event {
	e.ID, e.Call, e.Arguments, e.Reason = name(e.ID), e.Call.bounded(), e.Arguments.bounded(), sentence(e.Reason)
	return e
}

func (e ApprovalAnswer) bounded() Event {
	e.ID, e.Run, e.Answer, e.Scope = name(e.ID), name(e.Run), name(e.Answer), name(e.Scope)
	e.By, e.Reason = bounded(e.By, Peer.bounded), sentence(e.Reason)
	return e
}

func (e PolicyLoad) bounded() Event {
	e.File, e.Policy, e.By, e.Error = sentence(e.File), name(e.Policy), bounded(e.By, Peer.bounded), sentence(e.Error)
	return e
}

func (e DaemonStart) bounded() Event { e.Version = name(e.Version); return e }
func (e DaemonStop) bounded() Event  { e.Reason = sentence(e.Reason); return e }
func (e created) bounded() Event     { return e }
func (e rotated) bounded() Event     { e.Reason = sentence(e.Reason); return e }
func (e open) bounded() Event        { return e }
func (e deleted) bounded() Event     { e.Error = sentence(e.Error); return e }
func (e repaired) bounded() Event    { e.Reason = sentence(e.Reason); return e }
func (e recovered) bounded() Event   { e.Reason = sentence(e.Reason); return e }

func (p Peer) bounded() Peer { p.Unit = name(p.Unit); return p }

func (c Call) bounded() Call {
	c.Run, c.Server, c.Tool = name(c.Run), name(c.Server), name(c.Tool)
	return c
}

func (j Judgement) bounded() Judgement {
	j.Decision, j.Rule, j.Reason, j.Trigger = name(j.Decision), name(j.Rule), sentence(j.Reason), name(j.Trigger)
	j.Arguments, j.Guard, j.Approval = j.Arguments.bounded(), bounded(j.Guard, Verdict.bounded), bounded(j.Approval, Approval.bounded)
	j.Evidence, j.Labels = slices.Clone(j.Evidence), slices.Clone(j.Labels)
	j.Evidence = first(j.Evidence, func(dropped int) Evidence { return Evidence{Argument: dropNote(dropped)} })
	for i, e := range j.Evidence {
		j.Evidence[i].Argument, j.Evidence[i].Tool = name(e.Argument), name(e.Tool)
	}
	if j.Seen != nil && (len(j.Seen.Pending) > maxList || len(j.Seen.Annotations) > maxList) {
		j.Seen = nil // a part of it would say that the rest was not so
	}
	j.Labels = first(j.Labels, dropNote)
	for i, l := range j.Labels {
		j.Labels[i] = name(l)
	}
	return j
}

func (v Verdict) bounded() Verdict {
	v.Verdict, v.Source = name(v.Verdict), sentence(v.Source)
	return v
}

func (a Approval) bounded() Approval {
	a.ID, a.By = name(a.ID), bounded(a.By, Peer.bounded)
	return a
}

// bounded is a bounded copy of what may be missing.
func bounded[T any](v *T, bound func(T) T) *T {
	if v == nil {
		return nil
	}
	b := bound(*v)
	return &b
}

// first shortens a list, and says so in an item of its own.
func first[T any](list []T, note func(dropped int) T) []T {
	if len(list) <= maxList {
		return list
	}
	return append(list[:maxList], note(len(list)-maxList))
}

func dropNote(dropped int) string { return fmt.Sprintf("… (%d more)", dropped) }
