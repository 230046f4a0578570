package js_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js"
)

func BenchmarkNew(b *testing.B) {
	js.New(js.Options{})
	for b.Loop() {
		js.New(js.Options{})
	}
}

func benchmark(b *testing.B, p js.Program, answer func(js.Call) js.Answer) {
	for b.Loop() {
		b.StopTimer()
		h := &echo{engine: js.New(js.Options{}), answer: answer}
		b.StartTimer()
		if out := h.engine.Run(p, js.Host{Calls: func(calls []js.Call) {
			for _, c := range calls {
				h.engine.Deliver(answer(c))
			}
		}}); out.Kind != js.KindOK {
			b.Fatal(brief(out))
		}
	}
}

func BenchmarkReturn1(b *testing.B) { benchmark(b, js.Program{Source: "return 1"}, nil) }

// BenchmarkTypeScript is what a program pays that goja's parser refuses.
func BenchmarkTypeScript(b *testing.B) {
	benchmark(b, js.Program{Source: "interface A { n: number }\nconst rows: A[] = [{ n: 1 }, { n: 2 }]\nreturn rows.map((r: A) => r.n)"}, nil)
}

func BenchmarkEchoCall(b *testing.B) {
	const calls = 1000
	p := js.Program{
		Source:  fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.a.b({ i }); return 1", calls),
		Servers: []string{"a"},
		Limits:  js.Limits{Calls: calls},
	}
	benchmark(b, p, func(c js.Call) js.Answer { return js.Answer{ID: c.ID, Form: js.JSON, Body: c.Args} })
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/calls, "µs/call")
}

