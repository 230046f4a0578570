package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// What made a program call a tool.
const (
	UserRequest = "user_request" // the user's words alone
	ToolResult  = "tool_result"  // the run has read what others wrote, and that may steer it
)

// Check is one call to be judged, and what the judge should know about it. Program text is never part of it: its
// author is who is being judged.
type Check struct {
	Run         string          // its checks may share a request; it is not sent. Empty: a request of its own
	Tool        string          // the real name, server.tool
	Args        json.RawMessage // sent as these bytes. Whoever made them answers for it that no key stands twice
	Intent      string          // the user's request; empty if nobody told it
	Trigger     string          // UserRequest or ToolResult
	Constraints []string        // what the user or the operator ruled out
	Traceparent string          // W3C trace context, for the request's header; empty: none
	Context     Context
}

// Context is what the run did before the call.
type Context struct {
	Call     int        `json:"call"`     // number of the call in its run
	Labels   []string   `json:"labels"`   // that the run carries, by what it has read
	Read     []Read     `json:"read"`     // results that the program was given
	Evidence []Evidence `json:"evidence"` // arguments that carry material out of them
}

// Read is an earlier call whose result the program has seen.
type Read struct {
	Call   int      `json:"call"`
	Tool   string   `json:"tool"`
	Labels []string `json:"labels"`
	Bytes  int64    `json:"bytes"`
}

// Evidence is material of an earlier result in the arguments of this call.
type Evidence struct {
	Path       string `json:"path"` // where in the arguments, such as body or to[2]
	Characters int    `json:"characters"`
	Call       int    `json:"call"`
	Tool       string `json:"tool"`
}

// maxAbout bounds what is sent beside the arguments: a longer request of a user is none that a judge can weigh.
const maxAbout = 64 << 10

// encode is the check as the protocol has it. What is too long is an error: a value that was cut is another value, and
// a verdict on it says nothing about the call.
func (c Check) encode(maxArgs int) ([]byte, error) {
	switch {
	case c.Tool == "":
		return nil, errors.New("the check names no tool")
	case c.Trigger != UserRequest && c.Trigger != ToolResult:
		return nil, fmt.Errorf("the check's trigger is %q, and not %s or %s", c.Trigger, UserRequest, ToolResult)
	case len(c.Args) > maxArgs:
		return nil, fmt.Errorf("the arguments have %d bytes, more than args_bytes (%d), and are not judged in part",
			len(c.Args), maxArgs)
	case !json.Valid(c.Args) || !utf8.Valid(c.Args):
		return nil, errors.New("the arguments are no JSON in UTF-8")
	case !utf8.ValidString(c.Tool), !utf8.ValidString(c.Intent), slices.ContainsFunc(c.Constraints, invalid):
		return nil, errors.New("the tool's name, the user's request or a constraint is no UTF-8")
	}
	about, err := marshal(struct {
		Intent      string   `json:"intent"`
		Trigger     string   `json:"trigger"`
		Constraints []string `json:"constraints"`
		Context     Context  `json:"context"`
	}{c.Intent, c.Trigger, list(c.Constraints), c.Context.whole()})
	if err != nil {
		return nil, err
	}
	tool, err := marshal(c.Tool)
	if err != nil {
		return nil, err
	}
	if n := len(tool) + len(about); n > maxAbout {
		return nil, fmt.Errorf("the user's request, the constraints and the context have %d bytes, more than %d, and are not judged in part",
			n, maxAbout)
	}
	// Not by the encoder, which would write the arguments anew.
	return slices.Concat([]byte(`{"action":{"tool":`), tool, []byte(`,"args":`), c.Args, []byte(`},`), about[1:]), nil
}

// whole has empty lists where there are none: a judge in another language need not know null.
func (c Context) whole() Context {
	c.Labels, c.Read, c.Evidence = list(c.Labels), list(slices.Clone(c.Read)), list(c.Evidence)
	for i := range c.Read {
		c.Read[i].Labels = list(c.Read[i].Labels)
	}
	return c
}

func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// marshal is JSON without the escapes for HTML, which make text longer and harder to read.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func invalid(s string) bool { return !utf8.ValidString(s) }
