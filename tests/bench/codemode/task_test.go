package codemode_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A task is put to an agent. It knows which tools there are, and makes no mistake.
type task struct {
	name   string
	server server
	calls  []call                             // of an agent that calls tools itself
	read   func([]*mcp.CallToolResult) string // what it answers, by what it got
	code   string                             // of one that writes programs: what it returns is the answer
	query  string                             // with which that one finds the tools, if it has to
	want   func(testing.TB, *session) string  // the answer, found in another way in a tracker of its own

	right, codeRight bool // whether each of them must find it
}

type issue struct {
	Repo     string `json:"repo"`
	Number   int    `json:"number"`
	Title    string `json:"title"`
	Comments int    `json:"comments"`
}

var repos = []string{"acme/api", "acme/web", "acme/cli", "acme/docs", "acme/infra"}

// tasks are those of the table.
func tasks(tb testing.TB) []task {
	tb.Helper()
	program, err := os.ReadFile("../../../examples/programs/top3.js")
	if err != nil {
		tb.Fatal(err)
	}
	found := "" // once: it takes 1,500 calls
	top := task{
		name: "Top 3 issues by comments: 5 × `list_issues`, 225 KB each", server: tracker(tb),
		read: readTop, code: string(program), query: "list issues", right: true, codeRight: true,
		want: func(tb testing.TB, s *session) string {
			if found == "" {
				found = wantTop(tb, s)
			}
			return found
		},
	}
	for _, repo := range repos {
		top.calls = append(top.calls, call{"list_issues", map[string]string{"repo": repo}})
	}
	governor := server{Command: os.Args[0], Env: map[string]string{governed: top.server.Command}}
	whole := top
	whole.name, whole.server, whole.right = "The same, a gateway before the server cuts lists to 4,000 tokens, but for programs", governor, false
	cut := whole
	governor.Env = map[string]string{governed: top.server.Command, blind: "yes"}
	cut.name, cut.server, cut.codeRight = "The same, the gateway does not look at `origin`", governor, false
	return []task{top, whole, cut, createOne(tracker(tb)), compareTwo(tracker(tb))}
}

// readTop takes lists of issues as they come: who reads a list that was cut does not know it.
func readTop(results []*mcp.CallToolResult) string {
	var all []issue
	for i, r := range results {
		var list []issue
		if json.Unmarshal([]byte(text(r)), &list) != nil {
			return text(r)
		}
		for _, one := range list {
			one.Repo = repos[i]
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b issue) int { return cmp.Compare(b.Comments, a.Comments) })
	return asJSON(all[:min(3, len(all))])
}

// wantTop looks at each issue by itself, so that no list has a part in it.
func wantTop(tb testing.TB, s *session) string {
	tb.Helper()
	var top [3]issue
	for _, repo := range repos {
		for number := 1; ; number++ {
			r := s.turn(call{"get_issue", map[string]any{"repo": repo, "number": number}})[0]
			if r.IsError {
				break // after the last one
			}
			one := issue{Repo: repo}
			if err := json.Unmarshal([]byte(text(r)), &one); err != nil {
				tb.Fatal(err)
			}
			for i := range top {
				if one.Comments > top[i].Comments {
					one, top[i] = top[i], one
				}
			}
		}
	}
	return asJSON(top)
}

func createOne(tracker server) task {
	return task{
		name: "One small call: `create_issue`", server: tracker, right: true, codeRight: true,
		calls: []call{{"create_issue", map[string]string{"repo": "acme/api", "title": "login fails after upgrade"}}},
		read:  func(r []*mcp.CallToolResult) string { return asJSON(issueOf(r[0]).Number) },
		code:  `return (await tools.tracker.create_issue({ repo: "acme/api", title: "login fails after upgrade" })).number`,
		query: "create issue",
		want: func(tb testing.TB, s *session) string {
			var list []issue
			if err := json.Unmarshal([]byte(text(s.turn(call{"list_issues", map[string]string{"repo": "acme/api"}})[0])), &list); err != nil {
				tb.Fatal(err)
			}
			return asJSON(len(list) + 1)
		},
	}
}

func compareTwo(tracker server) task {
	get := func(repo string, number int) call {
		return call{"get_issue", map[string]any{"repo": repo, "number": number}}
	}
	return task{
		name: "Two small calls: `get_issue`, which of two has more comments", server: tracker, right: true, codeRight: true,
		calls: []call{get("acme/infra", 117), get("acme/api", 42)},
		read: func(r []*mcp.CallToolResult) string {
			if issueOf(r[0]).Comments > issueOf(r[1]).Comments {
				return "acme/infra#117"
			}
			return "acme/api#42"
		},
		code: `const [a, b] = await Promise.all([
  tools.tracker.get_issue({ repo: "acme/infra", number: 117 }),
  tools.tracker.get_issue({ repo: "acme/api", number: 42 }),
]);
return a.comments > b.comments ? "acme/infra#117" : "acme/api#42"`,
		query: "get issue",
		want: func(tb testing.TB, s *session) string {
			comments := func(repo string, number int) int {
				var list []issue
				if err := json.Unmarshal([]byte(text(s.turn(call{"list_issues", map[string]string{"repo": repo}})[0])), &list); err != nil {
					tb.Fatal(err)
				}
				i := slices.IndexFunc(list, func(i issue) bool { return i.Number == number })
				return list[i].Comments
			}
			if comments("acme/api", 42) > comments("acme/infra", 117) {
				return "acme/api#42"
			}
			return "acme/infra#117"
		},
	}
}

// plainly does the task by calls, one a turn or all in one, and returns the answer.
func (t task) plainly(s *session, atOnce bool) string {
	s.tb.Helper()
	var results []*mcp.CallToolResult
	if atOnce {
		results = s.turn(t.calls...)
	} else {
		for _, c := range t.calls {
			results = append(results, s.turn(c)...)
		}
	}
	s.turns++ // to answer
	return t.read(results)
}

// byProgram does the task by a program, and returns what that returned: there is nothing to read in it. With search, it looks for the
// tools first.
func (t task) byProgram(s *session, search bool) string {
	s.tb.Helper()
	if search {
		s.turn(call{"search_tools", map[string]string{"query": t.query}})
	}
	results := s.turn(call{"execute_code", map[string]string{"code": t.code}})
	s.turns++
	return text(results[0])
}

func text(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

func issueOf(r *mcp.CallToolResult) (i issue) {
	if err := json.Unmarshal([]byte(text(r)), &i); err != nil {
		panic(fmt.Sprintf("no issue: %s", text(r)))
	}
	return i
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of types of this file
	}
	return string(text)
}
