package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/docker/go-units"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// auditEvent is a line of the log with the fields that are shown or looked for; which ones it has depends on its kind.
type auditEvent struct {
	audit.Record `json:"-"`

	Run       string
	N         int
	Server    string
	Tool      string
	Caller    *audit.Peer
	Profile   string
	Gateway   string
	Program   *audit.Payload
	Arguments *audit.Payload
	Result    *audit.Payload
	Decision  string
	Rule      string
	Reason    string
	Guard     *audit.Verdict
	Approval  *audit.Approval
	Evidence  []audit.Evidence
	Labels    []string
	By        json.RawMessage // a word, or a peer
	State     string
	Duration  time.Duration `json:"duration_ns"`
	Outcome   string
	Calls     map[string]int
	Usage     audit.Usage
	ID        string
	Answer    string
	Scope     string
	File      string
	Policy    string
	Rules     int
	Error     string
	Version   string
	PID       int
	Previous  string
	Bytes     int64
	Refused   int64
}

// readEvent reads a line. One whose fields are not those of its kind must not hide the ones after it.
func readEvent(r audit.Record) auditEvent {
	var e auditEvent
	if err := r.Decode(&e); err != nil {
		e.Error = "its fields can't be read: " + err.Error()
	}
	e.Record = r
	return e
}

// subject is the call, or the run, or nothing.
func (e auditEvent) subject() string {
	switch {
	case e.Run == "":
		return ""
	case e.N > 0:
		return e.Run + "/" + strconv.Itoa(e.N)
	}
	return e.Run
}

func (e auditEvent) tool() string {
	if e.Tool == "" {
		return ""
	}
	return e.Server + "." + e.Tool
}

// describe says in words what an event tells of, its run apart.
func (e auditEvent) describe(p palette) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch e.Kind {
	case audit.KindRunStart:
		say("by %s, profile %s", peer(e.Caller), e.Profile)
		if e.Gateway != "" {
			say("gateway %q", e.Gateway)
		}
		say("program %s", size(e.Program))
	case audit.KindRunEnd:
		say("%s", p.word(e.Outcome))
		for _, state := range []string{"succeeded", "failed", "denied", "unknown", "not_started"} {
			if n := e.Calls[state]; n > 0 {
				say("%d %s", n, strings.ReplaceAll(state, "_", " "))
			}
		}
		say("%s, CPU %s", short(e.Usage.Wall), short(e.Usage.CPU))
	case audit.KindCallIntent, audit.KindCallDenied:
		parts = e.judgement(p)
	case audit.KindCallOutcome:
		say("%s", p.word(e.State))
		if e.Result != nil {
			say("result %s", size(e.Result))
		}
		if e.Duration > 0 {
			say("%s", short(e.Duration))
		}
	case audit.KindApprovalRequest:
		say("%s asks, id %s; arguments %s", e.tool(), e.ID, size(e.Arguments))
	case audit.KindApprovalAnswer:
		say("%s, id %s", p.word(e.Answer), e.ID)
		if e.Scope != "" {
			say("for this %s", e.Scope)
		}
		say("by %s", e.by())
	case audit.KindPolicyLoad:
		say("%s, %d rules", e.File, e.Rules)
	case audit.KindDaemonStart:
		say("version %s, pid %d", e.Version, e.PID)
	case audit.KindRotate:
		say("goes on from %s", e.Previous)
	case audit.KindDelete, audit.KindRepair:
		say("%s, %d bytes", e.File, e.Bytes)
	case audit.KindRecovered:
		say("%d events were refused", e.Refused)
	}
	if e.Reason != "" {
		say("%s", e.Reason)
	}
	if e.Error != "" {
		say("error: %s", e.Error)
	}
	return strings.Join(parts, "; ")
}

func (e auditEvent) judgement(p palette) []string {
	parts := []string{e.tool() + ": " + p.word(e.Decision)}
	if e.Kind == audit.KindCallDenied {
		parts[0] = e.tool() + ": " + p.word("denied") + " by " + e.by()
	}
	if e.Rule != "" {
		parts = append(parts, fmt.Sprintf("rule %q", e.Rule))
	}
	if g := e.Guard; g != nil {
		parts = append(parts, fmt.Sprintf("guard %s (%s)", p.word(g.Verdict), short(g.Latency)))
	}
	if a := e.Approval; a != nil {
		parts = append(parts, fmt.Sprintf("approval %s by %s", a.ID, peer(a.By)))
	}
	parts = append(parts, "arguments "+size(e.Arguments))
	for _, v := range e.Evidence {
		parts = append(parts, fmt.Sprintf("%s carries %d characters of call %d, %s", v.Argument, v.Characters, v.Call, v.Tool))
	}
	return parts
}

