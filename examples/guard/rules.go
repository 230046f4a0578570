package main

import (
	"fmt"
	"regexp"
	"strings"
)

// check is what the rules look at of a call.
type check struct {
	Action struct {
		Tool string `json:"tool"`
		Args any    `json:"args"`
	} `json:"action"`
	Trigger string `json:"trigger"`
}

type verdict struct {
	Index   int    `json:"index"`   // its place in a batch, by which the client sees that it is for that check
	Verdict string `json:"verdict"` // allow, ask or block
	Reason  string `json:"reason,omitempty"`
}

type batch struct{ Checks []check }

func (c check) judge() any { return c.verdict() }

func (b batch) judge() any {
	results := make([]verdict, len(b.Checks))
	for i, c := range b.Checks {
		results[i] = c.verdict()
		results[i].Index = i
	}
	return map[string]any{"results": results}
}

const manyPeople = 20

var (
	unread   = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'`) // of SQL: comments and strings
	destroys = regexp.MustCompile(`(?i)\b(?:drop|truncate)\s+(?:table|database|schema)\b|\b(?:delete\s+from|update)\s+[^;]*`)
	narrows  = regexp.MustCompile(`(?i)^(?:delete|update)\b.*\swhere\s`)
	sends    = regexp.MustCompile(`(?i)(?:^|[._-])(?:send|post|publish|upload|share|forward|reply)`)
)

// verdict asks each rule, the strictest first.
func (c check) verdict() verdict {
	v, people := verdict{Verdict: "allow"}, 0
	walk("", c.Action.Args, func(key, text string) {
		switch strings.ToLower(key) {
		case "sql", "query", "statement":
			for _, statement := range destroys.FindAllString(unread.ReplaceAllString(text, " "), -1) {
				if !narrows.MatchString(strings.Join(strings.Fields(statement), " ")) {
					v = verdict{Verdict: "block", Reason: fmt.Sprintf("%.60q is for all rows of a table", statement)}
				}
			}
		case "to", "cc", "bcc", "recipients":
			people += len(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }))
		}
	})
	switch {
	case v.Verdict == "block":
	case people > manyPeople:
		v = verdict{Verdict: "block", Reason: fmt.Sprintf("it is to %d people; more than %d is for a mailing list", people, manyPeople)}
	case c.Trigger != "user_request" && sends.MatchString(c.Action.Tool):
		v = verdict{Verdict: "ask", Reason: "it sends something out after the run has read what others wrote"}
	}
	return v
}

// walk visits each text in a value, with the key that it or its list stands under.
func walk(key string, value any, visit func(key, text string)) {
	switch value := value.(type) {
	case string:
		visit(key, value)
	case []any:
		for _, item := range value {
			walk(key, item, visit)
		}
	case map[string]any:
		for key, item := range value {
			walk(key, item, visit)
		}
	}
}
