package protocol_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

const (
	gateway   = "gateway"
	theDaemon = "daemon"
	patience  = 30 * time.Second // a guard against hanging, on a busy machine
	maxLine   = 8 << 20
)

// line is one of a transcript.
type line struct {
	From    string `json:"from"`
	Message object `json:"message"`
}

type object = map[string]any

// transcripts are those of docs/protocol, by their names.
func transcripts(t *testing.T) map[string][]line {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "protocol", "*.jsonl"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d transcripts, error %v", len(paths), err)
	}
	all := make(map[string][]line)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		for row := range strings.Lines(string(text)) {
			var l line
			d := json.NewDecoder(strings.NewReader(row))
			d.DisallowUnknownFields()
			if err := d.Decode(&l); err != nil || l.From != gateway && l.From != theDaemon {
				t.Fatalf("%s: %v in %s", name, err, row)
			}
			all[name] = append(all[name], l)
		}
	}
	return all
}

// values are what stands for ${name}.
type values map[string]any

var (
	placeholder = regexp.MustCompile(`\$\{(\w+)\}`)
	quoted      = regexp.MustCompile(`\\\$\\\{(\w+)\\\}`) // as regexp.QuoteMeta writes one
	repeated    = regexp.MustCompile(`\$\{(.)\*(\d+)\}`)
)

// fill puts values where the placeholders are.
func (v values) fill(pattern any) any {
	switch pattern := pattern.(type) {
	case object:
		if example, ok := pattern["$any"]; ok {
			return example
		}
		filled := make(object, len(pattern))
		for key, value := range pattern {
			filled[key] = v.fill(value)
		}
		return filled
	case []any:
		filled := make([]any, len(pattern))
		for i, value := range pattern {
			filled[i] = v.fill(value)
		}
		return filled
	case string:
		if m := placeholder.FindStringSubmatch(pattern); m != nil && m[0] == pattern {
			return v[m[1]]
		}
		pattern = repeated.ReplaceAllStringFunc(pattern, func(s string) string {
			m := repeated.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[2]) // digits
			return strings.Repeat(m[1], n)
		})
		return placeholder.ReplaceAllStringFunc(pattern, func(s string) string { return fmt.Sprint(v[s[2:len(s)-1]]) })
	}
	return pattern
}

