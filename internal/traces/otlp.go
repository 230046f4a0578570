package traces

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// OTLP 1.x in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hex, integers of 64 bits as text, enums as
// numbers.

type exportRequest struct {
	ResourceSpans [1]resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	ScopeSpans [1]scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"scope"`
	Spans []span `json:"spans"`
}

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Flags      uint32      `json:"flags"`
	Name       string      `json:"name"`
	Kind       Kind        `json:"kind"`
	Start      int64       `json:"startTimeUnixNano,string"`
	End        int64       `json:"endTimeUnixNano,string"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code int `json:"code"`
}

const statusError = 2

type attribute struct {
	Key   string         `json:"key"`
	Value attributeValue `json:"value"`
}

// attributeValue has one of its members.
type attributeValue struct {
	Text   *string `json:"stringValue,omitempty"`
	Number *int64  `json:"intValue,omitempty,string"`
	Truth  *bool   `json:"boolValue,omitempty"`
}

// Bits of a span's flags above those of its trace context.
const (
	remoteKnown = 0x100 // whether the parent is remote is known
	remoteIs    = 0x200
)

// request is what the collector is sent.
func (t *Traces) request(batch []*Span) ([]byte, error) {
	var r exportRequest
	of := &r.ResourceSpans[0]
	of.Resource.Attributes = t.resource
	scope := &of.ScopeSpans[0]
	scope.Scope.Name, scope.Scope.Version = "github.com/sandboxd/sandboxd", t.version
	scope.Spans = make([]span, 0, len(batch))
	for _, s := range batch {
		scope.Spans = append(scope.Spans, s.told())
	}
	return json.Marshal(r)
}

func (s *Span) told() span {
	start := s.began.UnixNano()
	o := span{
		TraceID: hex.EncodeToString(s.trace[:]), SpanID: hex.EncodeToString(s.span[:]), Flags: remoteKnown | uint32(s.flags),
		Name: s.name, Kind: s.kind, Start: start, End: start + int64(s.took), Attributes: s.attributes,
	}
	if s.parent != [8]byte{} {
		o.Parent = hex.EncodeToString(s.parent[:])
	}
	if s.remote {
		o.Flags |= remoteIs
	}
	if s.failed {
		o.Status = &status{statusError}
	}
	return o
}

// rejected reads how many spans of a request a collector did not take, and why. A body that is no such answer rejects nothing: the status
// says that the request was taken.
func rejected(body []byte) (spans int64, why string) {
	var answer struct {
		Partial struct {
			Spans json.RawMessage `json:"rejectedSpans"` // as text, or as a number
			Why   string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, ""
	}
	text := string(answer.Partial.Spans)
	if quoted, err := strconv.Unquote(text); err == nil {
		text = quoted
	}
	if spans, err := strconv.ParseInt(text, 10, 64); err == nil && spans > 0 {
		return spans, answer.Partial.Why
	}
	return 0, ""
}
