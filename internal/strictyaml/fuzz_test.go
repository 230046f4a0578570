package strictyaml_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// file has a field of each kind that the daemon's files have.
type file struct {
	Name    string         `yaml:"name"`
	Count   int64          `yaml:"count"`
	Part    float64        `yaml:"part"`
	On      bool           `yaml:"on"`
	Wait    time.Duration  `yaml:"wait"`
	List    []string       `yaml:"list"`
	Table   map[string]int `yaml:"table"`
	Section struct {
		Inner struct {
			Deep string `yaml:"deep"`
		} `yaml:"inner"`
	} `yaml:"section"`
}

var place = regexp.MustCompile(`^f\.yaml:(?:(\d+):)? `)

// breaks are what YAML 1.1 ends a line with.
var breaks = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// FuzzDecode is any text as a file. It must be taken where the library takes it strictly and it is one document, and mean the same;
// every line of an error must say where; and the lines of its fields must be lines that it has.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"name: x\ncount: 1\npart: 0.5\non: true\nwait: 5s\nlist: [a, b]\ntable: {a: 1}\nsection:\n  inner:\n    deep: |\n      x\n      y\n",
		"count: many\nwait: soon\non: 1\nlist: 7\nsection: 3\ntable: [1]\npart: x\n", "nam: x\n", "name: x\nname: y\n", "table: {a: 1, a: 2}\n",
		"section: {inner: {depe: x}}\n", "a: &a [*a]\n", "x: &x {name: y}\n<<: *x\n", "name: x\n---\nname: y\n", "---\n", "", "# x\n", "[]\n", "null\n", "{\n",
		"name: \"\\u00e9\"\n", "name: !!binary eA==\n", "\xff", "name: 'a\n", "%YAML 1.1\n---\nname: yes\n", "? {a: 1}\n: 2\n", "count: 0x10\n", "\"na\\x6de\": z\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want file
		lines, err := strictyaml.Decode("f.yaml", text, &got)
		last := 1 + len(breaks.FindAll(text, -1))
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				at := place.FindStringSubmatch(line)
				if at == nil {
					t.Fatalf("the error does not say where: %q", err)
				}
				if n, err := strconv.Atoi(at[1]); err == nil && (n < 1 || n > last+1) {
					t.Errorf("line %d of %d: %s", n, last, line)
				}
			}
		}
		for path, line := range lines {
			if line < 1 || line > last {
				t.Errorf("%s stands at line %d of %d", path, line, last)
			}
		}
		for _, line := range strictyaml.Plain("f.yaml", text) {
			at := place.FindStringSubmatch(line)
			if at == nil || at[1] == "" || strings.Contains(line, "\n") {
				t.Fatalf("it does not say where: %q", line)
			}
			if n, err := strconv.Atoi(at[1]); err != nil || n < 1 || n > last {
				t.Errorf("line %d of %d: %s", n, last, line)
			}
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		right := d.Decode(&want)
		if errors.Is(right, io.EOF) {
			right = nil
		} else if right == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
			right = errors.New("more than one document")
		}
		if (err == nil) != (right == nil) && !(right == nil && empty(text)) {
			t.Fatalf("%v, and by the library %v", err, right)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Error(diff)
		}
	})
}

// empty reports that a value is missing or null, which the library takes and this package may refuse: it would undo a default.
func empty(text []byte) bool {
	var document yaml.Node
	return yaml.Unmarshal(text, &document) == nil && null(&document)
}

func null(node *yaml.Node) bool {
	return node.ShortTag() == "!!null" || slices.ContainsFunc(node.Content, null)
}
