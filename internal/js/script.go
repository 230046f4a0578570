//go:build sandboxd_test262

package js

import (
	"errors"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// What tests/test262 asks of an engine, and nothing that is released has. The tests of the standard are scripts, not
// bodies of async functions: they want their declarations in the global scope. But for the function around it, a script goes
// the way of a program: it is parsed with the same options, lowered where goja refuses it, and sees the same globals.

// Script is one that was compiled.
type Script struct {
	Shared bool // any engine can run it, and not only the one that compiled it

	program *goja.Program
	eager   bool // it could tell a lazy object from another
	patches bool // it could change what RegExp.prototype answers
}

// CompileScript compiles a text as global code. Its error is a syntax error.
func (e *Engine) CompileScript(text string) (*Script, error) {
	s := e.newSource(text, fence{end: len(text)})
	s.code, s.wrapped = text, text
	program, bad := s.compileScript()
	if bad != nil {
		var worse *fault
		if program, worse = s.inOlderWords(s.compileScript); worse == nil {
			bad = nil
		}
	}
	if bad != nil {
		return nil, errors.New(bad.message)
	}
	compiled := s.compiled()
	return &Script{
		Shared:  !mayHoldLiteral(compiled), // the patterns of literals belong to the engine
		program: program,
		eager:   tellsApart(compiled),
		patches: patches(compiled),
	}, nil
}

func (s *source) compileScript() (*goja.Program, *fault) {
	tree, bad := s.parse()
	if bad != nil {
		return nil, bad
	}
	if bad := s.literals(tree); bad != nil {
		return nil, bad
	}
	rewrite(&ast.FunctionLiteral{Body: &ast.BlockStatement{List: tree.Body}}, s.compiled())
	return s.finish(tree)
}

// Open begins a run of scripts, in place of Run. The functions that rewritten code calls are globals here, as scripts have
// no function around them.
func (e *Engine) Open(l Limits, h Host) error {
	if !e.begin(Program{Limits: l}, h) {
		return errors.New("this engine has already run")
	}
	functions := e.functions()
	for i, name := range functionNames {
		e.define(name.String(), functions[i])
	}
	return e.setRunGlobals(nil)
}

// Runtime is that of the engine, for what a host adds to it.
func (e *Engine) Runtime() *goja.Runtime { return e.vm }

// RunScript runs a script, and the jobs that it leaves, under the limits that Open was given.
func (e *Engine) RunScript(s *Script) (goja.Value, error) {
	e.dog.enter()
	defer e.dog.leave()
	return e.EvalScript(s)
}

// EvalScript is RunScript for a native function that another script calls.
func (e *Engine) EvalScript(s *Script) (goja.Value, error) {
	if s.eager {
		e.json.newCode()
	}
	e.regexps.patchable = e.regexps.patchable || s.patches
	return e.vm.RunProgram(s.program)
}

// Turn waits for the next timer and fires it. There is none when it says so.
func (e *Engine) Turn() (fired bool, err error) {
	if e.idleForEver() {
		return false, nil
	}
	return true, e.turn()
}
