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

func announce(t *testing.T, servers []string, tools ...sandboxd.Tool) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(servers, tools)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		servers []string
		tools   []sandboxd.Tool
		want    string
	}{
		{"too many servers", numbered(257), nil, "servers: 257 names, at most 256"},
		{"too long servers", []string{strings.Repeat("x", 128), strings.Repeat("y", 129)}, nil, "servers[1]: a name has 1 to 128 bytes"},
		{"servers of no name", []string{""}, nil, "servers[0]: a name has 1 to 128 bytes"},
		{"a server twice", []string{"a", "b", "a"}, nil, `servers[2]: "a" stands there twice`},
		{"a server that can't be seen", []string{"a\u202e"}, nil, `servers[0]: "a\u202e" has the character U+202E, which can't be seen`},
		{"a server with a line break", []string{"a\nb"}, nil, `servers[0]: "a\nb" has the character U+000A, which can't be seen`},
		{"names of servers", longNames(129), nil, "servers: the names have more than 16384 bytes together"},
		{"no such server", []string{"a"}, []sandboxd.Tool{{Server: "b", Name: "x"}}, "tools[0].server: \"b\" is none of `servers`"},
		{"no name", []string{"a"}, []sandboxd.Tool{{Server: "a"}}, "tools[0].name: a name has 1 to 128 bytes"},
		{"a tab", []string{"a"}, []sandboxd.Tool{{Server: "a", Name: "x\ty"}}, `tools[0].name: "x\ty" has the character U+0009, which can't be seen`},
		{"a tool twice", []string{"a"}, []sandboxd.Tool{{Server: "a", Name: "x"}, {Server: "a", Name: "x"}}, `tools[1]: "x" of "a" stands there twice`},
		{"too many tools", []string{"a"}, make([]sandboxd.Tool, 4097), "tools: 4097 tools, at most 4096"},
		{"too many bytes", []string{"a"}, []sandboxd.Tool{
			{Server: "a", Name: "x", InputSchema: make(json.RawMessage, 2<<20)},
			{Server: "a", Name: "y", OutputSchema: make(json.RawMessage, 1<<20), Description: strings.Repeat("d", 1<<20)},
		}, "tools[1]: the tools have more than 4194304 bytes together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := catalog.New(c.servers, c.tools)
			if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("s", i))
	}
	return names
}

func longNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%0128d", i))
	}
	return names
}

// TestAliases: a name behind a dot, and never one that could be another tool's.
func TestAliases(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string // name=alias,alias …
	}{
		{[]string{"resolve-library-id"}, "resolve-library-id=resolve_library_id,resolveLibraryId"},
		{[]string{"list_issues", "getX", "$a", "délai"}, "list_issues= getX= $a= délai="},
		{[]string{"a.b/c"}, "a.b/c=a_b_c,aBC"},
		{[]string{"get-"}, "get-=get_,get"},
		{[]string{"2fa-on"}, "2fa-on=_2fa_on"},
		{[]string{"-"}, "-=_"},
		{[]string{"a-b", "a_b"}, "a-b=aB a_b="},
		{[]string{"a-b", "a.b", "aB"}, "a-b= a.b= aB="},
		{[]string{"a-b", "a_b", "aB"}, "a-b= a_b= aB="},
		{[]string{"get-x", "get-X"}, "get-x=get_x get-X=get_X"},
		{[]string{"Get-x", "get-x"}, "Get-x=Get_x,GetX get-x=get_x,getX"},
		{[]string{"to-string", "value-of", "to-JSON"}, "to-string=to_string value-of=value_of to-JSON=to_JSON"},
		{[]string{"a-b", "a--b"}, "a-b=a_b a--b=a__b"},
		{[]string{"e-\u0301x"}, "e-\u0301x=e__x,eX"},
	} {
		servers := announce(t, c.names).Servers
		var tools []sandboxd.Tool
		for _, name := range c.names {
			tools = append(tools, sandboxd.Tool{Server: "s", Name: name})
		}
		one := announce(t, []string{"s"}, tools...)
		s := one.Server("s")
		var ofServers, ofTools, text []string
		for i, name := range c.names {
			ofServers = append(ofServers, name+"="+strings.Join(servers[i].Aliases, ","))
			ofTools = append(ofTools, name+"="+strings.Join(s.Tools[i].Aliases, ","))
			text = append(text, "\t"+strings.Join(append([]string{name}, s.Tools[i].Aliases...), "\t")+"\n")
		}
		if got := strings.Join(ofServers, " "); got != c.want {
			t.Errorf("servers %q: got %s, want %s", c.names, got, c.want)
		}
		if got := strings.Join(ofTools, " "); got != c.want {
			t.Errorf("tools %q: got %s, want %s", c.names, got, c.want)
		}
		if diff := cmp.Diff("s\n"+strings.Join(text, ""), string(one.Names)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNarrow(t *testing.T) {
	c := announce(t, []string{"a-b", "a_b", "c"}, sandboxd.Tool{Server: "c", Name: "x"})
	n, err := c.Narrow([]string{"c", "a-b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c", "a-b"}, n.ServerNames()); diff != "" {
		t.Error(diff)
	}
	if n.Server("a_b") != nil || n.Server("c").Tool("x") == nil || n.Server("c").Tool("y") != nil {
		t.Error("the narrowed catalog has other servers or tools")
	}
	if got := n.Server("a-b").Aliases; len(got) != 1 || got[0] != "aB" {
		t.Errorf("with fewer servers a-b is %q too", got)
	}
	if got, want := string(n.Names), "c\n\tx\na-b\taB\n"; got != want {
		t.Errorf("names %q, want %q", got, want)
	}
	for want, names := range map[string][]string{
		`servers[1]: "z" was not announced by initialize`: {"c", "z"},
		`servers[1]: "c" stands there twice`:              {"c", "c"},
	} {
		if _, err := c.Narrow(names); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