// by is who answered, or what refused.
func (e auditEvent) by() string {
	var word string
	var who *audit.Peer
	if json.Unmarshal(e.By, &word) == nil && word != "" {
		return printable(word)
	}
	if len(e.By) == 0 || json.Unmarshal(e.By, &who) != nil {
		return "nobody: it expired"
	}
	return printable(peer(who))
}

func peer(p *audit.Peer) string {
	switch {
	case p == nil:
		return "nobody"
	case p.Unit != "":
		return fmt.Sprintf("user %d (pid %d, %s)", p.UID, p.PID, p.Unit)
	}
	return fmt.Sprintf("user %d (pid %d)", p.UID, p.PID)
}

func size(p *audit.Payload) string {
	if p == nil {
		return "none"
	}
	return units.BytesSize(float64(p.Bytes))
}

func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// palette colours words, or does not.
type palette bool

var colours = map[string]string{
	"allow": "32", "ok": "32", "succeeded": "32", "approved": "32",
	"deny": "31", "denied": "31", "block": "31", "failed": "31", "violation": "31",
	"ask": "33", "unknown": "33", "expired": "33",
}

func (p palette) word(w string) string {
	if colour := colours[w]; bool(p) && colour != "" {
		return "\x1b[" + colour + "m" + w + "\x1b[0m"
	}
	return w
}

// printEvent writes an event as a line. since is what times are counted from; the zero time: they stand as they are.
func (o *auditOptions) printEvent(r audit.Record, since time.Time) error {
	if o.json {
		o.out.Write(r.Raw) // an error shows when all is flushed
		return o.out.WriteByte('\n')
	}
	e := readEvent(r)
	e.clean()
	when, what := e.Time.Format("2006-01-02 15:04:05.000"), e.subject()
	if !since.IsZero() {
		when, what = fmt.Sprintf("%+10.3fs", e.Time.Sub(since).Seconds()), ""
		if e.N > 0 {
			what = "call " + strconv.Itoa(e.N)
		}
	}
	line := fmt.Sprintf("%s  %-16s  %s", when, e.Kind, what)
	if text := e.describe(o.tint); text != "" {
		line = strings.TrimRight(line, " ") + "  " + text
	}
	_, err := o.out.WriteString(strings.TrimRight(line, " ") + "\n")
	return err
}

// clean makes each text of an event printable, before colours come in: a tool's name must not bring its own. By is left to by.
func (e *auditEvent) clean() {
	texts := []*string{&e.Run, &e.Server, &e.Tool, &e.Profile, &e.Gateway, &e.Decision, &e.Rule, &e.Reason, &e.State, &e.Outcome, &e.ID,
		&e.Answer, &e.Scope, &e.File, &e.Policy, &e.Error, &e.Version, &e.Previous, &e.Kind}
	if e.Caller != nil {
		texts = append(texts, &e.Caller.Unit)
	}
	if e.Guard != nil {
		texts = append(texts, &e.Guard.Verdict)
	}
	if e.Approval != nil {
		texts = append(texts, &e.Approval.ID)
		if e.Approval.By != nil {
			texts = append(texts, &e.Approval.By.Unit)
		}
	}
	for i := range e.Evidence {
		texts = append(texts, &e.Evidence[i].Argument, &e.Evidence[i].Tool)
	}
	for _, t := range texts {
		*t = printable(*t)
	}
}

// printable writes what can't be seen, or turns text around, as an escape: the one that JSON has, so that JSON stays the same value.
func printable(text string) string {
	if !slices.ContainsFunc([]rune(text), hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// hidden says that a character can't be seen, or changes how others are. Some of those are letters and marks to Unicode.
func hidden(r rune) bool {
	const brailleBlank = 0x2800
	return !unicode.IsPrint(r) || r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
