// Package protocol_test holds the daemon, the schemas, the transcripts and the clients of the gateway protocol against each other.
package protocol_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

func TestMain(m *testing.M) { daemon.Main(m) }

const (
	root     = "../.."
	messages = "messages.schema.json"
	result   = "result.schema.json"
)

// methods are those of the protocol, by who is asked: the types of params and result; nil: none, or not ours.
var methods = map[string]map[string]struct{ params, result any }{
	"GatewayRequest": {
		"initialize":       {sandboxd.InitializeParams{}, sandboxd.InitializeResult{}},
		"execute":          {sandboxd.Program{}, sandboxd.Result{}},
		"cancel":           {sandboxd.CancelParams{}, sandboxd.CancelResult{}},
		"status":           {nil, sandboxd.StatusResult{}},
		"tools/describe":   {sandboxd.DescribeParams{}, sandboxd.DescribeResult{}},
		"approvals/list":   {nil, sandboxd.ApprovalList{}},
		"approvals/decide": {sandboxd.DecideParams{}, sandboxd.DecideResult{}},
	},
	"AdminRequest": {
		"approvals/list":   {nil, sandboxd.ApprovalList{}},
		"approvals/show":   {sandboxd.ShowParams{}, sandboxd.ApprovalRequest{}},
		"approvals/decide": {sandboxd.DecideParams{}, sandboxd.DecideResult{}},
		"policy/reload":    {nil, nil},
		"runs/list":        {sandboxd.RunsParams{}, sandboxd.RunList{}},
		"runs/show":        {sandboxd.ShowRunParams{}, sandboxd.RunReport{}},
		"status":           {nil, sandboxd.StatusResult{}},
	},
	"DaemonRequest": {
		"tools/call":        {sandboxd.ToolCall{}, nil},
		"approvals/request": {sandboxd.ApprovalRequest{}, sandboxd.ApprovalAnswer{}},
	},
	"DaemonNotification": {
		"run/progress":     {sandboxd.Progress{}, nil},
		"run/console":      {sandboxd.Console{}, nil},
		"tools/cancel":     {sandboxd.ToolCancel{}, nil},
		"approvals/cancel": {sandboxd.ApprovalCancel{}, nil},
	},
}

// envelope are the definitions that no type of ours is for.
var envelope = []string{
	"FromGateway", "FromDaemon", "GatewayRequest", "AdminRequest", "DaemonRequest", "DaemonNotification",
	"Answer", "Refusal", "Id", "Nothing", "CallToolResult",
}

// TestSchemasAreTheTypes: the schemas have each field of the Go types, with its type, and no other; and each definition is of one.
func TestSchemasAreTheTypes(t *testing.T) {
	s := readSchemas(t)
	for who, all := range methods {
		listed := make(map[string]bool)
		for _, branch := range s.at(messages, "$defs", who, "oneOf").([]any) {
			method := find(branch, "properties", "method", "const").(string)
			listed[method] = true
			types, known := all[method]
			if !known {
				t.Errorf("%s lists %s, which no Go type is known for", who, method)
				continue
			}
			params, _ := find(branch, "properties", "params").(map[string]any)
			if types.params == nil {
				if params["$ref"] != "#/$defs/Nothing" {
					t.Errorf("%s: params of %s are %v, want none", who, method, params)
				}
				continue
			}
			s.same(t, messages, method+".params", params, reflect.TypeOf(types.params))
		}
		for method, types := range all {
			if !listed[method] {
				t.Errorf("%s does not list %s", who, method)
			}
			if types.result != nil {
				file, name := definition(types.result)
				s.same(t, file, method+".result", map[string]any{"$ref": name}, reflect.TypeOf(types.result))
			}
		}
	}
	s.same(t, messages, "error", s.at(messages, "$defs", "Refusal", "properties", "error").(map[string]any), reflect.TypeFor[sandboxd.RefusedError]())
	for _, file := range []string{messages, result} {
		for name := range s.at(file, "$defs").(map[string]any) {
			if !s.used[file+"#/$defs/"+name] && !(file == messages && slices.Contains(envelope, name)) {
				t.Errorf("%s: no message has a %s", file, name)
			}
		}
	}
}

// definition is where the schema of a result stands.
func definition(of any) (file, ref string) {
	if name := reflect.TypeOf(of).Name(); name != "Result" {
		return messages, "#/$defs/" + name
	}
	return result, "#"
}

// schemas are those of docs/protocol, by the name of their file.
type schemas struct {
	files map[string]any
	used  map[string]bool // file and place of each definition that was looked at
}

func readSchemas(t *testing.T) *schemas {
	t.Helper()
	s := &schemas{make(map[string]any), make(map[string]bool)}
	for _, name := range []string{messages, result} {
		text, err := os.ReadFile(filepath.Join(root, "docs", "protocol", name))
		if err != nil {
			t.Fatal(err)
		}
		var file any
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.files[name] = file
	}
	return s
}

