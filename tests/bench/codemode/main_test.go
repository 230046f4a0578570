// Package codemode_test measures code mode: what an MCP client spends on a task with `sandboxctl mcp`, beside one that calls the same
// server's tools itself. There is no model: the calls and the programs are fixed, as one would make them that makes no mistake.
package codemode_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

var update = flag.Bool("update", false, "with -bench: write the table of docs/benchmarks.md anew")

func TestMain(m *testing.M) {
	flag.Parse()
	if tracker := os.Getenv(governed); tracker != "" {
		if err := govern(tracker, os.Getenv(blind) != ""); err != nil {
			fmt.Fprintln(os.Stderr, "governor:", err)
			os.Exit(1)
		}
		return
	}
	daemon.Main(m)
}
