package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
)

// listIssues is as zod makes them.
const listIssues = `{"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},
	"state":{"type":"string","enum":["open","closed","all"]},"labels":{"type":"array","items":{"type":"string","minLength":2}},
	"since":{"type":"string","format":"date-time"},"page":{"type":"integer","minimum":1},"perPage":{"type":"number","minimum":1,"maximum":100},
	"filter":{"type":"object","properties":{"by name":{"type":"string","pattern":"^[a-z]+$"}},"required":["by name"]}},
	"required":["owner","repo"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`

func check(t *testing.T, schema, args string) (wrong, unchecked string) {
	t.Helper()
	c := announce(t, []string{"s"}, sandboxd.Tool{Server: "s", Name: "x", InputSchema: json.RawMessage(schema)})
	return c.Server("s").Tool("x").Check([]byte(args))
}

func TestCheck(t *testing.T) {
	const open = `{"properties":{"owner":{"type":"string"},"n":{"type":"number"}},"required":["owner"]}`
	for _, c := range []struct{ name, schema, args, want string }{
		{"right", listIssues, `{"owner":"a","repo":"b","state":"open","labels":["ab"],"page":2,"since":"2026-01-01T00:00:00Z"}`, ""},
		{"enum", listIssues, `{"owner":"a","repo":"b","state":"opened"}`, "`state` must be one of open, closed, all; got \"opened\""},
		{"one missing", listIssues, `{"repo":"b"}`, "missing required field `owner`"},
		{"two missing", listIssues, `{}`, "missing required fields `owner`, `repo`"},
		{"unknown, like one", listIssues, `{"owner":"a","repo":"b","labls":[]}`, "unknown field `labls`; did you mean `labels`?"},
		{"unknown", listIssues, `{"owner":"a","repo":"b","zzzzzz":1}`,
			"unknown field `zzzzzz`; there are: filter, labels, owner, page, perPage, repo, since, state"},
		{"misspelt and missing", listIssues, `{"ownr":"a","repo":"b"}`, "missing required field `owner`; unknown field `ownr`; did you mean `owner`?"},
		{"misspelt and missing, others allowed", open, `{"ownr":"a"}`, "missing required field `owner`; `ownr` was given instead"},
		{"missing, others allowed", open, `{"other":"a"}`, "missing required field `owner`"},
		{"type", listIssues, `{"owner":1,"repo":"b"}`, "`owner` must be a string; got 1"},
		{"number as text", listIssues, `{"owner":"a","repo":"b","page":"2"}`, "`page` must be an integer; got \"2\""},
		{"null", listIssues, `{"owner":null,"repo":"b"}`, "`owner` must be a string; got null"},
		{"no integer", listIssues, `{"owner":"a","repo":"b","page":1.5}`, "`page` must be an integer; got 1.5"},
		{"item", listIssues, `{"owner":"a","repo":"b","labels":["ab",{"name":"c"}]}`, "`labels[1]` must be a string; got an object"},
		{"text for an array", listIssues, `{"owner":"a","repo":"b","labels":"ab"}`, "`labels` must be an array; got \"ab\""},
		{"too short", listIssues, `{"owner":"a","repo":"b","labels":["x"]}`, "`labels[0]` must have at least 2 characters; it has 1"},
		{"too large", listIssues, `{"owner":"a","repo":"b","perPage":500}`, "`perPage` must be at most 100; got 500"},
		{"too small", listIssues, `{"owner":"a","repo":"b","page":0}`, "`page` must be at least 1; got 0"},
		{"format", listIssues, `{"owner":"a","repo":"b","since":"yesterday"}`, "`since` must be of the format date-time; got \"yesterday\""},
		{"missing inside", listIssues, `{"owner":"a","repo":"b","filter":{}}`, "missing required field `filter[\"by name\"]`"},
		{"pattern", listIssues, `{"owner":"a","repo":"b","filter":{"by name":"A"}}`, "`filter[\"by name\"]` must match /^[a-z]+$/; got \"A\""},
		{"three of many", listIssues, `{"owner":1,"repo":2,"page":"x","state":"y"}`,
			"`owner` must be a string; got 1; `page` must be an integer; got \"x\"; `repo` must be a string; got 2"},
		{"a long value", listIssues, `{"owner":"a","repo":"b","state":"` + strings.Repeat("x", 1000) + `"}`,
			"`state` must be one of open, closed, all; got \"" + strings.Repeat("x", 60) + "…\""},
		{"anyOf of types", `{"properties":{"id":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"id":true}`, "`id` must be a string or an integer; got true"},
		{"anyOf of constants", `{"properties":{"id":{"anyOf":[{"const":"a"},{"const":"b"}]}}}`, `{"id":"c"}`, "`id` must be \"a\" or \"b\"; got \"c\""},
		{"nullable", `{"properties":{"id":{"anyOf":[{"type":"null"},{"type":"string","maxLength":1}]}}}`, `{"id":"abc"}`, "`id` must have at most 1 characters; it has 3"},
		{"union by a constant", `{"properties":{"f":{"oneOf":[
			{"properties":{"type":{"const":"a"},"x":{"type":"number"}},"required":["type","x"]},
			{"properties":{"type":{"const":"b"},"y":{"type":"number"}},"required":["type","y"]}]}}}`, `{"f":{"type":"b","y":"1"}}`, "`f.y` must be a number; got \"1\""},
		{"oneOf, both", `{"properties":{"f":{"oneOf":[{"type":"number"},{"minimum":1}]}}}`, `{"f":2}`, "`f` has more than one of the forms of which it must have one; got 2"},
		{"not", `{"properties":{"f":{"not":{"type":"string"}}}}`, `{"f":"x"}`, "`f` is what the tool's schema excludes; got \"x\""},
		{"false", `{"properties":{"f":false}}`, `{"f":1}`, "`f` must not be given"},
		{"$ref", `{"$defs":{"p":{"type":"object","required":["x"]}},"properties":{"p":{"$ref":"#/$defs/p"}}}`, `{"p":{}}`, "missing required field `p.x`"},
		{"recursive", `{"$defs":{"t":{"properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/t"}},"v":{"type":"string"}}}},"$ref":"#/$defs/t"}`,
			`{"kids":[{"kids":[{"v":1}]}]}`, "`kids[0].kids[0].v` must be a string; got 1"},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "with `a`, `b` is required too"},
		{"unique", `{"properties":{"f":{"uniqueItems":true}}}`, `{"f":[1,2,1]}`, "`f` must have no item twice; items 0 and 2 are equal"},
		{"names", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `the whole has a field "ab", whose name is not allowed`},
		{"no schema", `null`, `{"a":1}`, ""},
		{"anything", `true`, `{"a":1}`, ""},
		{"a huge exponent", `{"properties":{"n":{"minimum":1}}}`, `{"n":1e999999999}`, "the arguments can't be checked: the number 1e999999999… is out of range"},
		{"a tiny exponent", `{"properties":{"n":{"minimum":1}}}`, `{"n":1e-999999999}`, "the arguments can't be checked: the number 1e-999999999… is out of range"},
		{"deep arguments", `{}`, `{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, "the arguments can't be checked: nested more than 64 levels deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong, unchecked := check(t, c.schema, c.args)
			if diff := cmp.Diff(c.want, wrong); diff != "" || unchecked != "" {
				t.Errorf("%s\nunchecked: %q", diff, unchecked)
			}
		})
	}
}

// TestUnchecked: a schema that can't be used keeps nobody from calling the tool, and takes no time, no memory, no file and no
// network.
func TestUnchecked(t *testing.T) {
	double := `{"$defs":{"d0":{"type":"string"}`
	for i := range 40 {
		double += fmt.Sprintf(`,"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	double += `},"not":{"$ref":"#/$defs/d40"}}`
	twice := `{"$defs":{"t":{"allOf":[{"additionalProperties":{"$ref":"#/$defs/t"}},{"additionalProperties":{"$ref":"#/$defs/t"}}]}},"$ref":"#/$defs/t"}`
	for _, c := range []struct{ name, schema, args, want string }{
		{"no JSON Schema", `{"type":"objekt"}`, `{}`, "the tool's schema can't be used: `type` must be one of array, boolean, integer, null, number, object, string"},
		{"no schema at all", `"x"`, `{}`, "the tool's schema can't be used: the whole must be a boolean or an object; got \"x\""},
		{"a file", `{"$ref":"file:///etc/passwd"}`, `{}`, "no URLLoader set"},
		{"the network", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, `{}`, "no URLLoader set"},
		{"a dialect of its own", `{"$schema":"https://example.com/schema"}`, `{}`, "no URLLoader set"},
		{"lookahead", `{"properties":{"a":{"pattern":"^(?!x)"}}}`, `{}`, "invalid or unsupported Perl syntax"},
		{"a huge pattern", `{"properties":{"a":{"pattern":"(abc|def){900}"}}}`, `{}`, "is too large"},
		{"too long", `{"description":"` + strings.Repeat("x", 128<<10) + `"}`, `{}`, "it has 131090 bytes, and may have 131072"},
		{"too deep", strings.Repeat(`{"items":`, 70) + "{}" + strings.Repeat("}", 70), `{}`, "nested more than 64 levels deep"},
		{"too many", `{"anyOf":[{}` + strings.Repeat(`,{"minItems":1}`, 1000) + `]}`, `{}`, "it has more than 1000 subschemas"},
		{"a huge number", `{"properties":{"a":{"minimum":1e999999999}}}`, `{}`, "is out of range"},
		{"many values", `{"enum":[0` + strings.Repeat(",0", 6000) + `]}`, `{}`, "it has 6003 values in it, and may have 3000"},
		{"a long pattern", `{"properties":{"a":{"pattern":"` + strings.Repeat("x", 1025) + `"}}}`, `{}`, "is too large"},
		{"many patterns on a long text", `{"properties":{"a":{"allOf":[{}` + strings.Repeat(`,{"pattern":"(a|b|c|aa){100}$"}`, 50) + `]}}}`,
			`{"a":"` + strings.Repeat("a", 200<<10) + `"}`, "in 204808 bytes, are too many"},
		{"itself", `{"$ref":"#"}`, `{}`, "a subschema applies itself to the same value"},
		{"a round", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `{}`, "a subschema applies itself"},
		{"dynamic", `{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`, `{}`, "$dynamicRef"},
		{"doubled forty times", double, `{"a":1}`, "2 values, 1 levels deep, in 7 bytes, are too many for the tool's schema"},
		{"doubled at every level", twice, strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "41 values, 40 levels deep, in 241 bytes, are too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong, unchecked := check(t, c.schema, c.args)
			if wrong != "" || !strings.Contains(unchecked, c.want) || len(unchecked) > 400 {
				t.Errorf("wrong %q, unchecked %q, want %q", wrong, unchecked, c.want)
			}
		})
	}
	if wrong, unchecked := check(t, twice, `{"a":{"b":1}}`); wrong != "" || unchecked != "" {
		t.Errorf("few levels: %q, %q", wrong, unchecked)
	}
}

func TestUnknownTool(t *testing.T) {
	var tools []sandboxd.Tool
	for _, name := range []string{"list-issues", "get_issue", "a-b", "a.b", "w1", "w2", "w3", "w4", "w5", "w6"} {
		tools = append(tools, sandboxd.Tool{Server: "my-hub", Name: name})
	}
	s := announce(t, []string{"my-hub"}, tools...).Server("my-hub")
	for name, want := range map[string]string{
		"list_isues": `my-hub has no tool "list_isues"; did you mean tools["my-hub"]["list-issues"]?`,
		"a_b":        `my-hub has no tool "a_b"; did you mean tools["my-hub"]["a-b"] or tools["my-hub"]["a.b"]?`,
		"deploy":     `my-hub has no tool "deploy"; it has 10: list-issues, get_issue, a-b, a.b, w1, w2, w3, w4, …`,
	} {
		if diff := cmp.Diff(want, s.UnknownTool(name)); diff != "" {
			t.Error(diff)
		}
	}
}

func catalogOf(schema string) (*catalog.Tool, error) {
	c, err := catalog.New([]string{"s"}, []sandboxd.Tool{{Server: "s", Name: "x", InputSchema: json.RawMessage(schema)}})
	if err != nil {
		return nil, err
	}
	return c.Server("s").Tool("x"), nil
}

func BenchmarkCheck(b *testing.B) {
	c, err := catalogOf(listIssues)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if wrong, unchecked := c.Check([]byte(`{"owner":"a","repo":"b","state":"open","labels":["ab"]}`)); wrong+unchecked != "" {
			b.Fatal(wrong, unchecked)
		}
	}
}

func BenchmarkFirstCheck(b *testing.B) {
	for b.Loop() {
		c, err := catalogOf(listIssues)
		if err != nil {
			b.Fatal(err)
		}
		c.Check([]byte(`{"owner":"a","repo":"b","state":"open","labels":["ab"]}`))
	}
}
