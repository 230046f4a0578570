//go:build sandboxd_test262

// Command test262 runs a checkout of tc39/test262 through the engine as programs see it, and holds what fails against
// the list of known failures. `make test262 DIR=…` calls it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// options are the command line.
type options struct {
	dir, commit, only, baseline, docs, details string
	workers                                    int
	time                                       time.Duration
	goja, update                               bool
}

func main() {
	var o options
	var arm string
	flag.StringVar(&o.dir, "dir", "", "`directory` of a checkout of tc39/test262")
	flag.StringVar(&o.commit, "commit", "", "its commit; by default what git says")
	flag.StringVar(&o.only, "only", "", "run the tests whose path matches this `pattern`: test/built-ins/Array/*")
	flag.StringVar(&o.baseline, "baseline", "tests/test262/baseline.txt", "`file` of the known failures and their reasons")
	flag.StringVar(&o.docs, "docs", "", "write the counts into the block that this `file` has for them; implies -goja")
	flag.StringVar(&o.details, "json", "", "write every result into this `file`, as lines of JSON")
	flag.IntVar(&o.workers, "j", runtime.NumCPU(), "tests at a time")
	flag.DurationVar(&o.time, "time", 10*time.Second, "how long a script of a test may run")
	flag.BoolVar(&o.goja, "goja", false, "run bare goja as well, and list what passes there and fails here")
	flag.BoolVar(&o.update, "update", false, "write the baseline: counts and new failures; reasons are for you to write")
	flag.StringVar(&arm, "serve", "", "run tests whose paths come on stdin through this `arm`; the command starts itself so")
	flag.Parse()
	if arm != "" {
		serve(o.dir, arm, o.time)
		return
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "test262:", err)
		os.Exit(1)
	}
}
