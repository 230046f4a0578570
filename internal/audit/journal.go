package audit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// mirror sends what was written to the journal as well. The file is the authority: what the journal does not take in time is
// counted, and no event waits for it.
type mirror struct {
	send    func(message string, fields map[string]string) error
	queue   chan map[string]string
	dropped atomic.Int64
}

const maxMirrored = 1024 // events that wait for the journal

func newMirror(send func(string, map[string]string) error) *mirror {
	if send == nil {
		return nil
	}
	return &mirror{send: send, queue: make(chan map[string]string, maxMirrored)}
}

// Run sends events to the journal until ctx ends, and then what still waits. Without a journal it only waits for that.
func (l *Log) Run(ctx context.Context) {
	if l.mirror == nil {
		<-ctx.Done()
		return
	}
	for {
		select {
		case fields := <-l.mirror.queue:
			l.mirror.deliver(fields)
			continue
		case <-ctx.Done():
		}
		for {
			select {
			case fields := <-l.mirror.queue:
				l.mirror.deliver(fields)
			default:
				return
			}
		}
	}
}

func (m *mirror) deliver(fields map[string]string) {
	message := fields["MESSAGE"]
	delete(fields, "MESSAGE")
	if err := m.send(message, fields); err != nil {
		m.dropped.Add(1)
	}
}

// put hands an event over, if there is room. Each has the number and the hash of its line: a copy of them on another
// machine, as a journal that is sent away, shows lines that were cut off.
func (m *mirror) put(e Event, at time.Time, p place) {
	if m == nil {
		return
	}
	fields := map[string]string{
		"SANDBOXD_EVENT": e.kind(),
		"SANDBOXD_SEQ":   strconv.FormatUint(p.seq, 10),
		"SANDBOXD_HASH":  p.hash.String(),
		"SANDBOXD_TIME":  at.UTC().Format(timeLayout),
	}
	message := "audit: " + e.kind()
	for _, f := range described(e) {
		if f.value != "" {
			fields["SANDBOXD_"+f.name] = tame(f.value)
			message += " " + strings.ToLower(f.name) + "=" + tame(f.value)
		}
	}
	fields["MESSAGE"] = message
	select {
	case m.queue <- fields:
	default:
		m.dropped.Add(1)
	}
}

// field is one of an event, under its name in the journal.
type field struct{ name, value string }

// described are the fields by which events are looked for.
func described(e Event) []field {
	switch e := e.(type) {
	case RunStart:
		return []field{{"RUN", e.Run}, {"UID", number(e.Caller.UID)}, {"PROFILE", e.Profile}, {"POLICY", e.Policy}}
	case RunEnd:
		return []field{{"RUN", e.Run}, {"OUTCOME", e.Outcome}}
	case CallIntent:
		return append(e.Call.described(), e.Judgement.described()...)
	case CallDenied:
		return append(append(e.Call.described(), e.Judgement.described()...), field{"DENIED_BY", e.By})
	case CallOutcome:
		return []field{{"RUN", e.Run}, {"CALL", number(e.N)}, {"STATE", e.State}}
	case ApprovalRequest:
		return append(e.Call.described(), field{"APPROVAL", e.ID})
	case ApprovalAnswer:
		fields := []field{{"RUN", e.Run}, {"CALL", number(e.N)}, {"APPROVAL", e.ID}, {"ANSWER", e.Answer}}
		if e.By != nil {
			fields = append(fields, field{"UID", number(e.By.UID)})
		}
		return fields
	case PolicyLoad:
		return []field{{"POLICY", e.Policy}, {"ERROR", e.Error}}
	case DaemonStart:
		return []field{{"VERSION", e.Version}}
	case rotated:
		return []field{{"REASON", e.Reason}, {"PREVIOUS", e.Previous}}
	case deleted:
		return []field{{"FILE", e.File}}
	case repaired:
		return []field{{"REASON", e.Reason}}
	case recovered:
		return []field{{"REASON", e.Reason}}
	}
	return nil
}

func (c Call) described() []field {
	return []field{{"RUN", c.Run}, {"CALL", number(c.N)}, {"TOOL", c.Server + "." + c.Tool}}
}

func (j Judgement) described() []field {
	verdict := ""
	if j.Guard != nil {
		verdict = j.Guard.Verdict
	}
	return []field{{"DECISION", j.Decision}, {"RULE", j.Rule}, {"VERDICT", verdict}}
}

func number[T int | uint32](n T) string { return fmt.Sprint(n) }

// tame is a text that fits a line of the journal, and can be seen.
func tame(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name(text))
}
