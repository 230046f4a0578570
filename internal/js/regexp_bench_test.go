package js_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js"
)

// regexpTasks are what programs do with regular expressions.
var regexpTasks = []struct{ name, setup, text string }{
	{"quoted", `const s = '"' + 'abc def '.repeat(2500) + '"'; let n = 0;`, `for (let i = 0; i < 20; i++) if (/"(?:[^"\\]|\\.)*"/.test(s)) n++; return n`},
	{"log lines", `const text = Array.from({length: 10000}, (_, i) => "2024-01-15T10:30:" + (i % 60) + "Z [INFO] worker-" + i + " GET /api/items/" + i + " 200 " + i * 3 + "ms").join("\n");`, `let n = 0; for (const m of text.matchAll(/^(?<ts>\S+) \[(?<level>\w+)\] (?<who>\S+) (?<verb>[A-Z]+) (?<path>\S+) (?<status>\d{3}) (?<ms>\d+)ms$/gm)) n += +m.groups.ms; return n`},
	{"log line exec", `const lines = Array.from({length: 10000}, (_, i) => "2024-01-15T10:30:" + (i % 60) + "Z [INFO] worker-" + i + " GET /api/items/" + i + " 200 " + i * 3 + "ms");`, `let n = 0; const re = /^(?<ts>\S+) \[(?<level>\w+)\] (?<who>\S+) (?<verb>[A-Z]+) (?<path>\S+) (?<status>\d{3}) (?<ms>\d+)ms$/; for (const l of lines) { const m = l.match(re); n += +m.groups.ms } return n`},
	{"replace 1 MB", `const s = 'the quick brown fox jumps over '.repeat(33000);`, `return s.replace(/\bfox\b/g, 'dog').length`},
	{"replace $1", `const s = 'the quick brown fox jumps over '.repeat(33000);`, `return s.replace(/(\w+) (\w+)/g, '$2 $1').length`},
	{"replace function", `const s = 'the quick brown fox jumps over '.repeat(3300);`, `return s.replace(/[aeiou]/g, c => c.toUpperCase()).length`},
	{"split", `const s = 'a , b,c ,  d,'.repeat(20000);`, `return s.split(/\s*,\s*/).length`},
	{"email test", `const list = Array.from({length: 20000}, (_, i) => i % 3 ? 'user' + i + '@example.com' : 'not an email ' + i);`, `let n = 0; for (const s of list) if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(s)) n++; return n`},
	{"iso date", `const list = Array.from({length: 20000}, (_, i) => 'at 2024-01-' + String(i % 28 + 1).padStart(2, '0') + 'T10:00:00Z ok');`, `let n = 0; for (const s of list) { const m = s.match(/(\d{4})-(\d{2})-(\d{2})/); n += +m[3] } return n`},
	{"small replace", `const list = Array.from({length: 20000}, (_, i) => 'item-' + i + '_x y');`, `let n = 0; for (const s of list) n += s.replace(/[-_]/g, ' ').length; return n`},
	{"ignore case", `const list = Array.from({length: 20000}, (_, i) => 'Some Title number ' + i + ' about errors');`, `return list.filter(s => /error/i.test(s)).length`},
	{"unicode", `const s = 'Ünïcödé text with ñ and ü '.repeat(4000);`, `return s.replace(/[^\w\s]+/g, '').length`},
	{"unicode words", `const s = 'Ünïcödé text with ñ and ü '.repeat(4000);`, `return s.match(/[a-zÀ-ÿ]+/gi).length`},
	{"exec loop", `const s = 'key=value; other=thing; '.repeat(10000);`, `const re = /(\w+)=(\w+)/g; let m, n = 0; while ((m = re.exec(s))) n += m[1].length; return n`},
	{"trim", `const list = Array.from({length: 20000}, (_, i) => '   padded ' + i + '   ');`, `let n = 0; for (const s of list) n += s.replace(/^\s+|\s+$/g, '').length; return n`},
	{"alternation", `const s = 'lorem ipsum dolor sit amet error consectetur warning adipiscing '.repeat(5000);`, `return s.match(/error|warning|fatal|critical/g).length`},
	{"new RegExp", `const list = Array.from({length: 2000}, (_, i) => 'word' + i);`, `let n = 0; for (const w of list) if (new RegExp('\\b' + w + '\\b', 'i').test('some word12 text')) n++; return n`},
	{"create literal", ``, `let n = 0; for (let i = 0; i < 50000; i++) n += /x/.lastIndex; return n`},
	{"csv", `const s = 'a,"b, c",d,"e ""q""",f\n'.repeat(5000);`, `return s.match(/("(?:[^"]|"")*"|[^,\n]*)(,|\n)/g).length`},
	{"lookahead", `const list = Array.from({length: 20000}, (_, i) => String(i * 1234567));`, `let n = 0; for (const s of list) n += s.replace(/\B(?=(\d{3})+(?!\d))/g, ',').length; return n`},
}

// BenchmarkRegExp compares our engine with goja's own, and with node's where it is installed. The arms take turns, and the
// least of each is told, as machines are shared: judge by the ratios. node's is wall-clock time, without its start.
func BenchmarkRegExp(b *testing.B) {
	for _, task := range regexpTasks {
		b.Run(task.name, func(b *testing.B) {
			var ours, gojas, nodes time.Duration
			for b.Loop() {
				least(&ours, matchInEngine(b, task.setup+task.text))
				least(&gojas, matchInGoja(b, task.setup+task.text))
				least(&nodes, matchInNode(b, task.setup, task.text))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours.Seconds()*1e3, "ours-cpu-ms")
			b.ReportMetric(gojas.Seconds()*1e3, "goja-cpu-ms")
			b.ReportMetric(nodes.Seconds()*1e3, "node-ms")
			b.ReportMetric(float64(ours)/float64(gojas), "goja-ratio")
		})
	}
}

func least(d *time.Duration, took time.Duration) {
	if *d == 0 || took < *d {
		*d = took
	}
}

func matchInEngine(b *testing.B, text string) time.Duration {
	e := js.New(js.Options{})
	took, _ := measured(func() {
		out := e.Run(js.Program{Source: text, Limits: js.Limits{CPU: time.Minute, MemoryBytes: 1 << 30}}, js.Host{})
		if out.Kind != js.KindOK {
			b.Fatal(brief(out))
		}
	})
	return took
}

func matchInGoja(b *testing.B, text string) time.Duration {
	vm := goja.New()
	took, _ := measured(func() {
		if _, err := vm.RunString("(() => {" + text + "})()"); err != nil {
			b.Fatal(err)
		}
	})
	return took
}

func matchInNode(b *testing.B, setup, text string) time.Duration {
	out, err := exec.Command("node", "-e", setup+"const t0 = performance.now(); (() => {"+text+"})(); console.log(performance.now() - t0)").Output()
	if err != nil {
		return 0
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}
