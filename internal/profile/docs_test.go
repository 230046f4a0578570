package profile_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/profile"
)

func docs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEveryKeyIsDocumented: the table of docs/profiles.md has every key and no other, with its default and bounds.
func TestEveryKeyIsDocumented(t *testing.T) {
	p := builtin(t)["default"]
	numbers := p.Numbers()
	var documented []string
	for line := range strings.Lines(docs(t)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 7 || !strings.HasPrefix(cells[1], "`") {
			continue
		}
		key, unit, initial, bounds, opens := strings.Trim(cells[1], "`"), cells[2], cells[3], cells[4], cells[5]
		documented = append(documented, key)
		if unit == "" {
			t.Errorf("%s has no unit", key)
		}
		want, isNumber := numbers[key]
		if got := (profile.Documented{Default: initial, Bounds: bounds}); isNumber && got != want {
			t.Errorf("%s is documented with %+v, and has %+v", key, got, want)
		}
		if (isNumber || key == "require") && opens == "" {
			t.Errorf("nothing is said of what loosening %s opens", key)
		}
	}
	keys := append(slices.Collect(maps.Keys(leaves(t, &p))), "extends")
	slices.Sort(keys)
	slices.Sort(documented)
	if diff := cmp.Diff(keys, documented); diff != "" {
		t.Errorf("keys (-code +docs):\n%s", diff)
	}
	for _, layer := range profile.Layers {
		if !strings.Contains(docs(t), "`"+layer+"`") {
			t.Errorf("the layer %s is not mentioned", layer)
		}
	}
}

const script = "../../tests/cli/testdata/script/profile-docs.txtar"

var block = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```$")

// TestExamples makes docs/profiles.md a script, in which tests/cli runs each command and compares what it says. Each YAML
// block is a file, whose name is in its first line.
func TestExamples(t *testing.T) {
	var commands, files strings.Builder
	outputs := 0
	for _, m := range block.FindAllStringSubmatch(docs(t), -1) {
		kind, text := m[1], m[2]
		if kind == "yaml" {
			name, isFile := strings.CutPrefix(strings.Split(text, "\n")[0], "# ")
			if !isFile || !strings.HasSuffix(name, ".yaml") {
				t.Errorf("an example has no line with the name of its file:\n%s", text)
			}
			fmt.Fprintf(&files, "-- %s --\n%s", name, text)
			continue
		}
		for _, session := range strings.Split("\n"+text, "\n$ ")[1:] {
			command, output, _ := strings.Cut(session, "\n")
			outputs++
			run, stream := "exec", "stdout"
			if strings.HasPrefix(output, "sandboxctl: error: ") {
				run, stream = "! exec", "stderr"
			}
			fmt.Fprintf(&commands, "%s %s\ncmp %s said%d\n", run, command, stream, outputs)
			fmt.Fprintf(&files, "-- said%d --\n%s\n", outputs, strings.TrimSuffix(output, "\n"))
		}
	}
	if outputs == 0 {
		t.Fatal("this test can't read docs/profiles.md any more")
	}
	compare(t, script, "# The examples of docs/profiles.md. Written by go test ./internal/profile -run TestExamples -update.\n"+
		"mkdir profiles\ncp default.yaml profiles\ncp tiny.yaml profiles\n"+commands.String()+files.String())
}
