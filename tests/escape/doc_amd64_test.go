//go:build linux

package escape_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

const document = "../../docs/threat-model.md"

// TestDocument holds the generated parts of the threat model against the register. It does so on amd64, which has every
// attack that arm64 has.
func TestDocument(t *testing.T) {
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(old)
	for _, part := range []struct {
		name, text string
	}{
		{"calls", callsPart()},
		{"layers", layersPart()},
		{"single", singlePart()},
		{"allowed", allowedPart()},
		{"daemon", daemonPart(hostileTests(t))},
		{"attacks", attacksPart()},
	} {
		if text, err = replace(text, part.name, part.text); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(old), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("docs/threat-model.md is stale (-is +should be):\n%s\nwrite it with: go test ./tests/escape -run TestDocument -update", diff)
	}
}

// replace puts text between the marks of a part.
func replace(document, name, text string) (string, error) {
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the document has no part %q between %q and %q", name, begin, end)
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}

// table writes a Markdown table.
func table(columns []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(columns)
	b.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// callsPart is the list of the system calls that are left, as the jail prints it.
func callsPart() string {
	_, list, _ := strings.Cut(jail.Spec{}.String(), "\nseccomp ")
	_, list, _ = strings.Cut(list, "\n")
	var b strings.Builder
	for line := range strings.Lines(list) {
		b.WriteString("    " + strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// layersPart says how many attacks of each class each layer stops alone.
func layersPart() string {
	columns := []string{"class", "attacks", "with an effect"}
	for _, l := range layers {
		columns = append(columns, string(l))
	}
	columns = append(columns, "fewest")
	var rows [][]string
	for _, class := range attack.Classes {
		effects := effectsOf(class)
		row := []string{class.Name, fmt.Sprint(len(class.Attacks)), fmt.Sprint(len(effects))}
		if len(effects) == 0 {
			continue
		}
		for _, l := range layers {
			n := 0
			for _, x := range effects {
				if slices.Contains(x.Stops, l) {
					n++
				}
			}
			row = append(row, share(n, len(effects)))
		}
		fewest := len(slices.MinFunc(effects, func(a, b attack.Attack) int { return len(a.Stops) - len(b.Stops) }).Stops)
		rows = append(rows, append(row, fmt.Sprint(fewest)))
	}
	return table(columns, rows)
}

func share(n, of int) string {
	switch n {
	case 0:
		return "–"
	case of:
		return "all"
	}
	return fmt.Sprint(n)
}

// singlePart lists what only one layer stops, and why that is enough: those with one reason together.
func singlePart() string {
	var rows [][]string
	row := make(map[string]int) // by reason
	for _, class := range attack.Classes {
		for _, x := range class.Attacks {
			if x.Reason == "" {
				continue
			}
			i, ok := row[x.Reason]
			if !ok {
				i = len(rows)
				row[x.Reason] = i
				rows = append(rows, []string{"", string(x.Stops[0]), x.Reason})
			}
			rows[i][0] = strings.TrimPrefix(rows[i][0]+"; "+x.Name, "; ")
		}
	}
	return table([]string{"attacks", "layer", "why it is enough"}, rows)
}

// allowedPart lists what native code may do.
func allowedPart() string {
	var rows [][]string
	for _, class := range attack.Classes {
		for _, x := range class.Attacks {
			if x.Ends != attack.Killed && !class.Daemon {
				rows = append(rows, []string{x.Name, x.Tries, x.Ends, x.Why})
			}
		}
	}
	return table([]string{"attack", "tries", "ends", "why"}, rows)
}

// attacksPart is the whole register.
func attacksPart() string {
	var b strings.Builder
	for _, class := range attack.Classes {
		fmt.Fprintf(&b, "### %s: %d attacks\n\n%s\n\n", class.Name, len(class.Attacks), class.About)
		var rows [][]string
		for _, x := range class.Attacks {
			name := x.Name
			if x.Only != "" {
				name += " (" + x.Only + ")"
			}
			row := []string{name, x.Tries, x.Ends}
			if class.Daemon {
				row = append(row, x.Why)
			} else {
				row = append(row, alone(x))
			}
			rows = append(rows, row)
		}
		last := "alone stopped by"
		if class.Daemon {
			last = "ended by"
		}
		b.WriteString(table([]string{"attack", "tries", "ends", last}, rows) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// alone lists the layers that stop an attack, each by itself.
func alone(x attack.Attack) string {
	var all []string
	for _, l := range x.Stops {
		text := string(l)
		if l == attack.Landlock && x.ABI > 1 {
			text += fmt.Sprintf(" (ABI %d)", x.ABI)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// daemonPart lists what tests/hostile tries.
func daemonPart(tests []elsewhere) string {
	n := 0
	var rows [][]string
	for _, e := range tests {
		n += len(e.names)
		listed := strings.Join(e.names, "; ")
		if len(e.names) == 1 { // the test itself
			listed = ""
		}
		rows = append(rows, []string{e.test, fmt.Sprint(len(e.names)), e.about, listed})
	}
	return fmt.Sprintf("%d attacks.\n\n", n) + table([]string{"test", "attacks", "what", "which"}, rows)
}
