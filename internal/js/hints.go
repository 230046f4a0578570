package js

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sandboxd/sandboxd/internal/near"
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
	"_":                 noModules,
	"lodash":            noModules,
	"moment":            noModules,
	"dayjs":             noModules,
	"$":                 noBrowser,
	"jQuery":            noBrowser,
	"await":             notAsync,
	"None":              "there is no None: use null",
	"True":              "there is no True: use true",
	"False":             "there is no False: use false",
	"args":              isInput,
	"params":            isInput,
	"inputs":            isInput,
	"callTool":          isTools,
	"call_tool":         isTools,
	"mcp":               isTools,
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
	notAsync  = "this await stands in a function that is not async: write async before its parameters, and await Promise.all(…) around a map"
	isInput   = "what the program was given is `input`"
	isTools   = "tools are functions of their servers"
)

// instead adds to a hint how tools are called, and on which servers.
func (e *Engine) instead(hint string) string {
	switch hint {
	case noNetwork, noModules, noProcess, noBrowser, isTools:
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
	awaitBefore   = lazily(`\bawait\s+$`)
	yieldBefore   = lazily(`\byield\s+$`)
	pythonSyntax  = lazily(`^\s*(?:def|elif|for|if|while|try|except|with|class)\b[^{]*:\s*$`)
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
	if e.reword(failure, at) {
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
	called, _, ok := strings.Cut(failure.Message, " is not a function")
	if ok && missing != "" && (called == "TypeError: tools"+property(missing) || called == "TypeError: "+missing) {
		failure.Message = e.tools.missingMessage()
		failure.Hint = e.instead(isTools)
		if of := e.tools.serversOf(missing); len(of) > 0 {
			failure.Hint = "did you mean tools" + property(of[0]) + property(missing) + "?"
		}
	}
	if strings.HasPrefix(failure.Message, "TypeError: Intl.") && strings.HasSuffix(failure.Message, " is not a constructor") {
		failure.Hint = "Intl has NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat and RelativeTimeFormat"
	}
}

// reword explains what goja says in words that don't tell what is wrong, or what to do.
func (e *Engine) reword(failure *Error, at thrownPlace) bool {
	switch failure.Message {
	case "ReferenceError: Cannot access a variable before initialization":
		e.nameEarly(failure, at)
	case "TypeError: Assignment to constant variable.":
		failure.Hint = "declare it with let instead of const"
	case "TypeError: Dynamic object is not callable":
		failure.Message = "TypeError: tools, or a server of it, is not a function"
		failure.Hint = e.instead(isTools)
	case "TypeError: Object has no member 'Symbol.iterator'":
		if e.source.lowered == nil {
			return false
		}
		failure.Message = "TypeError: `for await` goes through what is not iterable"
		failure.Hint = "await a tool's answer first: for (const x of await tools.<server>.<tool>({ … }))"
	default:
		return false
	}
	return true
}

// nameEarly says which variable it was that was read before its declaration.
func (e *Engine) nameEarly(failure *Error, at thrownPlace) {
	text := e.source.compiled()
	offset := byteOffset(text, at.Line, at.Column-1)
	if at.Line == 0 || offset >= len(text) {
		return
	}
	rest := text[offset:]
	n := strings.IndexFunc(rest, func(r rune) bool { return !isNamePart(r) })
	if name := rest[:max(n, 0)]; name != "" {
		failure.Message = "ReferenceError: Cannot access '" + name + "' before initialization"
		failure.Hint = "move its declaration up, before the code that uses it"
	}
}

func (e *Engine) undefinedHint(name string) string {
	if hint, ok := absent[name]; ok {
		return e.instead(hint)
	}
	if slices.Contains(e.tools.names, name) {
		return fmt.Sprintf("a server is a property of tools: await tools.%s.<tool>({ … })", name)
	}
	if like := near.Names(name, append(e.source.declared(), e.vm.GlobalObject().GetOwnPropertyNames()...)); len(like) > 0 {
		return "did you mean " + near.List(like) + "?"
	}
	return ""
}
