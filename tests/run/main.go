// Command run runs the tests of the repository, and ends with a line for each one that was skipped, and why.
// With -fuzz it runs each fuzz target instead, one after the other.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	race := flag.Bool("race", false, "run under the race detector")
	fuzz := flag.String("fuzz", "", "run each fuzz target for this `duration` instead")
	flag.Parse()
	err := error(nil)
	if *fuzz != "" {
		err = fuzzAll(*fuzz)
	} else {
		err = test(*race)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/run:", err)
		os.Exit(1)
	}
}

// event is a line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64
	Output  string
}

// tally is what became of the tests.
type tally struct {
	passed, failed int
	skipped        []string
	output         map[string][]string // by test, until it has ended
}

// alone is a test that takes the machine's processors away from all others, whose deadlines that breaks: it runs after them.
const alone = "^TestStarvedMachine$"

func test(race bool) error {
	args := []string{"test", "-json", "-timeout", "20m"}
	if race {
		args = append(args, "-race")
	}
	t := tally{output: make(map[string][]string)}
	err := errors.Join(
		t.run(append(args, "-skip", alone, "./...")),
		t.run(append(args, "-run", alone, "./tests/hostile")),
	)
	t.close()
	return err
}

func (t *tally) run(args []string) error {
	command := exec.Command("go", args...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if err := t.read(out); err != nil {
		return err
	}
	return command.Wait()
}

func (t *tally) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // a build error of an older go
			continue
		}
		t.take(e)
	}
	return lines.Err()
}

func (t *tally) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		t.output[key] = append(t.output[key], e.Output)
		return
	case "build-output":
		fmt.Print(e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	said := t.output[key]
	delete(t.output, key)
	if e.Test == "" {
		t.takePackage(e, said)
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		fmt.Print(strings.Join(said, ""))
	case "skip":
		t.skipped = append(t.skipped, e.Test+" ("+short(e.Package)+"): "+reason(said))
	}
}

func (t *tally) takePackage(e event, said []string) {
	if e.Action == "fail" {
		fmt.Print(strings.Join(said, ""))
	}
	if e.Action != "skip" { // skip: no test files
		fmt.Printf("%-5s %-40s %6.1f s\n", e.Action, short(e.Package), e.Elapsed)
	}
}

func short(pkg string) string { return strings.TrimPrefix(pkg, "github.com/sandboxd/sandboxd/") }

// reason is what a test said when it skipped: the line before its own end.
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		line = strings.TrimSpace(line)
		if _, why, found := strings.Cut(line, ".go:"); found {
			_, why, _ = strings.Cut(why, ": ")
			return why
		}
	}
	return "no reason given"
}

// close prints the end: what was skipped and why, and the counts.
func (t *tally) close() {
	slices.Sort(t.skipped)
	for _, s := range t.skipped {
		fmt.Println("skipped:", s)
	}
	if len(t.skipped) == 0 {
		fmt.Println("skipped: nothing")
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, len(t.skipped))
}

// fuzzAll finds the fuzz targets and runs each; go test takes one at a time.
func fuzzAll(duration string) error {
	out, err := exec.Command("go", "test", "-list", "^Fuzz", "./...").Output()
	if err != nil {
		return fmt.Errorf("list fuzz targets: %w", err)
	}
	var targets []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			targets = append(targets, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, target := range targets {
				if err := fuzzOne(fields[1], target, duration); err != nil {
					return err
				}
			}
			targets = nil
		}
	}
	return nil
}

func fuzzOne(pkg, target, duration string) error {
	fmt.Println("fuzz", target, "in", short(pkg))
	command := exec.Command("go", "test", pkg, "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", duration,
		"-fuzzminimizetime", "10x") // by default it may take a minute of the duration
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}
