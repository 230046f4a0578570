package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd"
)

// screen refuses what is obviously no program, before it costs a worker. It errs towards letting through: what is
// only wrong is told better by the engine, with its place.
func screen(source string, limits sandboxd.Limits) *sandboxd.Error {
	switch {
	case int64(len(source)) > limits.SourceBytes:
		return &sandboxd.Error{
			Message: fmt.Sprintf("the program has %d bytes, at most %d are allowed", len(source), limits.SourceBytes),
			Hint:    "pass data as `input`, or fetch it with a tool, instead of writing it into the program",
		}
	case strings.ContainsRune(source, 0):
		return &sandboxd.Error{Message: "the program contains a NUL byte", Hint: "send text"}
	case !utf8.ValidString(source):
		return &sandboxd.Error{Message: "the program is not UTF-8", Hint: "send text in UTF-8"}
	}
	const example = "send the body of an async function, such as: return await tools.server.tool({})"
	code := unfenced(source)
	switch {
	case blank(code):
		return &sandboxd.Error{Message: "the program is empty", Hint: example}
	case strings.HasPrefix(code, "{") && json.Valid([]byte(code)):
		return &sandboxd.Error{Message: "the program is a JSON object", Hint: "send the program's text, and data as `input`; " + example}
	case quotation(code):
		return &sandboxd.Error{Message: "the program is a quoted string", Hint: "send the text without the quotation marks around it; " + example}
	case markup(code):
		return &sandboxd.Error{Message: "the program is markup", Hint: example}
	case shell(code):
		return &sandboxd.Error{Message: "the program is a shell command", Hint: "there is no shell: a program is JavaScript that calls tools; " + example}
	}
	return nil
}

// unfenced is what stands in the one code fence that a text consists of, or else the text, trimmed.
func unfenced(source string) string {
	source = strings.TrimSpace(source)
	if first, rest, ok := strings.Cut(source, "\n"); ok && strings.HasPrefix(first, "```") {
		if code, ok := strings.CutSuffix(rest, "```"); ok && !strings.Contains(code, "```") {
			return strings.TrimSpace(code)
		}
	}
	return source
}

// blank reports that there is nothing but white space and comments.
func blank(source string) bool {
	for {
		source = strings.TrimSpace(source)
		switch {
		case source == "", source == ";":
			return true
		case strings.HasPrefix(source, "//"):
			_, source, _ = strings.Cut(source, "\n")
		case strings.HasPrefix(source, "/*"):
			_, rest, closed := strings.Cut(source[2:], "*/")
			if !closed {
				return false // a syntax error, which the engine words and places better
			}
			source = rest
		default:
			return false
		}
	}
}

// quotation reports one string and nothing else: most often a program that was quoted once too often.
func quotation(source string) bool {
	source = strings.TrimSuffix(source, ";")
	if len(source) < 2 || !strings.Contains("\"'`", source[:1]) || source[0] != source[len(source)-1] {
		return false
	}
	for i := 1; i < len(source)-1; i++ {
		switch {
		case source[i] == source[0], source[0] == '`' && strings.HasPrefix(source[i:], "${"):
			return false
		case source[i] == '\\':
			i++
			if i == len(source)-1 {
				return false // the last mark is escaped
			}
		}
	}
	return true
}

// markup reports a text that begins with a tag, which no program does.
func markup(source string) bool {
	return len(source) > 1 && source[0] == '<' && (source[1] == '?' || source[1] == '!' || source[1] == '/' || isLetter(source[1])) &&
		!strings.HasPrefix(source, "<!--") && strings.HasSuffix(source, ">")
}

// commands are what models call when they take a program for a shell.
var commands = []string{
	"apt", "apt-get", "awk", "bash", "brew", "cargo", "cat", "cd", "chmod", "chown", "cp", "curl", "df", "docker", "du", "echo", "env", "export",
	"find", "gcc", "gh", "git", "go", "grep", "head", "java", "kubectl", "kill", "less", "ln", "ls", "make", "mkdir", "mv", "node", "npm", "npx", "pip", "pip3",
	"pnpm", "ps", "pwd", "python", "python3", "rg", "rm", "ruby", "sed", "sh", "ssh", "sudo", "tail", "tar", "touch", "unzip", "uname", "wc", "wget", "which",
	"whoami", "yarn",
}

// shell reports a shell script by its first line: a command alone, or with arguments that can't follow a name in
// JavaScript.
func shell(source string) bool {
	line, rest, _ := strings.Cut(source, "\n")
	line, rest = strings.TrimSpace(line), strings.TrimSpace(rest)
	if interpreter, ok := strings.CutPrefix(line, "#!"); ok {
		return !slices.ContainsFunc([]string{"node", "deno", "bun", "tsx", "ts-node"}, func(js string) bool { return strings.Contains(interpreter, js) })
	}
	line = strings.TrimPrefix(line, "$ ")
	name, arguments, _ := strings.Cut(line, " ")
	if !slices.Contains(commands, name) {
		return false
	}
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return rest == "" || shell(rest) // alone, it could be a name that the next line goes on from
	}
	if first, _, _ := strings.Cut(arguments, " "); slices.Contains([]string{"in", "of", "instanceof", "as", "satisfies"}, first) || name == "export" && slices.Contains(exported, first) {
		return false
	}
	first, second := arguments[0], (arguments + " ")[1]
	return isLetter(first) || strings.IndexByte("~.\"'$@", first) >= 0 ||
		first == '-' && (isLetter(second) || second == '-') || first == '/' && isLetter(second)
}

// exported are the words that may stand behind JavaScript's export.
var exported = []string{"default", "const", "let", "var", "async", "function", "class", "abstract", "interface", "type", "enum", "declare", "namespace"}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
