package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd"
)

// printOne prints a request. What a program chose stands on lines of its own, behind a word of ours, and can't end its line.
func (o *approvalsOptions) printOne(q sandboxd.ApprovalRequest) error {
	if o.json {
		return o.printJSON(q)
	}
	left := max(q.Expires.Sub(o.now).Round(time.Second), 0)
	fmt.Fprintf(o.out, "%s  call %d of run %s, %s, expires in %s\n", printable(q.ID), q.N, printable(q.Run), printable(q.Caller), left)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(o.out, "  %-10s %s\n", name, printable(text))
		}
	}
	line("tool", q.Server+"."+q.Tool)
	line("rule", q.Rule)
	for _, text := range q.Reasons {
		line("why", text)
	}
	for _, text := range q.Evidence {
		line("evidence", text)
	}
	line("task", q.Task)
	if q.Arguments == nil {
		line("arguments", fmt.Sprintf("%d bytes, which begin: %s", q.Bytes, q.Start))
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, q.Arguments, strings.Repeat(" ", 13), "  "); err != nil {
		return fmt.Errorf("print arguments: %w", err)
	}
	fmt.Fprintf(o.out, "  %-10s %s\n", "arguments", printableLines(out.String()))
	return nil
}

// printableLines is a text of several lines, which are ours.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// printJSON prints a value as a line that is as safe on a terminal as it is elsewhere.
func (o *approvalsOptions) printJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.out, printable(strings.TrimSuffix(text.String(), "\n")))
	return err
}
