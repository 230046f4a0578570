package js

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/dop251/goja"
)

// answerValue is the value that a call settles with, and whether it fulfills it.
func (e *Engine) answerValue(c *call, a Answer) (v goja.Value, fulfilled bool) {
	switch a.Form {
	case JSON:
		v, err := e.json.parse(shared(a.Body))
		if err != nil {
			return e.toolError(c.tool, "failed", c.at, fmt.Sprintf("%s answered with text that is not JSON: %s", c.tool, err)), false
		}
		return v, true
	case Auto:
		return e.autoValue(a.Body), true
	case Invalid:
		return e.toolError(c.tool, "denied", c.at, fmt.Sprintf("%s was not called: %s", c.tool, text(a.Body))), false
	case Blocked:
		return e.toolBlocked(c, a), false
	}
	return e.toolError(c.tool, "failed", c.at, text(a.Body)), false
}

// autoValue parses what is one whole JSON object or array. A number or a quoted string stays text: a tool that
// answers "123" did not mean a number.
func (e *Engine) autoValue(body []byte) goja.Value {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if v, err := e.json.parse(shared(body)); err == nil {
			return v
		}
	}
	return e.vm.ToValue(text(body))
}

// shared is a text in the memory of the bytes, which nobody changes any more: a copy of megabytes takes as long as a third
// of reading them.
func shared(body []byte) string { return unsafe.String(unsafe.SliceData(body), len(body)) }

func text(body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// toolError is a ToolError: the call failed, or (state "not_started") was never sent. Its stack is that of the call,
// not of the moment when the answer came.
func (e *Engine) toolError(t *tool, state string, at []goja.StackFrame, message string) *goja.Object {
	o := e.newError(e.real.toolError, message)
	e.describeError(o, at, map[string]string{"server": t.server, "tool": t.name, "state": state})
	return o
}

// toolBlocked is a ToolBlocked: policy, guard or a person refused the call.
func (e *Engine) toolBlocked(c *call, a Answer) *goja.Object {
	message := fmt.Sprintf("%s was refused", c.tool)
	if a.Reason != "" {
		message += ": " + a.Reason
	}
	if a.Rule != "" {
		message += fmt.Sprintf(" (rule %q)", a.Rule)
	}
	o := e.newError(e.real.toolBlocked, message)
	name := a.Tool
	if name == "" {
		name = c.tool.server + "." + c.tool.name
	}
	e.describeError(o, c.at, map[string]string{"tool": name, "rule": a.Rule, "reason": a.Reason})
	e.refusals[o] = true
	return o
}

func (e *Engine) describeError(o *goja.Object, at []goja.StackFrame, fields map[string]string) {
	for _, name := range []string{"server", "tool", "state", "rule", "reason"} {
		if v, ok := fields[name]; ok {
			o.DefineDataProperty(name, e.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	if at == nil {
		return
	}
	o.DefineDataProperty("stack", stackText(o, at), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// stackText is the stack of an error that was made at a place.
func stackText(o *goja.Object, at []goja.StackFrame) goja.Value {
	var stack goja.StringBuilder
	stack.WriteUTF8String(errorTitle(o))
	for i := range at {
		stack.WriteUTF8String("\n\tat ")
		at[i].WriteToValueBuilder(&stack)
	}
	return stack.String()
}
