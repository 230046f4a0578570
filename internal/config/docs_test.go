package config_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandboxd/sandboxd/internal/config"
)

// documented is a row of docs/configuration.md.
type documented struct{ key, kind, initial, bounds, what string }

func rows(t *testing.T) (all []documented) {
	t.Helper()
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 7 && strings.HasPrefix(cells[1], "`") {
			all = append(all, documented{strings.Trim(cells[1], "`"), cells[2], cells[3], cells[4], cells[5]})
		}
	}
	return all
}

// set is a configuration in which one key has a value, as YAML.
func set(key, value string) string {
	path := strings.Split(key, ".")
	var b strings.Builder
	for i, name := range path {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), name)
		if i < len(path)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

// kinds are the words for types that a value may have.
var kinds = map[string][]string{
	"int64": {"number", "bytes"}, "string": {"text", "file", "directory", "one of", "duration"}, "[]string": {"list"},
}

// TestEveryKeyIsDocumented: the tables of docs/configuration.md have every key and no other, each with its type and default, and with
// bounds that hold: what they name is taken, and what is next to them is not.
func TestEveryKeyIsDocumented(t *testing.T) {
	keys := make(map[string]config.Key)
	var want []string
	for _, k := range config.Default().Keys() {
		if strings.HasPrefix(k.Name, "pool.") {
			k.Name = "pool.NAME"
		}
		if _, there := keys[k.Name]; !there {
			keys[k.Name] = k
			want = append(want, k.Name)
		}
	}
	var got []string
	for _, row := range rows(t) {
		got = append(got, row.key)
		k, exists := keys[row.key]
		if !exists {
			continue // the comparison below tells
		}
		if row.what == "" {
			t.Errorf("%s: nothing is said of it", row.key)
		}
		if kind := fmt.Sprintf("%T", k.Value); !slices.Contains(kinds[kind], row.kind) {
			t.Errorf("%s is documented as a %s, and is a %s", row.key, row.kind, kind)
		}
		if value, isText := k.Value.(string); isText {
			if _, err := time.ParseDuration(value); (err == nil) != (row.kind == "duration") {
				t.Errorf("%s is documented as a %s, and is %q", row.key, row.kind, value)
			}
		}
		t.Run(row.key, func(t *testing.T) { hold(t, row) })
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-code +docs):\n%s", diff)
	}
}

var span = regexp.MustCompile(`^(\S+) to (\S+)$`)

// hold tries what a row says of its key.
func hold(t *testing.T, row documented) {
	c, err := load(t, "", set(row.key, strings.Trim(row.initial, "`")))
	if row.key == "pool.NAME" {
		c, err = load(t, "", "pool: {default: 8, strict: 0, large: 0}\n") // which is what the row says in words
		row.key = "pool.default"
	}
	if diff := cmp.Diff(config.Default(), c, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Config{})); err != nil || diff != "" {
		t.Errorf("the default is documented as %s: %v\n%s", row.initial, err, diff)
	}
	var within, without []string
	if m := span.FindStringSubmatch(row.bounds); m != nil {
		within = m[1:]
		without = []string{beside(t, m[1], -1), beside(t, m[2], 1)}
	} else if row.bounds != "" {
		for word := range strings.SplitSeq(row.bounds, ", ") {
			within = append(within, strings.Trim(word, "`"))
		}
		without = []string{"nonsense"}
	}
	number := row.kind == "number" || row.kind == "bytes" || row.kind == "duration"
	if number != span.MatchString(row.bounds) || within == nil && row.kind == "one of" {
		t.Errorf("a %s has the bounds %q", row.kind, row.bounds)
	}
	// What must stand beside a key of the guard.
	base := ""
	if strings.HasPrefix(row.key, "guard.") {
		base = "guard: {url: 'http://127.0.0.1:1'}\n"
	}
	if strings.HasPrefix(row.key, "traces.") {
		base = "traces: {endpoint: 'http://127.0.0.1:1'}\n"
	}
	try := func(value string) error {
		if row.kind == "list" {
			value = "[" + value + "]"
		}
		with := base
		if row.key == "guard.api" && value == "chat" {
			with = "guard: {url: 'http://127.0.0.1:1', model: m}\n"
		}
		_, err := load(t, with, set(row.key, value))
		return err
	}
	for _, value := range within {
		if err := try(value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range without {
		if err := try(value); err == nil || !strings.Contains(err.Error(), ": "+row.key+": ") {
			t.Errorf("%s is out of %s, and the error is %v", value, row.bounds, err)
		} else if said := err.Error(); !number && !strings.HasSuffix(said, strings.Join(within, ", ")) && !strings.HasSuffix(said, strings.Join(within, " nor ")) {
			t.Errorf("the bounds are %s, and the error says %s", row.bounds, said)
		}
	}
}

// beside is the number or duration that is the least bit more, or less.
func beside(t *testing.T, bound string, step int64) string {
	t.Helper()
	if n, err := strconv.ParseInt(bound, 10, 64); err == nil {
		return strconv.FormatInt(n+step, 10)
	}
	d, err := time.ParseDuration(bound)
	if err != nil {
		t.Fatalf("the bound %q is neither a number nor a duration", bound)
	}
	return (d + time.Duration(step)).String()
}

// TestDrainFitsTheUnit: what docs/configuration.md says of the unit's own bound on the drain.
func TestDrainFitsTheUnit(t *testing.T) {
	unit, err := os.ReadFile("../../systemd/sandboxd.service")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindSubmatch(unit)
	i := slices.IndexFunc(rows(t), func(row documented) bool { return row.key == "drain" })
	if m == nil || i < 0 || !strings.Contains(rows(t)[i].what, fmt.Sprintf("ends the daemon after %s s:", m[1])) {
		t.Errorf("the unit has %q, and docs/configuration.md says otherwise", m)
	}
}
