package server

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd"
)

// What is obviously no program. Seen in OpenClaw #115275 and #113069.
func TestScreen(t *testing.T) {
	for message, sources := range map[string][]string{
		"empty":         {"", " \n\t", ";", "// nothing", "/* a */ // b\n/* c */", "```js\n```", "```\n// nothing\n```"},
		"JSON object":   {"{}", `{"a": 1}`, `{"code": "return 1"}`, "\n{\n  \"a\": [1, {\"b\": null}]\n}\n", "```json\n{\"a\": 1}\n```"},
		"quoted string": {`"return 1"`, `'return 1'`, "`return 1`", `"a \"b\" c"`, `"use strict";`, "```\n'x'\n```", `"return await tools.a.x({})\n"`},
		"markup":        {"<html></html>", "<tool_call>\nx\n</tool_call>", "<?xml version='1.0'?>", "<!doctype html><p>"},
		"shell command": {
			"ls", "ls -la", "ls /tmp", "git status", "git log --oneline | head", "cd src && make", "cat file.txt", "npm install lodash", "$ ls", "pwd\nls -l",
			"curl https://example.com", "echo \"hello\"", "python3 script.py", "rm -rf /", "#!/bin/sh\nls", "#!/usr/bin/env python\nprint(1)", "export PATH=$PATH:/x",
			"```bash\nls -la\n```", "grep -r foo .", "find . -name '*.js'", "sudo apt-get install x", "head ~/x",
		},
		"": {
			"return 1", "1", "[1, 2]", "null", "({ a: 1 })", "{ a: 1 }", "{ const a = 1; return a }", `{"a": 1}.a`, "ls.map(x => x)", "find (x)", "const ls = 1", "git = 1",
			"cat + 1", "cat - dog", "cat / dog / x", "make()", "env in x", "head instanceof Node", "tail as string[]", "echo `x`", "export default 1", "export const a = 1", "export { a }", "export async function f() {}",
			`"a" + "b"`, `'a', 'b'`, "`a` + `b`", "`${x}`", `"a".length`, "'use strict'\nreturn 1", `"`, "'", `"\"`, "/* open", "#!/usr/bin/env node\nreturn 1", "#!/usr/bin/env -S npx tsx\nreturn 1",
			"<T>(x: T) => x", "<!-- x\nreturn 1", "```js\nreturn 1\n```", "Here:\n```js\nls\n```", "```js\n1\n```\n```js\n2\n```", "ls // list", "cat /* x */ = 1", "ls\n.x()", "go: for (;;) break go",
		},
	} {
		for _, source := range sources {
			e := screen(source, sandboxd.Limits{SourceBytes: 1000})
			switch {
			case e == nil && message != "":
				t.Errorf("%q was let through, want %q", source, message)
			case e != nil && (message == "" || !strings.Contains(e.Message, message) || e.Hint == ""):
				t.Errorf("%q: %q, hint %q, want %q", source, e.Message, e.Hint, message)
			}
		}
	}
}
