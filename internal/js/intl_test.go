package js_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// answered is an expression and what node 20 makes of it.
type answered struct{ Expression, Want string }

func answers(t *testing.T, lines []byte) (list []answered) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var a answered
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// hold evaluates all expressions in one run, and reports those with another answer.
func hold(t *testing.T, list []answered) {
	t.Helper()
	input, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := run(t, js.Program{
		Source: `return input.map(c => { try { return String((0, eval)(c.Expression)) } catch (e) { return 'throws ' + e.name } })`,
		Input:  input,
		Limits: js.Limits{CPU: time.Minute, OutputBytes: 16 << 20},
	}, nil)
	var got []string
	if err := json.Unmarshal(out.Value, &got); err != nil {
		t.Fatal(brief(out))
	}
	for i, a := range list {
		if got[i] != a.Want {
			t.Errorf("%s\n got %.400q\nwant %.400q", a.Expression, got[i], a.Want)
		}
	}
}

// TestLocales holds Intl and the toLocale methods against answers of node 20, which testdata/intl.mjs wrote.
func TestLocales(t *testing.T) {
	lines, err := os.ReadFile("testdata/intl.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	hold(t, answers(t, lines))
}

// TestLocalesAgainstNode draws other formats, and asks node itself.
func TestLocalesAgainstNode(t *testing.T) {
	version, err := exec.Command("node", "--version").Output()
	if err != nil || !strings.HasPrefix(string(version), "v20.") {
		skip.Because(t, "node 20, whose answers are the right ones, is not installed")
	}
	lines, err := exec.Command("node", "testdata/intl.mjs", "20", "6000").Output()
	if err != nil {
		t.Fatal(err)
	}
	hold(t, answers(t, lines))
}

// What only newer or other engines than node 20 answer, and what is refused.
func TestLocalesBeyondNode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"return new Date(0).toLocaleTimeString('en-US', { timeZone: '+05:30', timeZoneName: 'short' })", `ok "5:30:00 AM GMT+5:30"`},
		{"return new Intl.NumberFormat('de-DE').resolvedOptions().locale", `ok "de-DE"`},
		{"return ['es-MX', 'ko', 'en-ZA', ['xx', 'fr']].map(l => new Intl.NumberFormat(l).resolvedOptions().locale)", `ok ["en-US","en-US","en","fr"]`},
		{"return ['de-DE', 'nl', 'sv-SE'].map(l => new Intl.DateTimeFormat(l).resolvedOptions().locale)", `ok ["de-DE","en-US","sv-SE"]`},
		{"return [Intl.NumberFormat, Intl.Collator].map(c => c.supportedLocalesOf(['de', 'en-US', 'ko']))", `ok [["de","en-US"],["en-US"]]`},
		{"(1).toLocaleString('de-DE', { notation: 'compact' })", "error 1:19 RangeError: notation compact is supported in en-US, and not in de-DE"},
		{"(1).toLocaleString('en', { roundingIncrement: 5 })", "error 1:19 RangeError: roundingIncrement is not supported: round the number before it is formatted"},
		{"new Date(0).toLocaleString('en', { calendar: 'hebrew' })", "error 1:27 RangeError: calendar hebrew is not supported: gregory is"},
		{"new Date(0).toLocaleString('en', { timeZone: 'Berlin' })", "error 1:27 RangeError: Invalid time zone specified: Berlin (use an IANA name, such as Europe/Berlin, or an offset, such as +02:00)"},
		{"(1).toLocaleString('en', { style: 'money' })", "error 1:19 RangeError: Value money out of range for option style: it is one of decimal, percent, currency, unit"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if out, _ := source(t, c.text); brief(out) != c.want {
				t.Errorf("got  %s\nwant %s", brief(out), c.want)
			}
		})
	}
}

// A program can replace what it likes before it asks for Intl: our own code calls none of it.
func TestLocalesUnderHostility(t *testing.T) {
	const hostile = `
const evil = () => { throw new Error("called") };
const classes = [Array, String, Number, Object, Function, Date, RegExp, Map, WeakMap, Symbol, Promise, BigInt], ownKeys = Reflect.ownKeys;
for (let i = 0; i < 12; i++) {
  const C = classes[i], keys = ownKeys(C.prototype);
  for (let j = 0; j < keys.length; j++) {
    const k = keys[j];
    if (k === "constructor" || k === "toLocaleString" || k === "toLocaleDateString" || k === "localeCompare" || k === Symbol.toPrimitive) continue;
    try { C.prototype[k] = evil } catch {}
  }
}
Object.prototype.get = evil; Object.prototype.value = 1;
`
	text := hostile + `
const a = new Intl.NumberFormat("en-US", { __proto__: null, style: "percent" }).format(0.5);
const b = (1234.5).toLocaleString(), c = new Date(0).toLocaleDateString(), d = "a".localeCompare("b");
const f = new Intl.DateTimeFormat("en-US", { __proto__: null, timeZone: "Europe/Berlin", timeStyle: "short" }).format(0);
return a + "|" + b + "|" + c + "|" + d + "|" + f`
	if out, _ := source(t, text); brief(out) != `ok "50%|1,234.5|1/1/1970|-1|1:00 AM"` {
		t.Error(brief(out))
	}
}

// Formatters that a program drops are not kept.
func TestFormattersAreFreed(t *testing.T) {
	out, _ := run(t, js.Program{
		Source: `let n = 0; for (let i = 0; i < 60000; i++) n += new Intl.PluralRules("en").select(i).length; return n`,
		Limits: js.Limits{CPU: time.Minute, MemoryBytes: 48 << 20},
	}, nil)
	if out.Kind != js.KindOK {
		t.Error(brief(out))
	}
}
