package traces

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
)

// place is a W3C trace context (https://www.w3.org/TR/trace-context-2/): a trace, and a span of it.
type place struct {
	trace [16]byte
	span  [8]byte
	flags byte
}

// The flags that version 00 has.
const (
	sampled    = 1 << iota // somebody keeps it
	randomness             // the trace's number is random
)

// parentBytes is how long a traceparent of version 00 is: 00-trace-span-flags.
const parentBytes = 2 + 1 + 32 + 1 + 16 + 1 + 2

// parse reads a traceparent. A later version than 00 may have more behind what 00 has.
func parse(text string) (p place, ok bool) {
	if len(text) < parentBytes || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return place{}, false
	}
	var version, flags [1]byte
	ok = lowerHex(version[:], text[:2]) && lowerHex(p.trace[:], text[3:35]) && lowerHex(p.span[:], text[36:52]) && lowerHex(flags[:], text[53:55])
	switch {
	case !ok, version[0] == 0xff, p.trace == [16]byte{}, p.span == [8]byte{}:
		return place{}, false
	case len(text) > parentBytes && (version[0] == 0 || text[parentBytes] != '-'):
		return place{}, false
	}
	p.flags = flags[0] & (sampled | randomness)
	return p, true
}

// lowerHex is hex.Decode for the one spelling that the standard has.
func lowerHex(into []byte, text string) bool {
	for i := range len(text) {
		if c := text[i]; 'A' <= c && c <= 'F' {
			return false
		}
	}
	n, err := hex.Decode(into, []byte(text))
	return err == nil && n == len(into)
}

func (p place) String() string {
	text := make([]byte, 0, parentBytes)
	text = append(text, "00-"...)
	text = hex.AppendEncode(text, p.trace[:])
	text = append(text, '-')
	text = hex.AppendEncode(text, p.span[:])
	text = append(text, '-')
	return string(hex.AppendEncode(text, []byte{p.flags}))
}

// begin is a new trace, with its first span.
func begin(flags byte) place {
	p := place{flags: flags | randomness}
	for p.trace == [16]byte{} { // which stands for none
		fill(p.trace[:8])
		fill(p.trace[8:])
	}
	return p.next()
}

// next is another span of the same trace.
func (p place) next() place {
	fill(p.span[:])
	for p.span == [8]byte{} {
		fill(p.span[:])
	}
	return p
}

func fill(eight []byte) {
	n := rand.Uint64()
	for i := range eight {
		eight[i] = byte(n >> (8 * i))
	}
}

// carried is the key of a span in a context.
type carried struct{}

// With is ctx with a span, for Of.
func With(ctx context.Context, s *Span) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, carried{}, s)
}

// Of is the span that a context has; nil: none.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(carried{}).(*Span)
	return s
}
