package js_test

import (
	"fmt"
	"strings"
	"testing"

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
		h := &echo{engine: js.New(js.Options{Seed: [32]byte{1}}), answer: answer}
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

func BenchmarkTop3(b *testing.B) {
	body := listing()
	p := js.Program{
		Source: `const pages = await Promise.all([1,2,3,4,5].map(page => tools.a.list({ page })));
return pages.flatMap(p => p.items).sort((x, y) => y.comments - x.comments).slice(0, 3).map(({ id, title }) => ({ id, title }))`,
		Servers: []string{"a"},
	}
	b.SetBytes(int64(5 * len(body)))
	benchmark(b, p, func(c js.Call) js.Answer { return js.Answer{ID: c.ID, Form: js.Auto, Body: body} })
}
