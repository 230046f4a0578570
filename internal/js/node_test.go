package js_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// differs are the programs whose answer is not node's, and why. docs/javascript.md has the same list.
var differs = map[string]string{
	"numbers: exponent is right associative": "`10 ** -5` is 0.00001, which V8 misses by a digit",
}

// nodeRunner runs the programs of its standard input as bodies of async functions, as a worker does, each in a realm of its own.
const nodeRunner = `
const vm = require("node:vm"), out = {};
const { programs } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const given = { URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, crypto, performance, structuredClone, setTimeout, setInterval,
  clearTimeout, clearInterval, queueMicrotask, AbortController, console: { log() {}, error() {} } };
(async () => {
  for (const { name, text } of programs) {
    const context = vm.createContext({ ...given });
    try {
      const make = new vm.Script("(async function () {" + text + "\n})");
      const v = await make.runInContext(context)();
      out[name] = "ok " + (JSON.stringify(v) ?? "null");
    } catch (e) {
      out[name] = "error " + (e?.name ?? typeof e);
    }
  }
  console.log(JSON.stringify({ node: process.version, answers: out }));
})();
`

// goldens are node's answers, so that the test needs no node.
type goldens struct {
	Node    string            `json:"node"`
	Answers map[string]string `json:"answers"`
}

const goldenAnswers = "testdata/programs/node.json"

type dataProgram struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// dataPrograms are those below testdata/programs: each begins behind a line `//// name`.
func dataPrograms(t *testing.T) (programs []dataProgram) {
	t.Helper()
	files, err := filepath.Glob("testdata/programs/*.js")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(text), "\n//// ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			name = strings.TrimSuffix(filepath.Base(file), ".js") + ": " + name
			if seen[name] {
				t.Errorf("two programs are named %q", name)
			}
			seen[name] = true
			programs = append(programs, dataProgram{name, strings.TrimSpace(body)})
		}
	}
	return programs
}

// Data programs, as models write them, give the answer that node gives.
func TestAnswersOfNode(t *testing.T) {
	programs := dataPrograms(t)
	if *update {
		text, err := json.MarshalIndent(askNode(t, programs), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenAnswers, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := readGoldens(t)
	if len(programs) != len(want.Answers) || len(programs) < 300 {
		t.Errorf("%d programs, and %d answers of node: run go test -run TestAnswersOfNode -update", len(programs), len(want.Answers))
	}
	for _, p := range programs {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			diff := cmp.Diff(canonical(want.Answers[p.Name]), canonical(answer(t, p.Text)))
			switch why, known := differs[p.Name]; {
			case diff != "" && !known:
				t.Errorf("%s\n%s", diff, p.Text)
			case diff == "" && known:
				t.Errorf("this is node's answer: take it out of the differences (%s)", why)
			}
		})
	}
	for name := range differs {
		if !slices.ContainsFunc(programs, func(p dataProgram) bool { return p.Name == name }) {
			t.Errorf("a difference of no program: %q", name)
		}
	}
}

// answer is what the program gives, with the class of an error for its message: its words are the engine's own.
func answer(t *testing.T, text string) string {
	out, _ := run(t, js.Program{Source: text}, nil)
	if out.Error != nil {
		class, _, _ := strings.Cut(out.Error.Message, ":")
		return out.Kind + " " + class
	}
	return "ok " + string(out.Value)
}

// canonical is an answer without what JSON leaves free: which characters are escaped.
func canonical(answer string) string {
	text, ok := strings.CutPrefix(answer, "ok ")
	var v any
	if d := json.NewDecoder(strings.NewReader(text)); ok && d.Decode(&v) == nil {
		indented, _ := json.MarshalIndent(v, "", " ")
		return "ok " + string(indented)
	}
	return answer
}

func readGoldens(t *testing.T) (g goldens) {
	t.Helper()
	text, err := os.ReadFile(goldenAnswers)
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The goldens are what node says, where it is the same one. Another version may have learned something.
func TestGoldensAreOfNode(t *testing.T) {
	want := readGoldens(t)
	programs := dataPrograms(t)
	got := askNode(t, programs)
	if major(got.Node) != major(want.Node) {
		skip.Because(t, "node is %s, and the answers are of %s", got.Node, want.Node)
	}
	got.Node = want.Node
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func major(version string) string {
	major, _, _ := strings.Cut(version, ".")
	return major
}

func askNode(t *testing.T, programs []dataProgram) (g goldens) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		skip.Because(t, "node is not installed")
	}
	input, err := json.Marshal(map[string]any{"programs": programs})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(node, "-e", nodeRunner)
	command.Env = append(os.Environ(), "TZ=UTC", "LANG=en_US.UTF-8", "LC_ALL=en_US.UTF-8")
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err == nil {
		err = json.Unmarshal(out, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}
