package typescript_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/typescript"
)

// types are schemas, and the type of the arguments of a tool that has one.
var types = []struct{ name, schema, want string }{
	{"nothing said", `{}`, "(args: any)"},
	{"anything", `true`, "(args: any)"},
	{"no schema", `7`, "(args: any)"},
	{"impossible", `false`, "(args: never)"},
	{"no arguments", `{"type":"object","properties":{}}`, "()"},
	{"closed", `{"type":"object","additionalProperties":false}`, "()"},
	{"an object of any", `{"type":"object"}`, "(args?: { [key: string]: any })"},
	{"required and not", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["a"]}`, "(args: { b?: string; a: number })"},
	{"nothing required", `{"properties":{"a":{"type":"boolean"}}}`, "(args?: { a?: boolean })"},
	{"required without a property", `{"type":"object","properties":{"a":{}},"required":["b"]}`, "(args?: { a?: any })"},
	{"odd names", `{"properties":{"a-b":{},"1":{},"with space":{},"__proto__":{},"class":{},"é":{},"":{},"a\"b\\":{},"\u202e":{}}}`,
		`(args?: { "a-b"?: any; "1"?: any; "with space"?: any; __proto__?: any; class?: any; "é"?: any; ""?: any; "a\"b\\"?: any; "\u202e"?: any })`},
	{"others", `{"type":"object","additionalProperties":{"type":"number"}}`, "(args?: { [key: string]: number })"},
	{"others beside", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}`, "(args?: { a?: string; [key: string]: any })"},
	{"others by pattern", `{"type":"object","patternProperties":{"^x":{"type":"string"},"^y":{"type":"null"}},"additionalProperties":false}`,
		"(args?: { [key: string]: string | null })"},
	{"array", `{"type":"array","items":{"type":"string"}}`, "(args: string[])"},
	{"array of any", `{"type":"array"}`, "(args: any[])"},
	{"array of a union", `{"items":{"type":["string","null"]}}`, "(args: (string | null)[])"},
	{"array of arrays", `{"items":{"items":{"enum":[1,2]}}}`, "(args: (1 | 2)[][])"},
	{"tuple", `{"prefixItems":[{"type":"string"},{"type":"number"}],"items":false,"minItems":2}`, "(args: [string, number])"},
	{"tuple and more", `{"prefixItems":[{"type":"string"}],"items":{"type":["number","null"]},"minItems":1}`, "(args: [string, ...(number | null)[]])"},
	{"tuple that may be short", `{"prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`, "(args: (string | number)[])"},
	{"tuple of draft 7", `{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false,"minItems":2}`, "(args: [string, number])"},
	{"types", `{"type":["string","integer","null"]}`, "(args: string | number | null)"},
	{"an unknown type", `{"type":"tuple"}`, "(args: any)"},
	{"types that are none", `{"type":[1,{}]}`, "(args: any)"},
	{"enum", `{"enum":["a","b\n",1,-1.5e3,true,null,[1,"x"],{"k":[]}]}`, `(args: "a" | "b\n" | 1 | -1.5e3 | true | null | [1, "x"] | { k: [] })`},
	{"const", `{"const":"x"}`, `(args: "x")`},
	{"no number", `{"const":1e400}`, "(args: number)"},
	{"a long number", `{"const":0.1000000000000000055511151231257827}`, "(args: 0.1)"},
	{"twice the same", `{"anyOf":[{"type":"string"},{"type":"string"},{"type":"integer"},{"type":"number"}]}`, "(args: string | number)"},
	{"oneOf", `{"oneOf":[{"const":"a"},{"type":"array","items":{"type":"number"}}]}`, `(args: "a" | number[])`},
	{"alternatives of what is required", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, "(args?: { a?: any; b?: any })"},
	{"alternatives beside", `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"b":{"type":"null"}}},{"properties":{"c":{"type":"null"}}}]}`,
		"(args: { a?: string } & ({ b?: null } | { c?: null }))"},
	{"no alternatives", `{"anyOf":[]}`, "(args: never)"},
	{"all of", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}},true]}`, "(args: { a?: string } & { b?: string })"},
	{"array of an intersection", `{"items":{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}}`, "(args: ({ a?: any } & { b?: any })[])"},
	{"nullable", `{"type":"string","nullable":true}`, "(args: string | null)"},
	{"conditions say nothing", `{"type":"string","not":{"const":"x"},"if":{},"then":false}`, "(args: string)"},
	{"reference", `{"properties":{"a":{"$ref":"#/$defs/A~1b%20c"}},"$defs":{"A/b c":{"type":"string"}}}`, "(args?: { a?: string })"},
	{"reference and more", `{"$ref":"#/$defs/a","properties":{"b":{}},"$defs":{"a":{"properties":{"c":{}}}}}`, "(args: { b?: any } & { c?: any })"},
	{"reference to nowhere", `{"properties":{"a":{"$ref":"#/$defs/none"},"b":{"$ref":"#x"},"c":{"$ref":"#/properties/a/9"},"d":{"$ref":"#/%zz"}}}`,
		"(args?: { a?: any; b?: any; c?: any; d?: any })"},
	{"reference out of the document", `{"properties":{"a":{"$ref":"https://example.com/schema.json"},"b":{"$ref":"file:///etc/passwd"}}}`, "(args?: { a?: any; b?: any })"},
	{"reference into an array", `{"properties":{"a":{"$ref":"#/anyOf/1"}},"anyOf":[true,{"type":"null"}]}`, "(args?: { a?: null })"},
	{"shared", `{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"properties":{"y":{"type":"string"}}}}}`,
		"(args?: { a?: S_T_X; b?: S_T_X })"},
	{"recursive", `{"$ref":"#/$defs/tree","$defs":{"tree":{"properties":{"left":{"$ref":"#/$defs/tree"},"right":{"$ref":"#/$defs/tree"}}}}}`, "(args: S_T_Tree)"},
	{"recursive at the root", `{"properties":{"child":{"$ref":"#"}}}`, "(args?: { child?: S_T_ })"},
	{"recursive through another", `{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"items":{"$ref":"#/$defs/a"}}}}`, "(args: S_T_A)"},
	{"nothing but itself", `{"$ref":"#"}`, "(args: S_T_)"},
	{"each other", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "(args: S_T_A)"},
	{"two of one name", `{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"},"c":{"$ref":"#/definitions/x"},"d":{"$ref":"#/definitions/x"}},"$defs":{"x":{"type":"string"}},"definitions":{"x":{"type":"number"}}}`,
		"(args?: { a?: S_T_X; b?: S_T_X; c?: S_T_X2; d?: S_T_X2 })"},
}