// listing is 225 KB of what an issue tracker answers.
func listing() []byte {
	var rows []string
	for i := range 700 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"Issue number %d about the thing","state":"open","comments":%d,`+
			`"user":{"login":"user%d","id":%d,"admin":false},"labels":["bug","p%d"],"url":"https://example.com/issues/%d","body":"%s"}`,
			i, i, (i*7919)%1000, i%50, i, i%5, i, strings.Repeat("text ", 22)))
	}
	return []byte(`{"items":[` + strings.Join(rows, ",") + `]}`)
}

// jsonTasks are programs over `texts`, which are answers of tools; pages are their values.
var jsonTasks = []struct {
	name  string
	texts func() []string
	text  string
}{
	{"top3", listings, `return pages.flatMap(p => p.items).sort((x, y) => y.comments - x.comments).slice(0, 3).map(({ id, title }) => ({ id, title })).length`},
	{"untouched", listings, `return pages.length`},
	{"fields", long, `let n = 0; for (const x of pages[0]) { n += x.comments + x.id; if (x.title === "") n++ } return n`},
	{"stringified", long, `return JSON.stringify(pages[0]).length`},
	{"spread", long, `return pages[0].map(x => ({ ...x, more: 1 })).length`},
	{"changed", long, `for (const x of pages[0]) x.more = 1; return pages[0].length`},
}

func listings() []string {
	text := string(listing())
	return []string{text, text, text, text, text}
}

// long is 5.8 MB.
func long() []string {
	items := strings.TrimSuffix(strings.TrimPrefix(string(listing()), `{"items":[`), "]}")
	return []string{"[" + strings.Repeat(items+",", 25) + items + "]"}
}

// BenchmarkJSON runs programs over big results: lazily, with ordinary objects made at once (as for programs that could
// tell), and in goja alone with its own JSON. The arms take turns, and the least of each is told, as machines are shared:
// judge by the ratios to goja's own.
func BenchmarkJSON(b *testing.B) {
	for _, task := range jsonTasks {
		texts := task.texts()
		arms := []struct {
			name string
			run  func(testing.TB) (cpu time.Duration, allocated uint64)
		}{
			{"lazy", func(tb testing.TB) (time.Duration, uint64) { return inEngine(tb, task.text, texts) }},
			{"ordinary", func(tb testing.TB) (time.Duration, uint64) { return inEngine(tb, task.text+" // super", texts) }},
			{"goja", func(tb testing.TB) (time.Duration, uint64) { return inGoja(tb, task.text, texts) }},
		}
		b.Run(task.name, func(b *testing.B) {
			cpu, bytes := make([]time.Duration, len(arms)), make([]uint64, len(arms))
			for b.Loop() {
				for i, arm := range arms {
					took, allocated := arm.run(b)
					if cpu[i] == 0 || took < cpu[i] {
						cpu[i], bytes[i] = took, allocated
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, arm := range arms {
				b.ReportMetric(cpu[i].Seconds()*1e3, arm.name+"-cpu-ms")
				b.ReportMetric(float64(bytes[i])/1e6, arm.name+"-MB")
				if i < len(arms)-1 {
					b.ReportMetric(float64(cpu[i])/float64(cpu[len(arms)-1]), arm.name+"-ratio")
				}
			}
		})
	}
}

func inEngine(tb testing.TB, text string, texts []string) (time.Duration, uint64) {
	e := js.New(js.Options{})
	p := js.Program{
		Source:  fmt.Sprintf("const pages = await Promise.all(Array.from({ length: %d }, (_, page) => tools.a.list({ page })));\n%s", len(texts), text),
		Servers: []string{"a"},
		Limits:  js.Limits{CPU: time.Minute, MemoryBytes: 1 << 30},
	}
	var bodies [][]byte
	for _, text := range texts {
		bodies = append(bodies, []byte(text))
	}
	return measured(func() {
		out := e.Run(p, js.Host{Calls: func(calls []js.Call) {
			for i, c := range calls {
				e.Deliver(js.Answer{ID: c.ID, Form: js.Auto, Body: bodies[i]})
			}
		}})
		if out.Kind != js.KindOK {
			tb.Fatal(brief(out))
		}
	})
}

func inGoja(tb testing.TB, text string, texts []string) (time.Duration, uint64) {
	vm := goja.New()
	vm.Set("texts", texts)
	return measured(func() {
		if _, err := vm.RunString("(() => { const pages = [...texts].map(t => JSON.parse(t)); " + text + " })()"); err != nil {
			tb.Fatal(err)
		}
	})
}

// measured collects first: what one arm leaves behind is not another's.
func measured(f func()) (cpu time.Duration, allocated uint64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processCPU()
	f()
	cpu = processCPU() - began
	runtime.ReadMemStats(&after)
	return cpu, after.TotalAlloc - before.TotalAlloc
}

// BenchmarkCliffs runs the programs that take goja a time that grows with the square of the data: here, in goja alone, and
// in node where it is installed. The least of each arm is told; judge by the ratios. goja is left out of what takes it a
// minute.
func BenchmarkCliffs(b *testing.B) {
	for _, c := range cliffs {
		b.Run(c.name, func(b *testing.B) {
			ours, plain, node := time.Duration(1<<62), time.Duration(1<<62), time.Duration(1<<62)
			for b.Loop() {
				e := js.New(js.Options{})
				cpu, _ := measured(func() {
					if out := e.Run(js.Program{Source: c.text, Limits: js.Limits{CPU: time.Minute}}, js.Host{}); out.Kind != js.KindOK {
						b.Fatal(brief(out))
					}
				})
				ours = min(ours, cpu)
				node = min(node, inNode(c.text))
			}
			if !slowInGoja[c.name] {
				plain, _ = inGoja(b, c.text, nil)
				b.ReportMetric(float64(plain)/float64(ours), "goja/ours")
			}
			if node > 0 {
				b.ReportMetric(float64(ours)/float64(node), "ours/node")
			}
			b.ReportMetric(ours.Seconds()*1e3, "cpu-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

var slowInGoja = map[string]bool{"append-100k": true, "append-unicode": true, "shift-100k": true, "queue": true}

// inNode is the CPU time that a program takes in node, its start apart; 0 if there is none.
func inNode(text string) time.Duration {
	const script = `const f = new Function(process.argv[1]), a = process.cpuUsage(); f(); const b = process.cpuUsage(a); console.log(b.user + b.system)`
	out, err := exec.Command("node", "-e", script, text).Output()
	if err != nil {
		return 0
	}
	us, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return time.Duration(us) * time.Microsecond
}
