//go:build sandboxd_test262

package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/sandboxd/sandboxd/internal/js"
)

// maxMemory is four times what a program has by default: some tests take that much.
const maxMemory = 1 << 30

// realm runs the scripts of one test.
type realm interface {
	runtime() *goja.Runtime

	// compile compiles a text as global code.
	compile(text string) (*script, error)

	// run runs a script. A native function that a script calls says nested.
	run(s *script, nested bool) (goja.Value, error)

	// turn lets time pass until something happens; not ok: nothing can.
	turn() (ok bool, err error)
}

// script is one text, compiled by a realm.
type script struct {
	shared bool // other realms of the arm can run it
	engine *js.Script
	bare   *goja.Program
}

// earlyError is why a text is no script.
type earlyError struct{ class, message string }

func (e *earlyError) Error() string { return e.class + ": " + e.message }

// arms are the two interpreters that are compared: how each makes a realm. A script may run for so long; what does not
// end then is abandoned.
var arms = map[string]func(most time.Duration, abandon func(why string)) (realm, error){
	"engine": openEngine,
	"goja":   openGoja,
}

// engineRealm is the engine as programs see it.
type engineRealm struct{ *js.Engine }

func openEngine(most time.Duration, abandon func(why string)) (realm, error) {
	e := js.New(js.Options{CPUTime: processCPU})
	host := js.Host{Abandon: func(out js.Outcome) { abandon(out.Kind + ": " + out.Error.Message) }}
	return engineRealm{e}, e.Open(js.Limits{CPU: most, MemoryBytes: maxMemory}, host)
}

func (r engineRealm) runtime() *goja.Runtime { return r.Runtime() }

func (r engineRealm) compile(text string) (*script, error) {
	s, err := r.CompileScript(text)
	if err != nil {
		return nil, &earlyError{"SyntaxError", err.Error()}
	}
	return &script{shared: s.Shared, engine: s}, nil
}

func (r engineRealm) run(s *script, nested bool) (goja.Value, error) {
	if nested {
		return r.EvalScript(s.engine)
	}
	return r.RunScript(s.engine)
}

func (r engineRealm) turn() (bool, error) { return r.Turn() }

func processCPU() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareRealm is goja as it comes, but for its stack, which Go can't survive to overflow.
type bareRealm struct {
	vm   *goja.Runtime
	most time.Duration // of one script
}

func openGoja(most time.Duration, _ func(why string)) (realm, error) {
	debug.SetMaxStack(64 << 20)
	time.Local = time.UTC
	return bareRealm{goja.New(), most}, nil
}

func (r bareRealm) runtime() *goja.Runtime { return r.vm }

func (r bareRealm) compile(text string) (*script, error) {
	p, err := parseForGoja(text)
	var syntax *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	switch {
	case errors.As(err, &syntax):
		return nil, &earlyError{"SyntaxError", err.Error()}
	case errors.As(err, &reference):
		return nil, &earlyError{"ReferenceError", err.Error()}
	}
	return &script{shared: true, bare: p}, err
}

// parseForGoja is goja.Compile without its source maps, for which it would open files.
func parseForGoja(text string) (*goja.Program, error) {
	tree, err := goja.Parse("", text, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, &goja.CompilerSyntaxError{CompilerError: goja.CompilerError{Message: err.Error()}}
	}
	return goja.CompileAST(tree, false)
}

func (r bareRealm) run(s *script, nested bool) (goja.Value, error) {
	if !nested {
		slow := time.AfterFunc(r.most, func() { r.vm.Interrupt(fmt.Sprintf("took more than %v", r.most)) })
		defer slow.Stop()
	}
	return r.vm.RunProgram(s.bare)
}

func (r bareRealm) turn() (bool, error) { return false, nil }
