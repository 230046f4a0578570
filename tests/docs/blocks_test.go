package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fenced is a block of a page between fences.
type fenced struct {
	page, lang, text string
}

// name is what the block is known by: its page and its first line.
func (f fenced) name() string {
	first, _, _ := strings.Cut(f.text, "\n")
	return f.page + ": " + strings.TrimSpace(first)
}

// check holds a block to what it says.
type check func(t *testing.T, f fenced)

// sessions are the pages whose blocks are done one after the other, as a reader does them; see shellSession.do.
var sessions = []string{"README.md", "docs/getting-started.md", "docs/guard.md", "docs/policy-examples.md"}

// checks are of blocks that are no part of a session, or of none. A block that is in neither fails TestBlocks.
var checks = map[string]check{
	"README.md: $ make run":        by("TestMakeRun"),
	"README.md: pool := sandboxd.": goSnippet,
	"README.md: $ make deb   #":    spoken,
	"README.md: version: 1":        policyText,

	"docs/architecture.md: gateway ──":                               drawn,
	"docs/architecture.md: L5 ":                                      drawn,
	"docs/audit.md: $ ":                                              auditCommands,
	"docs/audit.md: {\"seq\":7":                                      auditLine,
	"docs/configuration.md: $ sandboxctl config check sandboxd.yaml": by("TestConfigurationPage"),
	"docs/doctor.md: ":                                               doctorSays,
	"docs/gateways.md: $ make build":                                 inSession,
	"docs/gateways.md: $ export":                                     by("TestGatewaysPage"),
	"docs/guard.md: guard:":                                          configText,
	"docs/guard.md: {\"action\"":                                     guardTakes,
	"docs/guard.md: {\"verdict\"":                                    guardAnswers,
	"docs/guard.md: url: ":                                           guardConfig,
	"docs/javascript.md: tools.":                                     signature,

	"docs/mcp.md: {\"mcpServers\"": by("TestMCPSnippets"),
	"docs/mcp.md: {\"servers\"":    by("TestMCPSnippets"),
	"docs/mcp.md: {":               jsonText,
	"docs/mcp.md: version: 1":      by("TestMCPPolicy"),
	"docs/mcp.md: $ ":              by("TestMCPCommands"),

	"docs/metrics.md: metrics:":                   configText,
	"docs/metrics.md: # prom":                     scraped,
	"docs/operations.md: $ ":                      by("TestOperationsPage"),
	"docs/operations.md: ":                        spoken,
	"docs/policy.md: # policy.yaml":               by("TestPolicyPage"),
	"docs/policy.md: # policy.test.yaml":          by("TestPolicyPage"),
	"docs/policy.md: $ sandboxctl policy explain": by("TestPolicyPage"),
	"docs/policy.md: version: 1":                  policyText,
	"docs/profiles.md: ":                          elsewhere("internal/profile", "TestExamples"),
	"docs/traces.md: traces:":                     configText,
	"docs/traces.md: # The OpenTelemetry":         collected,

	"clients/python/README.md: import asyncio":       by("TestClientReadmes"),
	"clients/python/README.md: ok [":                 by("TestClientReadmes"),
	"clients/typescript/README.md: import { connect": by("TestClientReadmes"),
	"clients/typescript/README.md: ok [":             by("TestClientReadmes"),
}

// whole are the pages of which a check does each block that its name stands for. On others a check is of one block.
var whole = []string{"docs/audit.md", "docs/mcp.md", "docs/operations.md", "docs/profiles.md"}

// TestBlocks: each block of each page is run, or read by what reads its like.
func TestBlocks(t *testing.T) {
	used := make(map[string]int)
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			var s *shellSession
			for _, f := range blocks(t, page) {
				c, key := checkOf(f)
				used[key]++
				switch {
				case c != nil && used[key] > 1 && !slices.Contains(whole, page):
					t.Errorf("%s: the check %q is another block's: give this one a check of its own", f.name(), key)
				case c != nil:
					c(t, f)
				case !slices.Contains(sessions, page):
					t.Errorf("%s: no test runs this block: add it to checks, or its page to sessions", f.name())
				default:
					if s == nil {
						s = newSession(t)
					}
					s.do(t, f)
				}
			}
		})
	}
	for key := range checks {
		if used[key] == 0 {
			t.Errorf("there is no block %q", key)
		}
	}
}

// checkOf is the check of the longest name that the block's begins with.
func checkOf(f fenced) (c check, longest string) {
	for key := range checks {
		if strings.HasPrefix(f.name(), key) && len(key) > len(longest) {
			longest = key
		}
	}
	return checks[longest], longest
}

// pages are all of the repository that have text for people.
func pages(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules", "testdata"}, d.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		page, err := filepath.Rel(root, path)
		all = append(all, page)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// blocks are those of a page, in order.
func blocks(t *testing.T, page string) (all []fenced) {
	t.Helper()
	var open *fenced
	for line := range strings.Lines(read(t, page)) {
		fence, isFence := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case isFence && open == nil:
			open = &fenced{page: page, lang: strings.TrimSpace(fence)}
		case isFence:
			all, open = append(all, *open), nil
		case open != nil:
			open.text += line
		case strings.Contains(line, "~~~"):
			t.Errorf("%s has a fence of another kind: %s", page, line)
		}
	}
	if open != nil {
		t.Errorf("%s: a block is not closed", page)
	}
	return all
}

// by says that a test of this package does a block, and fails if there is none of that name.
func by(test string) check { return elsewhere("tests/docs", test) }

func elsewhere(dir, test string) check {
	return func(t *testing.T, f fenced) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		declared := regexp.MustCompile(`(?m)^func ` + test + `\(t \*testing\.T\)`)
		reads := regexp.MustCompile(regexp.QuoteMeta(f.page))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if declared.Match(text) && reads.Match(text) {
				return
			}
		}
		t.Errorf("%s: %s has no %s that reads the page", f.name(), dir, test)
	}
}

// TestNoBlockGoesUnseen: a block that is new has no check.
func TestNoBlockGoesUnseen(t *testing.T) {
	for _, page := range pages(t) {
		if slices.Contains(sessions, page) || slices.Contains(whole, page) || page == "docs/doctor.md" { // does all of its blocks
			continue
		}
		if c, key := checkOf(fenced{page: page, lang: "console", text: "$ true\n"}); c != nil {
			t.Errorf("%s: %q takes any block", page, key)
		}
	}
}
