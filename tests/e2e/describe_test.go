package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestDescribe: what was announced, as TypeScript, and what was not, as an error.
func TestDescribe(t *testing.T) {
	t.Parallel()
	g := hub(t)
	all, err := g.Describe(t.Context(), sandboxd.DescribeParams{})
	if err != nil || len(all.Tools) != len(announced) || all.Declarations != "" {
		t.Fatalf("%+v, %v", all, err)
	}
	some, err := g.Describe(t.Context(), sandboxd.DescribeParams{
		Tools: []sandboxd.ToolName{{Server: "my-hub", Tool: "list_issues"}, {Server: "context7"}}, Declarations: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := sandboxd.DescribeResult{
		Tools: []sandboxd.DescribedTool{
			{Server: "context7", Tool: "resolve-library-id", Signature: `tools.context7["resolve-library-id"](args: { libraryName: string }): Promise<any>`},
			{Server: "my-hub", Tool: "list_issues", Signature: `tools["my-hub"].list_issues(args: { owner: string; state?: "open" | "closed"; labels?: string[] }): Promise<any>`},
		},
		Declarations: `declare const tools: {
  context7: {
    /** finds a library */
    "resolve-library-id"(args: {
      libraryName: string;
    }): Promise<any>;
  };
  "my-hub": {
    list_issues(args: {
      owner: string;
      state?: "open" | "closed";
      labels?: string[];
    }): Promise<any>;
  };
};
`,
	}
	if diff := cmp.Diff(want, some); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[sandboxd.ToolName]string{
		{Server: "github"}:                      `tools[0]: "github" was not announced by initialize`,
		{Server: "my-hub", Tool: "list_isues"}:  `tools[0]: no tool "list_isues" of "my-hub" was announced by initialize`,
		{Server: "context7", Tool: "toString"}:  `tools[0]: no tool "toString" of "context7"`,
		{Server: "open", Tool: "anything else"}: `tools[0]: no tool "anything else" of "open"`,
	} {
		if _, err := g.Describe(t.Context(), sandboxd.DescribeParams{Tools: []sandboxd.ToolName{name}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", name, err, want)
		}
	}
}

// TestDescribeTooMuch: an answer that would be no line is an error that says what to do. What can't be seen is written as an
// escape, three times as long.
func TestDescribeTooMuch(t *testing.T) {
	t.Parallel()
	var tools []sandboxd.Tool
	schema := `{"properties":{"a":{"enum":["` + strings.Repeat("\u00ad", 50_000) + `"]}}}`
	for i := range 30 {
		tools = append(tools, sandboxd.Tool{Server: "s", Name: strings.Repeat("x", i+1), InputSchema: json.RawMessage(schema)})
	}
	c := daemon.Start(t, daemon.Options{}).Dial(t, sandboxd.Options{Name: "many", Servers: []string{"s"}, Announce: tools})
	if d, err := c.Describe(t.Context(), sandboxd.DescribeParams{}); err != nil || len(d.Tools) != 30 {
		t.Errorf("signatures: %v", err)
	}
	one := sandboxd.DescribeParams{Tools: []sandboxd.ToolName{{Server: "s", Tool: "x"}}, Declarations: true}
	if d, err := c.Describe(t.Context(), one); err != nil || !strings.Contains(d.Declarations, `\u00ad\u00ad`) {
		t.Errorf("one declaration: %v", err)
	}
	one.Tools = nil
	if _, err := c.Describe(t.Context(), one); err == nil || !strings.Contains(err.Error(), "over 4194304: ask for fewer tools at once") {
		t.Errorf("all declarations: %v", err)
	}
}
