package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// casesSuffix ends the names of files of cases, which stand beside the policy and are no part of it.
const casesSuffix = ".test.yaml"

// Case is a call, and what a policy is to say about it.
type Case struct {
	Place string // file:line
	Name  string
	Call  Call
	Want  Action
	Rule  string // that decides; empty: any
}

// Failure is a case for which the policy says something else.
type Failure struct {
	Case
	Got   Decision
	Steps []Step
}

// casesFile is a file of cases as it is written.
type casesFile struct {
	Version int `yaml:"version"`
	Cases   []struct {
		Name        string          `yaml:"name"`
		Tool        pattern         `yaml:"tool"`
		Args        map[string]any  `yaml:"args"`
		Annotations map[string]bool `yaml:"annotations"`
		Task        string          `yaml:"task"`
		Run         struct {
			Calls     int64    `yaml:"calls"`
			Mutations int64    `yaml:"mutations"`
			Denied    int64    `yaml:"denied"`
			Labels    []string `yaml:"labels"`
		} `yaml:"run"`
		Caller struct {
			UID     uint32 `yaml:"uid"`
			GID     uint32 `yaml:"gid"`
			Gateway string `yaml:"gateway"`
		} `yaml:"caller"`
		Want string `yaml:"want"`
		Rule string `yaml:"rule"`
	} `yaml:"cases"`
}

// LoadCases reads the cases beside a policy: policy.test.yaml beside policy.yaml, all *.test.yaml of a directory.
func LoadCases(policy string) ([]Case, error) {
	info, err := os.Stat(policy)
	if err != nil {
		return nil, err
	}
	paths := []string{strings.TrimSuffix(policy, ".yaml") + casesSuffix}
	if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(policy, "*"+casesSuffix)); err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("%s: has no *%s", policy, casesSuffix)
		}
	}
	var all []Case
	for _, path := range paths {
		text, err := strictyaml.Read(path)
		if err != nil {
			return nil, err
		}
		cases, err := ParseCases(path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// ParseCases reads a file of cases; the name is for errors.
func ParseCases(name string, text []byte) ([]Case, error) {
	var f casesFile
	lines, err := strictyaml.Decode(name, text, &f)
	if err != nil {
		return nil, &InvalidError{strings.Split(err.Error(), "\n")}
	}
	r := reader{newBuilder(), name, lines}
	if f.Version != 1 {
		r.refuse("version", "%d: this sandboxd reads version 1", f.Version)
	}
	var all []Case
	for i, in := range f.Cases {
		at := fmt.Sprintf("cases[%d]", i)
		out := Case{Place: lines.At(name, at), Name: in.Name, Want: r.action(at+".want", in.Want), Rule: in.Rule}
		r.named(at, "case", in.Name, out.Place)
		if in.Tool.server == "" {
			r.refuse(at, "has no tool: want tool: SERVER.TOOL")
		} else if strings.Contains(in.Tool.server+in.Tool.tool, "*") {
			r.refuse(at+".tool", "%s: a call is of one tool", in.Tool)
		}
		r.labelled(at+".run.labels", in.Run.Labels)
		arguments, err := asJSON(in.Args)
		if err != nil {
			r.refuse(at+".args", "%v", err)
		}
		out.Call = Call{
			Server: in.Tool.server, Tool: in.Tool.tool, Args: arguments.Value, Annotations: in.Annotations, Task: in.Task,
			Run:    Run{in.Run.Calls, in.Run.Mutations, in.Run.Denied, in.Run.Labels},
			Caller: Caller{in.Caller.UID, in.Caller.GID, in.Caller.Gateway},
		}
		all = append(all, out)
	}
	if _, err := r.policy(); err != nil {
		return nil, err
	}
	return all, nil
}

// asJSON is what arguments in YAML would be in a call.
func asJSON(args map[string]any) (Arguments, error) {
	if args == nil {
		args = map[string]any{}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return Arguments{}, fmt.Errorf("can't be JSON: %w", err)
	}
	return ReadArguments(text)
}

// Test returns the cases for which the policy does not say what they want.
func (p *Policy) Test(cases []Case) []Failure {
	var failures []Failure
	for _, c := range cases {
		d, steps := p.Explain(&c.Call)
		if d.Action != c.Want || c.Rule != "" && d.Rule != c.Rule {
			failures = append(failures, Failure{c, d, steps})
		}
	}
	return failures
}

// notCases leaves out the files of cases.
func notCases(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, casesSuffix) })
}