// match holds a message against a pattern, and learns what stands for placeholders that are new.
func (v values) match(pattern, got any, at string) error {
	switch pattern := pattern.(type) {
	case object:
		if example, ok := pattern["$any"]; ok {
			if reflect.TypeOf(example) != reflect.TypeOf(got) {
				return fmt.Errorf("%s: %v, want something like %v", at, got, example)
			}
			return nil
		}
		object, ok := got.(object)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(pattern)), slices.Sorted(maps.Keys(object))) {
			return fmt.Errorf("%s: %v, want the members of %v", at, got, pattern)
		}
		for _, key := range slices.Sorted(maps.Keys(pattern)) {
			if err := v.match(pattern[key], object[key], at+"."+key); err != nil {
				return err
			}
		}
		return nil
	case []any:
		array, ok := got.([]any)
		if !ok || len(array) != len(pattern) {
			return fmt.Errorf("%s: %v, want %d items like %v", at, got, len(pattern), pattern)
		}
		for i := range pattern {
			if err := v.match(pattern[i], array[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case string:
		return v.matchText(pattern, got, at)
	}
	if pattern != got {
		return fmt.Errorf("%s: %v, want %v", at, got, pattern)
	}
	return nil
}

func (v values) matchText(pattern string, got any, at string) error {
	if m := placeholder.FindStringSubmatch(pattern); m != nil && m[0] == pattern {
		if known, ok := v[m[1]]; ok && known != got {
			return fmt.Errorf("%s: %v, want %v, which stands for %s", at, got, known, pattern)
		}
		v[m[1]] = got
		return nil
	}
	text, isText := got.(string)
	var names []string
	expression := quoted.ReplaceAllStringFunc(regexp.QuoteMeta(pattern), func(s string) string {
		name := quoted.FindStringSubmatch(s)[1]
		if known, ok := v[name]; ok {
			return regexp.QuoteMeta(fmt.Sprint(known))
		}
		names = append(names, name)
		return "(.+?)"
	})
	m := regexp.MustCompile("(?s)^" + expression + "$").FindStringSubmatch(text)
	if !isText || m == nil {
		return fmt.Errorf("%s: %.200q, want %.200q", at, got, pattern)
	}
	for i, name := range names {
		v[name] = m[i+1]
	}
	return nil
}

// take finds which of the lines a message is, in which order they may come.
func (v values) take(lines []line, got object) (left []line, err error) {
	for i, l := range lines {
		trial := maps.Clone(v)
		wrong := trial.match(l.Message, got, "message")
		if wrong == nil {
			maps.Copy(v, trial)
			return slices.Delete(slices.Clone(lines), i, i+1), nil
		}
		err = errors.Join(err, wrong)
	}
	return nil, err
}

// group is the lines from the first on that are of the same end.
func group(lines []line) []line {
	for i, l := range lines {
		if l.From != lines[0].From {
			return lines[:i]
		}
	}
	return lines
}

// wire is a connection that reads and writes whole messages.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func newWire(c net.Conn) *wire { return &wire{c, bufio.NewReaderSize(c, 64<<10)} }

func (w *wire) send(message any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

func (w *wire) read() (m object, err error) {
	if err := w.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	text, err := w.in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(text, &m)
}

// validate holds a message against a definition of docs/protocol/messages.schema.json, or a whole file.
func validate(message any, place string) error {
	all, err := compiled()
	if err != nil {
		return err
	}
	// The library reads numbers as json.Number, and we read them as float64.
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	schema, err := all(place)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

var compiled = sync.OnceValues(func() (func(string) (*jsonschema.Schema, error), error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, name := range []string{messages, result} {
		text, err := os.Open(filepath.Join(root, "docs", "protocol", name))
		if err != nil {
			return nil, err
		}
		defer text.Close()
		value, err := jsonschema.UnmarshalJSON(text)
		if err != nil {
			return nil, err
		}
		if err := c.AddResource("schema:///"+name, value); err != nil {
			return nil, err
		}
	}
	var compiling sync.Mutex
	return func(place string) (*jsonschema.Schema, error) {
		compiling.Lock()
		defer compiling.Unlock()
		return c.Compile("schema:///" + place)
	}, nil
})

// conversation checks that each message is one of the protocol's, an answer by the method that was asked.
type conversation map[string]string // method by end and id

func (c conversation) check(from string, m object) error {
	definition := map[string]string{gateway: "FromGateway", theDaemon: "FromDaemon"}[from]
	id, other := fmt.Sprint(m["id"]), map[string]string{gateway: theDaemon, theDaemon: gateway}[from]
	if method, asks := m["method"].(string); asks {
		c[from+id] = method
	}
	if err := validate(m, messages+"#/$defs/"+definition); err != nil {
		return err
	}
	answer, ok := m["result"]
	if !ok {
		return nil
	}
	method := c[other+id]
	if method == "execute" {
		return validate(answer, result)
	}
	of := map[string]string{
		"initialize": "InitializeResult", "cancel": "CancelResult", "tools/describe": "DescribeResult", "status": "StatusResult",
		"approvals/list": "ApprovalList", "approvals/decide": "DecideResult", "tools/call": "CallToolResult", "approvals/request": "ApprovalAnswer",
	}[method]
	if of == "" {
		return fmt.Errorf("an answer to nothing: %v", m)
	}
	return validate(answer, messages+"#/$defs/"+of)
}

// wrong are the transcripts in which the gateway says what it must not.
var wrong = map[string]bool{"unknown-method": true, "unknown-field": true}

// TestReplay is the gateway of each transcript, and the daemon says what stands there.
func TestReplay(t *testing.T) {
	d := transcribed(t)
	for name, lines := range transcripts(t) {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", d.Socket)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			w, v, c := newWire(conn), make(values), make(conversation)
			for len(lines) > 0 {
				now := group(lines)
				lines = lines[len(now):]
				if now[0].From == gateway {
					for _, l := range now {
						m := v.fill(l.Message).(object)
						if err := c.check(gateway, m); err != nil && !wrong[name] {
							t.Errorf("the gateway's line is none: %.500s", err)
						}
						if err := w.send(m); err != nil {
							t.Fatal(err)
						}
					}
					continue
				}
				for len(now) > 0 {
					m, err := w.read()
					if err != nil {
						t.Fatalf("want %v: %v", now[0].Message, err)
					}
					if err := c.check(theDaemon, m); err != nil {
						t.Errorf("the daemon's line is none: %s", err)
					}
					if m["method"] == "run/progress" && now[0].Message["method"] != "run/progress" {
						continue // it comes once a second, on a slow machine more often
					}
					if now, err = v.take(now, m); err != nil {
						t.Fatalf("%v\nthe daemon said %v", err, m)
					}
				}
			}
		})
	}
}

// TestTranscriptsCover: each message of the protocol is in one.
func TestTranscriptsCover(t *testing.T) {
	said := make(map[string]bool)
	for _, lines := range transcripts(t) {
		for _, l := range lines {
			if method, ok := l.Message["method"].(string); ok {
				said[method] = true
			}
		}
	}
	for _, who := range []string{"GatewayRequest", "DaemonRequest", "DaemonNotification"} {
		for method := range methods[who] {
			if !said[method] {
				t.Errorf("no transcript has %s", method)
			}
		}
	}
}

// transcribed starts the daemon that the transcripts are of (docs/protocol.md).
func transcribed(t *testing.T) *daemon.Daemon {
	t.Helper()
	policy, err := filepath.Abs(filepath.Join(root, "docs", "protocol", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return daemon.Start(t, daemon.Options{Config: "pool: {default: 2}\nruns: {per_caller: 1}\npolicy: " + policy + "\n"})
}