func TestTypes(t *testing.T) {
	for _, c := range types {
		t.Run(c.name, func(t *testing.T) {
			declared := typescript.Declare([]typescript.Tool{{Server: "s", Name: "t", Input: []byte(c.schema)}})
			_, method, _ := strings.Cut(declared, "    t")
			method, _, _ = strings.Cut(method, ": Promise<any>;\n")
			method = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(method, "")
			if got := strings.ReplaceAll(strings.Join(strings.Fields(method), " "), "; }", " }"); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.schema, got, c.want)
			}
		})
	}
}

func TestDeclare(t *testing.T) {
	got := typescript.Declare([]typescript.Tool{
		{
			Server: "issue-tracker", Name: "list", Description: "Lists issues.\r\n\r\nNewest first.",
			Input: []byte(`{"type":"object","properties":{
				"repo":{"type":"string","description":"owner/name","pattern":"^[^/]+/[^/]+$"},
				"per_page":{"type":"integer","minimum":1,"maximum":100,"default":30,"exclusiveMaximum":9007199254740991},
				"since":{"type":"string","format":"date-time","description":"Two\nlines."}
			},"required":["repo"]}`),
			Output: []byte(`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["children"]}}}`),
		},
		{Server: "db", Name: "query", Description: "Evil */ } declare const fetch: any /*\u202e\u2028\x00"},
		{Server: "issue-tracker", Name: "close issue", Input: []byte(`{"type":"object","properties":{}}`)},
		{Server: "db", Name: "broken", Description: "It is.", Input: []byte(`{"type":`), Output: []byte(strings.Repeat(`{"items":`, 70) + "1" + strings.Repeat("}", 70))},
	})
	want := `type IssueTracker_List_Node = {
  children: IssueTracker_List_Node[];
};
declare const tools: {
  "issue-tracker": {
    /**
     * Lists issues.
     *
     * Newest first.
     */
    list(args: {
      /** owner/name (pattern ^[^/]+/[^/]+$) */
      repo: string;
      /** (default 30, at least 1, at most 100, integer) */
      per_page?: number;
      /**
       * Two
       * lines. (format date-time)
       */
      since?: string;
    }): Promise<IssueTracker_List_Node>;
    "close issue"(): Promise<any>;
  };
  db: {
    /** Evil * / } declare const fetch: any /* */
    query(args: any): Promise<any>;
    /**
     * It is.
     * Its input schema can't be read: it ends too early.
     * Its output schema can't be read: it nests more than 64 levels deep, at byte 577.
     */
    broken(args: any): Promise<any>;
  };
};
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSignature(t *testing.T) {
	many := func(n int, required string) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"property_number_%d":{"type":"string"}`, i))
		}
		return `{"type":"object","properties":{` + strings.Join(names, ",") + `},"required":[` + required + `]}`
	}
	for _, c := range []struct{ name, input, output, want string }{
		{"short", `{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, ``, "tools.s.t(args?: { a?: { b?: string } }): Promise<any>"},
		{"result", `{"properties":{}}`, `{"items":{"properties":{"x":{}},"required":["x"]}}`, "tools.s.t(): Promise<{ x: any }[]>"},
		{"named types are written out", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"},"y":{"type":"string"}}}}}`, ``,
			"tools.s.t(args: { x?: { x?: object; y?: string }; y?: string }): Promise<any>"},
		{"long", `{"properties":{"a":{"properties":{"b":{"properties":{"c":` + many(9, "") + `}}}},"z":{"type":"null"}}}`, ``,
			"tools.s.t(args?: { a?: { b?: object }; z?: null }): Promise<any>"},
		{"optional ones are left out", many(20, `"property_number_15"`), ``,
			"tools.s.t(args: { property_number_15: string; property_number_0?: string; property_number_1?: string; property_number_2?: string; " +
				"property_number_3?: string; property_number_4?: string; property_number_5?: string; property_number_6?: string; " +
				"property_number_7?: string; /* 11 more */ }): Promise<any>"},
		{"many alternatives", `{"properties":{"a":{"enum":["1","2","3","4","5","6","7","8","9"]},"b":{"enum":[1,2,3,4,5,6,7,8,9]},"c":{"const":"` + strings.Repeat("x", 50) + `"}}}`, ``,
			"tools.s.t(args?: { a?: string; b?: number; c?: string }): Promise<any>"},
		{"broken", `{`, `{`, "tools.s.t(args: any): Promise<any>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := typescript.Signature(typescript.Tool{Server: "s", Name: "t", Input: []byte(c.input), Output: []byte(c.output)})
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
	got := typescript.Signature(typescript.Tool{Server: "a-b", Name: "c d"})
	if want := `tools["a-b"]["c d"](args: any): Promise<any>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBounded has schemas that would grow without end if they were written out.
func TestBounded(t *testing.T) {
	doubling := `{"$ref":"#/$defs/d0","$defs":{"end":{}`
	for i := range 40 {
		doubling += fmt.Sprintf(`,"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
	}
	doubling += `}}`
	pointing := `{"properties":{"x0":{"type":"string"}`
	for i := range 300 {
		pointing += fmt.Sprintf(`,"x%d":{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/properties/x%d"},"c":{"$ref":"#/properties/x%d/properties/a"}}}`, i+1, i, i)
	}
	pointing += `}}`
	for name, schema := range map[string]string{"doubling": doubling, "pointing": pointing} {
		tool := typescript.Tool{Server: "s", Name: "t", Description: strings.Repeat("long ", 10_000), Input: []byte(schema), Output: []byte(schema)}
		if declared := typescript.Declare([]typescript.Tool{tool}); len(declared) > 1<<20 {
			t.Errorf("%s: declared in %d bytes", name, len(declared))
		}
		if signature := typescript.Signature(tool); len(signature) > 300 {
			t.Errorf("%s: %s", name, signature)
		}
	}
}

// FuzzDeclare: whatever a server announces, there is one declaration in the words of this package, and comments end where they
// should.
func FuzzDeclare(f *testing.F) {
	for _, c := range types {
		f.Add("server", "tool", "It lists.", c.schema)
	}
	f.Add("a\"b", "*/", "*/ /* \u2028", `{"properties":{"*/":{"description":"*/","default":"*/","pattern":"*/"}},"enum":["*/\n"]}`)
	f.Fuzz(func(t *testing.T, server, name, description, schema string) {
		tool := typescript.Tool{Server: server, Name: name, Description: description, Input: []byte(schema), Output: []byte(schema)}
		if signature := typescript.Signature(tool); strings.ContainsAny(signature, "\n\r\u2028\u2029") {
			t.Errorf("a signature of several lines: %q", signature)
		}
		code := uncommented(t, typescript.Declare([]typescript.Tool{tool}))
		if n := strings.Count(code, "declare const tools: {\n"); n != 1 {
			t.Errorf("declared %d times: %q", n, code)
		}
		for _, r := range code {
			if r != '\n' && r < ' ' || r == '\u202e' || r == '\u2028' {
				t.Errorf("%q in %q", r, code)
			}
		}
		depth := 0
		for _, r := range code {
			switch r {
			case '{', '(', '[':
				depth++
			case '}', ')', ']':
				depth--
			}
			if depth < 0 {
				break
			}
		}
		if depth != 0 {
			t.Errorf("brackets do not pair: %q", code)
		}
	})
}

// uncommented takes comments and the insides of strings out of a declaration.
func uncommented(t *testing.T, code string) string {
	var b strings.Builder
	for code != "" {
		i := strings.IndexAny(code, `"/`)
		if i < 0 {
			break
		}
		b.WriteString(code[:i])
		code = code[i:]
		if strings.HasPrefix(code, "/*") {
			_, after, ok := strings.Cut(code[2:], "*/")
			if !ok {
				t.Errorf("an open comment: %q", code)
			}
			code = after
			continue
		}
		if code[0] == '/' {
			t.Errorf("a slash: %q", code)
			return b.String()
		}
		for i = 1; i < len(code) && code[i] != '"'; i++ {
			if code[i] == '\\' {
				i++
			}
		}
		if i >= len(code) {
			t.Errorf("an open string: %q", code)
			return b.String()
		}
		code = code[i+1:]
	}
	return b.String() + code
}
