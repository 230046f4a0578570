package js

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// absent are names that programs written for node or a browser use, and what there is instead.
var absent = map[string]string{
	"fetch":             noNetwork,
	"XMLHttpRequest":    noNetwork,
	"WebSocket":         noNetwork,
	"EventSource":       noNetwork,
	"axios":             noNetwork,
	"Headers":           noNetwork,
	"Request":           noNetwork,
	"Response":          noNetwork,
	"FormData":          noNetwork,
	"http":              noNetwork,
	"https":             noNetwork,
	"require":           noModules,
	"module":            noModules,
	"exports":           noModules,
	"process":           noProcess,
	"Deno":              noProcess,
	"Bun":               noProcess,
	"__dirname":         noProcess,
	"__filename":        noProcess,
	"fs":                noProcess,
	"path":              noProcess,
	"os":                noProcess,
	"child_process":     noProcess,
	"window":            noBrowser,
	"document":          noBrowser,
	"navigator":         noBrowser,
	"location":          noBrowser,
	"localStorage":      noBrowser,
	"sessionStorage":    noBrowser,
	"alert":             noBrowser,
	"prompt":            noBrowser,
	"self":              "there is no self: use globalThis",
	"Blob":              "there is no Blob: use strings, or Uint8Array",
	"File":              "there is no File: use strings, or Uint8Array",
	"Temporal":          "there is no Temporal: use Date",
	"Float16Array":      "there is no Float16Array: use Float32Array, with Math.f16round",
	"WebAssembly":       "there is no WebAssembly: a program is JavaScript",
	"Worker":            noThreads,
	"Atomics":           noThreads,
	"MessageChannel":    noThreads,
	"SharedArrayBuffer": noThreads,
	"global":            "there is no global: use globalThis",
	"Buffer":            "there is no Buffer: use Uint8Array, with TextEncoder, TextDecoder, Uint8Array.fromBase64 and toHex",
	"print":             "there is no print: use console.log, and return the result",
}

// What is called instead is said with the names of the run's servers, by instead.
const (
	noNetwork = "a program has no network"
	noModules = "a program has no modules: the language, `tools`, `input` and `console` are all there is"
	noProcess = "a program has no files, environment or process: what it is to know comes as `input`"
	noThreads = "a program has one thread: use promises"
	noBrowser = "a program does not run in a browser: return what is to be shown"
)

// instead adds to a hint how tools are called, and on which servers.
func (e *Engine) instead(hint string) string {
	switch hint {
	case noNetwork, noModules, noProcess, noBrowser:
	default:
		return hint
	}
	const most = 8
	names := e.tools.names
	switch {
	case len(names) == 0:
		return hint + "; this run was given no servers to call tools of"
	case len(names) == 1:
		return hint + "; to call a tool: await tools" + property(names[0]) + ".<tool>({ … })"
	}
	list := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		list += ", …"
	}
	return hint + "; to call a tool: await tools.<server>.<tool>({ … }), of the servers " + list
}

// Compiled when they are first used: a worker whose program is right pays nothing for them at its birth.
var (
	notDefined    = lazily(`^ReferenceError: (\S+) is not defined`)
	ofUndefined   = lazily(`^TypeError: Cannot read property '.*' of undefined`)
	importSyntax  = lazily(`^\s*(?:import\b|export\b.*\bfrom\b)|\bimport\s*[.(]`)
	colonRefused  = lazily(`(?:Unexpected token :|found ":")$`)
	objectSyntax  = lazily(`^\s*\{?\s*(?:[\pL_$][\pL\pN_$]*|"[^"]*"|'[^']*')\s*:`)
	nestedDefault = lazily(`\[[^\]]*=[^\]]*\]\s*=`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// explain adds what a model needs to mend an uncaught error in one step.
func (e *Engine) explain(failure *Error, at thrownPlace) {
	if m := notDefined().FindStringSubmatch(failure.Message); m != nil {
		failure.Hint = e.undefinedHint(m[1])
		return
	}
	missing := e.tools.missing
	if missing != "" && ofUndefined().MatchString(failure.Message) && strings.Contains(failure.Frame, missing) {
		failure.Message = e.tools.missingMessage()
		failure.Hint = "take a server's name from Object.keys(tools)"
		return
	}
	if at.Line > 0 {
		e.nameReceiver(failure, at)
	}
}

func (e *Engine) undefinedHint(name string) string {
	if hint, ok := absent[name]; ok {
		return e.instead(hint)
	}
	if slices.Contains(e.tools.names, name) {
		return fmt.Sprintf("a server is a property of tools: await tools.%s.<tool>({ … })", name)
	}
	return ""
}

// otherLanguages are labels of code fences that say that what they hold is no program.
var otherLanguages = []string{"bash", "sh", "shell", "zsh", "console", "python", "py", "ruby", "go", "java", "rust", "php", "sql", "html", "css", "yaml", "json", "xml", "text", "txt", "diff"}

// syntaxHint explains the syntax errors whose message says little.
func (e *Engine) syntaxHint(failure *Error, s *source) string {
	switch {
	case strings.HasSuffix(failure.Message, severalFences):
		return "send one program, without anything around it"
	case slices.Contains(otherLanguages, s.label):
		return fmt.Sprintf("the code fence says %s: a program is JavaScript or TypeScript", s.label)
	case importSyntax().MatchString(failure.Frame):
		failure.Message = "SyntaxError: import is not available"
		return e.instead(noModules)
	case strings.ContainsAny(failure.Frame, "“”‘’"):
		return "the line has typographic quotation marks: use \" or '"
	case strings.HasSuffix(failure.Message, "Invalid destructuring binding target") && nestedDefault().MatchString(failure.Frame):
		return "the engine can't read `await` inside of an array pattern that has a default of its own: take that array apart on a line of its own"
	case colonRefused().MatchString(failure.Message) && objectSyntax().MatchString(failure.Frame):
		return "a statement can't begin with an object: write return { … }, or ({ … })"
	}
	return ""
}