func (s *schemas) at(file string, path ...string) any { return find(s.files[file], path...) }

func find(value any, path ...string) any {
	for _, key := range path {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// resolve follows references, and leaves out that a value may be null.
func (s *schemas) resolve(t *testing.T, file string, schema map[string]any) (string, map[string]any) {
	t.Helper()
	for {
		if either, ok := schema["oneOf"].([]any); ok && len(either) == 2 && find(either[1], "type") == "null" {
			schema = either[0].(map[string]any)
		}
		ref, isRef := schema["$ref"].(string)
		if !isRef {
			return file, schema
		}
		to, place, _ := strings.Cut(ref, "#")
		if to != "" {
			file = to
		}
		s.used[file+"#"+place] = true
		next, ok := s.at(file, strings.FieldsFunc(place, func(c rune) bool { return c == '/' })...).(map[string]any)
		if !ok {
			t.Fatalf("%s has no %s", file, ref)
		}
		schema = next
	}
}

// same holds a schema against a Go type.
func (s *schemas) same(t *testing.T, file, path string, schema map[string]any, of reflect.Type) {
	t.Helper()
	file, schema = s.resolve(t, file, schema)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	kind, _ := schema["type"].(string)
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
		return // what is in it is not the protocol's
	case of == reflect.TypeFor[time.Time]():
		if schema["format"] != "date-time" {
			t.Errorf("%s: %v, want a date-time", path, schema)
		}
		return
	case of.Kind() == reflect.Struct:
		s.sameObject(t, file, path, schema, of)
		return
	case of.Kind() == reflect.Slice:
		items, _ := schema["items"].(map[string]any)
		if kind != "array" || items == nil {
			t.Errorf("%s: %v, want an array", path, schema)
			return
		}
		s.same(t, file, path+"[]", items, of.Elem())
		return
	}
	if values, ok := schema["enum"].([]any); ok && kind == "" {
		schema = map[string]any{"const": values[0]}
	}
	if _, isText := schema["const"].(string); isText && kind == "" {
		kind = "string"
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
		reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint64: "integer",
	}[of.Kind()]
	if want == "" || kind != want {
		t.Errorf("%s: type %q, want %q for %s", path, kind, want, of)
	}
}

func (s *schemas) sameObject(t *testing.T, file, path string, schema map[string]any, of reflect.Type) {
	t.Helper()
	if schema["type"] != "object" || schema["additionalProperties"] != false {
		t.Errorf("%s: is no object without further members", path)
	}
	properties, _ := schema["properties"].(map[string]any)
	var required []string
	left := maps.Clone(properties)
	for _, field := range reflect.VisibleFields(of) {
		if field.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(left, name)
		property, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s has no %s, and %s has", path, name, of)
			continue
		}
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
		_, nullable := property["oneOf"]
		if mayBe := field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit"); nullable != mayBe {
			t.Errorf("%s.%s: null is one of its values: %v in the schema, %v in %s", path, name, nullable, mayBe, of)
		}
		s.same(t, file, path+"."+name, property, field.Type)
	}
	for name := range left {
		t.Errorf("%s has %s, and %s has not", path, name, of)
	}
	var stated []string
	if names, ok := schema["required"].([]any); ok {
		for _, name := range names {
			stated = append(stated, name.(string))
		}
	}
	slices.Sort(required)
	slices.Sort(stated)
	if diff := cmp.Diff(required, stated); diff != "" {
		t.Errorf("%s: members that are always there (-%s, +schema):\n%s", path, of, diff)
	}
}

// TestSpecificationNamesAll: docs/protocol.md has a word on each method and each member.
func TestSpecificationNamesAll(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	named := make(map[string]bool)
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(page, -1) {
		for _, word := range regexp.MustCompile(`[A-Za-z_/]+`).FindAllString(m[1], -1) {
			named[word] = true
		}
	}
	s := readSchemas(t)
	for _, file := range []string{messages, result} {
		for _, name := range members(s.files[file]) {
			if !named[name] {
				t.Errorf("docs/protocol.md does not speak of %s, which %s has", name, file)
			}
		}
	}
	for _, all := range methods {
		for method := range all {
			if !strings.Contains(page, "`"+method+"`") && !strings.Contains(page, "## "+method) {
				t.Errorf("docs/protocol.md does not speak of %s", method)
			}
		}
	}
}

// members are the names of all properties in a schema.
func members(schema any) (names []string) {
	switch schema := schema.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		names = slices.Collect(maps.Keys(properties))
		for _, value := range schema {
			names = append(names, members(value)...)
		}
	case []any:
		for _, value := range schema {
			names = append(names, members(value)...)
		}
	}
	return names
}
