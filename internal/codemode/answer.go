package codemode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/clip"
)

// answer is what a client gets of a result; what is as expected is left out.
type answer struct {
	Run       string                 `json:"run"`
	Outcome   sandboxd.Outcome       `json:"outcome"`
	Value     json.RawMessage        `json:"value,omitempty"`
	Error     *sandboxd.Error        `json:"error,omitempty"`
	Hint      string                 `json:"hint,omitempty"`
	Console   []sandboxd.ConsoleLine `json:"console,omitempty"`
	Truncated *sandboxd.Truncated    `json:"truncated,omitempty"`
	Calls     []call                 `json:"calls,omitempty"` // all, if the run failed or one of them did
}

// call is what became of a tool call.
type call struct {
	N     int                `json:"n"`
	Tool  string             `json:"tool"` // <server>.<tool>
	State sandboxd.CallState `json:"state"`
	Rule  string             `json:"rule,omitempty"` // that refused it
	Error string             `json:"error,omitempty"`
}

// answerOf is a result for a client: structured, and as text for its model.
func answerOf(r *sandboxd.Result) *mcp.CallToolResult {
	a := answer{Run: r.Run, Outcome: r.Outcome, Error: r.Error, Hint: r.Hint, Console: r.Console}
	ok := r.Outcome == sandboxd.OutcomeOK
	if ok {
		a.Value = r.Value
	}
	if r.Truncated != (sandboxd.Truncated{}) {
		a.Truncated = &r.Truncated
	}
	expected := ok
	for _, c := range r.Calls {
		one := call{N: c.N, Tool: c.Server + "." + c.Tool, State: c.State, Error: c.Error}
		if c.State == sandboxd.CallDenied {
			one.Rule = c.Rule
		}
		a.Calls = append(a.Calls, one)
		expected = expected && c.State == sandboxd.CallSucceeded
	}
	if expected {
		a.Calls = nil
	}
	return &mcp.CallToolResult{IsError: !ok, StructuredContent: a, Content: []mcp.Content{&mcp.TextContent{Text: a.text()}}}
}

// text is what the model reads: the value alone, if there is nothing else to say.
func (a answer) text() string {
	var b strings.Builder
	if a.Error == nil {
		b.WriteString(plain(a.Value))
	} else {
		a.writeError(&b)
	}
	if a.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", a.Hint)
	}
	if len(a.Calls) > 0 {
		b.WriteString("\ncalls:")
	}
	for _, c := range a.Calls {
		fmt.Fprintf(&b, "\n  %d %s %s", c.N, clean(c.Tool, maxDoing), strings.ReplaceAll(string(c.State), "_", " "))
		if c.Rule != "" {
			fmt.Fprintf(&b, " by %s", c.Rule)
		}
		if c.Error != "" {
			fmt.Fprintf(&b, ": %s", c.Error)
		}
	}
	if len(a.Console) > 0 {
		b.WriteString("\nconsole:")
	}
	for _, l := range a.Console {
		fmt.Fprintf(&b, "\n  [%s] %s", l.Level, l.Text)
	}
	if a.Truncated != nil {
		fmt.Fprintf(&b, "\n  %d bytes of console text are over the limit and left out", a.Truncated.ConsoleBytes)
	}
	return b.String()
}

func (a answer) writeError(b *strings.Builder) {
	b.WriteString(a.Error.Error())
	if a.Error.Frame != "" {
		fmt.Fprintf(b, "\n%5d | %s", a.Error.Line, a.Error.Frame)
	}
	if a.Error.Hint != "" {
		fmt.Fprintf(b, "\nhint: %s", a.Error.Hint)
	}
	if a.Error.RetryAfterMS > 0 {
		fmt.Fprintf(b, "\ntry again in %d ms", a.Error.RetryAfterMS)
	}
}

// plain is a string as it is, and any other value as JSON.
func plain(value json.RawMessage) string {
	var text string
	if bytes.HasPrefix(value, []byte(`"`)) && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// clean is a text of at most so many bytes on one line, without what can't be seen.
func clean(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) <= most {
		return text
	}
	return clip.To(text, most-1) + "…"
}
