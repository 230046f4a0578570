// Package collector is an OpenTelemetry collector for tests: it holds what it gets against OTLP's own definitions.
package collector

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	exports "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Span is one that was exported.
type Span struct {
	Trace, ID, Parent, Name string
	Kind                    int
	Start, End              uint64
	Attributes, Resource    map[string]string
	Failed, Remote          bool // Remote: the parent is
}

// Collector keeps what it is sent.
type Collector struct {
	// Answer, if it is set before the first request, answers in place of the collector; false: it did not.
	Answer func(w http.ResponseWriter, r *http.Request, n int) bool

	t  testing.TB
	mu sync.Mutex // guards the fields below

	requests int
	spans    []Span
	text     strings.Builder
}

// Start serves until the test ends, and returns the address of its traces.
func Start(t testing.TB) (*Collector, string) {
	c := New(t)
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return c, s.URL + "/v1/traces"
}

// New is a collector that a test serves itself.
func New(t testing.TB) *Collector { return &Collector{t: t} }

// Spans are those that came, in their order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Requests counts them.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Text is all that came, to the byte.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Named waits for spans of a name.
func (c *Collector) Named(name string, n int) (found []Span) {
	for patience := time.Now().Add(20 * time.Second); time.Now().Before(patience); time.Sleep(5 * time.Millisecond) {
		found = nil
		for _, s := range c.Spans() {
			if s.Name == name {
				found = append(found, s)
			}
		}
		if len(found) >= n {
			return found
		}
	}
	c.t.Fatalf("%d spans of the name %s, want %d, among %+v", len(found), name, n, c.Spans())
	return nil
}

// What OTLP's JSON has otherwise than protobuf's: ids in hex, and enums as numbers alone.
var (
	ids    = regexp.MustCompile(`"(?:traceId|spanId|parentSpanId)":"([^"]*)"`)
	hexID  = regexp.MustCompile(`^(?:[0-9a-f]{32}|[0-9a-f]{16})$`)
	number = regexp.MustCompile(`"(?:startTimeUnixNano|endTimeUnixNano|intValue)":[^"]`)
	enum   = regexp.MustCompile(`"(?:kind|code)":[^0-9]`)
)

func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.requests++
	n := c.requests
	c.text.Write(body)
	c.mu.Unlock()
	if c.Answer != nil && c.Answer(w, r, n) {
		return
	}
	spans, err := read(r, body)
	if err != nil {
		c.t.Errorf("%v in %s", err, body)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.spans = append(c.spans, spans...)
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, "{}")
}

func read(r *http.Request, body []byte) (spans []Span, err error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
		return nil, fmt.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
	}
	if odd := append(number.FindAll(body, -1), enum.FindAll(body, -1)...); odd != nil {
		return nil, fmt.Errorf("numbers in the wrong form: %s", odd)
	}
	for _, id := range ids.FindAllSubmatch(body, -1) {
		if !hexID.Match(id[1]) {
			return nil, fmt.Errorf("the id %s", id[1])
		}
	}
	// As protobuf's own JSON has bytes.
	plain := ids.ReplaceAllFunc(body, func(member []byte) []byte {
		name, value, _ := strings.Cut(string(member), `":"`)
		raw, _ := hex.DecodeString(strings.TrimSuffix(value, `"`))
		return fmt.Appendf(nil, `%s":"%s"`, name, base64.StdEncoding.EncodeToString(raw))
	})
	var request exports.ExportTraceServiceRequest
	if err := protojson.Unmarshal(plain, &request); err != nil { // an unknown member is an error
		return nil, err
	}
	for _, of := range request.ResourceSpans {
		resource := attributes(of.Resource.GetAttributes())
		for _, scope := range of.ScopeSpans {
			if scope.Scope.GetName() == "" {
				return nil, fmt.Errorf("spans of no scope")
			}
			for _, s := range scope.Spans {
				one := Span{
					Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name,
					Kind: int(s.Kind), Start: s.StartTimeUnixNano, End: s.EndTimeUnixNano, Attributes: attributes(s.Attributes), Resource: resource,
					Failed: s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR,
					Remote: s.Flags&uint32(otlp.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) != 0,
				}
				if len(s.TraceId) != 16 || len(s.SpanId) != 8 || s.Name == "" || one.Kind < 1 || one.Start == 0 || one.End < one.Start ||
					len(one.Attributes) != len(s.Attributes) {
					return nil, fmt.Errorf("no span: %+v", one)
				}
				spans = append(spans, one)
			}
		}
	}
	return spans, nil
}

func attributes(all []*common.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			m[a.Key] = fmt.Sprint(v.BoolValue)
		}
	}
	return m
}
