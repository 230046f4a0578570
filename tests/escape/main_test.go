//go:build linux

// Package escape_test attacks the jail from inside: a victim that enters it like a worker, by the same code, performs one
// named attack of the register, for each attack in a process of its own. Then it does so with layers of the jail switched
// off, to see which of them stops what alone; and in runs of the real daemon, which must be as it was afterwards.
package escape_test

import (
	"flag"
	"os"
	"testing"
)

var (
	update  = flag.Bool("update", false, "write the generated parts of docs/threat-model.md anew")
	summary = flag.Bool("summary", false, "print what was tried and what stopped it")
)

func TestMain(m *testing.M) {
	if text := os.Getenv(envArm); text != "" {
		drive(text)
	}
	flag.Parse()
	code := m.Run()
	clean()
	if *summary {
		summarize(os.Stdout)
	}
	os.Exit(code)
}
