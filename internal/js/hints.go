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
	"fetch":          noNetwork,
	"XMLHttpRequest": noNetwork,
	"WebSocket":      noNetwork,
	"axios":          noNetwork,
	"require":        noModules,
	"module":         noModules,
	"exports":        noModules,
	"process":        noProcess,
	"Deno":           noProcess,
	"Bun":            noProcess,
	"__dirname":      noProcess,
	"__filename":     noProcess,
	"fs":             noProcess,
	"window":         noBrowser,
	"document":       noBrowser,
	"localStorage":   noBrowser,
	"alert":          noBrowser,
	"Buffer":         "there is no Buffer: use strings, arrays or Uint8Array",
	"setImmediate":   "there is no setImmediate: use setTimeout or queueMicrotask",
}

const (
	noNetwork = "a program has no network: call a tool, await tools.<server>.<tool>({ … })"
	noModules = "a program has no modules: the language, `tools`, `input` and `console` are all there is"
	noProcess = "a program has no files, environment or process: call a tool, await tools.<server>.<tool>({ … })"
	noBrowser = "a program does not run in a browser: call a tool, and return what is to be shown"
)

// Compiled when they are first used: a worker whose program is right pays nothing for them at its birth.
var (
	notDefined   = lazily(`^ReferenceError: (\S+) is not defined`)
	ofUndefined  = lazily(`^TypeError: Cannot read property '.*' of undefined`)
	importSyntax = lazily(`^\s*(?:import\b|export\b)|\bimport\s*\(`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// explain adds what a model needs to mend an uncaught error in one step.
func (e *Engine) explain(failure *Error) {
	if m := notDefined().FindStringSubmatch(failure.Message); m != nil {
		failure.Hint = e.undefinedHint(m[1])
		return
	}
	missing := e.tools.missing
	if missing != "" && ofUndefined().MatchString(failure.Message) && strings.Contains(failure.Frame, missing) {
		failure.Message = e.tools.missingMessage()
		failure.Hint = "take a server's name from Object.keys(tools)"
	}
}

func (e *Engine) undefinedHint(name string) string {
	if hint, ok := absent[name]; ok {
		return hint
	}
	if slices.Contains(e.tools.names, name) {
		return fmt.Sprintf("a server is a property of tools: await tools.%s.<tool>({ … })", name)
	}
	return ""
}

// syntaxHint explains the syntax errors whose message says little.
func syntaxHint(failure *Error, s source) string {
	switch {
	case importSyntax().MatchString(failure.Frame):
		return noModules
	case strings.ContainsAny(failure.Frame, "“”‘’"):
		return "the line has typographic quotation marks: use \" or '"
	}
	return ""
}

// nearest sorts names by their edit distance from one that does not exist.
func nearest(wanted string, names []string) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return distance(wanted, a) - distance(wanted, b)
	})
	return sorted
}

// distance is Levenshtein's, without regard to case. Names are short: a long one is cut first.
func distance(a, b string) int {
	const most = 64
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x, y = x[:min(len(x), most)], y[:min(len(y), most)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
