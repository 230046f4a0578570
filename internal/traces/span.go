package traces

import (
	"strings"
	"time"
)

// Span is a part of a run's time, which is told to the collector when it ends. It is for one goroutine at a time, but for Child and
// Traceparent, which any may call. A nil one is of a run that is not traced: it does nothing, at no cost.
type Span struct {
	// set by its maker, then read-only
	place
	traces *Traces
	parent [8]byte // zero: none
	remote bool    // the parent is somebody else's
	name   string
	kind   Kind
	began  time.Time

	took       time.Duration
	attributes []attribute
	failed     bool
}

// Kind says what a span is between, as OTLP has it.
type Kind int

// Kinds.
const (
	Internal Kind = 1 // of the daemon's own work
	Server   Kind = 2 // it was asked for from outside
	Client   Kind = 3 // somebody else is asked
)

// maxText bounds an attribute: names of tools and rules.
const maxText = 128

// Child begins a span below this one.
func (s *Span) Child(name string, kind Kind) *Span {
	if s == nil {
		return nil
	}
	return &Span{place: s.next(), traces: s.traces, parent: s.span, name: name, kind: kind, began: time.Now()}
}

// Traceparent is the span as W3C trace context, for others to put theirs below it; empty for a nil one.
func (s *Span) Traceparent() string {
	if s == nil {
		return ""
	}
	return s.String()
}

// Text tells something by a word or a name; an empty one is not told. What programs, tools and people say has no place in it.
func (s *Span) Text(key, value string) {
	if s == nil || value == "" {
		return
	}
	if len(value) > maxText {
		value = value[:maxText]
	}
	s.attributes = append(s.attributes, attribute{key, attributeValue{Text: new(strings.ToValidUTF8(value, "\ufffd"))}})
}

// Number tells a number.
func (s *Span) Number(key string, value int64) {
	if s != nil { // new has nothing allocated where s is nil
		s.attributes = append(s.attributes, attribute{key, attributeValue{Number: new(value)}})
	}
}

// Truth tells whether something is so.
func (s *Span) Truth(key string, value bool) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, attributeValue{Truth: new(value)}})
	}
}

// Fail says that what the span is about did not work, and why in a word.
func (s *Span) Fail(why string) {
	if s != nil {
		s.failed = true
		s.Text("error.type", why)
	}
}

// End ends the span. It is not to be touched afterwards, but that children may end later.
func (s *Span) End() {
	if s == nil {
		return
	}
	s.took = time.Since(s.began) // whatever is done to the clock
	s.traces.put(s)
}
