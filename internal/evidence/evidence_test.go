package evidence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const result = `[{"id":"cus_9s6XKzkNRiz8i3","name":"Ada Example","mail":"ada.example@example.com",
"note":"Prefers to be called in the morning,\n and never on a Friday; see the file of 2019.","iban":"DE89 3704 0044 0532 0130 00"},
{"id":"cus_7","note":"caf\u00e9 au lait, s'il vous pla\u00eet, \"avec plaisir\", et l'addition"}]`

func arguments(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFind(t *testing.T) {
	trail := NewTrail()
	trail.Read(1, []byte("nothing that anybody repeats, whatever it may be about"))
	trail.Read(3, []byte(result))
	for _, c := range []struct {
		name, arguments string
		want            []Found
	}{
		{"nothing", `{"body":"Dear all, the meeting is moved to the large room on the second floor. Bring your own chairs."}`, nil},
		{"a sentence", `{"body":"FYI: prefers to be called in the morning, and never on a Friday!"}`, []Found{{"body", 48, 3}}},
		{"in another layout", `{"body":"PREFERS\tto be... called in\n\n   the morning and never -- on a friday"}`, []Found{{"body", 48, 3}}},
		{"an address", `{"to":["x@example.org","Ada <ada.example@example.com>"]}`, []Found{{"to[1]", 20, 3}}},
		{"an identifier", `{"url":"https://example.org/?c=CUS_9s6xkzknriz8i3&x"}`, []Found{{"url", 17, 3}}},
		{"deep", `{"a":{"b":[{},{"c":"see cus_9s6XKzkNRiz8i3."}]}}`, []Found{{"a.b[1].c", 17, 3}}},
		{"as a name", `{"headers":{"cus_9s6XKzkNRiz8i3":1}}`, []Found{{"headers.cus_9s6XKzkNRiz8i3 (its name)", 17, 3}}},
		{"escapes", `{"body":"café au lait s'il vous plaît \"avec plaisir\" et l'addition"}`, []Found{{"body", 54, 3}}},
		{"words that say little", `{"body":"customer, example, prefers, morning, Friday 2019"}`, nil},
		{"short", `{"body":"cus_7"}`, nil},
		{"the most first", `{"a":"cus_9s6XKzkNRiz8i3","b":"prefers to be called in the morning and never on a friday see the file of 2019"}`, []Found{{"b", 64, 3}, {"a", 17, 3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := trail.Find(arguments(t, c.arguments))
			for i := range got { // of a sentence, some of the ends may be in no piece that was kept
				if i < len(c.want) && got[i].Characters >= min(piece, c.want[i].Characters) && got[i].Characters < c.want[i].Characters {
					got[i].Characters = c.want[i].Characters
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got, want := (Found{"body", 41, 3}).String(), "`body` carries at least 41 characters from call 3"; got != want {
		t.Error(got)
	}
}

func TestNumbers(t *testing.T) {
	trail := NewTrail()
	trail.Read(2, []byte(`{"account":4012888888881881,"n":17}`))
	want := []Found{{"card", 16, 2}}
	if diff := cmp.Diff(want, trail.Find(map[string]any{"card": int64(4012888888881881), "n": int64(17)})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, trail.Find(map[string]any{"card": 4012888888881881.0})); diff != "" {
		t.Error(diff)
	}
}

// letters is a text without meaning.
func letters(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGH  ,.\n"[r.IntN(39)]
	}
	return string(text)
}

func counted(text string) (n int) {
	for i := range len(text) {
		if classes[text[i]]&letter != 0 {
			n++
		}
	}
	return n
}

// TestCertain cuts stretches out of results at random: each that is long enough is found, and none in what was never read.
func TestCertain(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		trail := NewTrail()
		results := []string{letters(r, 3000), letters(r, 3000)}
		for i, text := range results {
			trail.Read(i+1, []byte(text))
		}
		call := r.IntN(2)
		from := r.IntN(2800)
		to := from + 1
		for to < 3000 && counted(results[call][from:to]) < Certain {
			to++
		}
		if counted(results[call][from:to]) < Certain {
			continue
		}
		around := letters(r, 50) + "%s" + letters(r, 50)
		found := trail.Find(map[string]any{"x": fmt.Sprintf(around, results[call][from:to])})
		if len(found) != 1 || found[0].Call != call+1 || found[0].Characters < piece || found[0].Characters > Certain+4 { // what is around may go on by chance
			t.Fatalf("%q of call %d: found %v", results[call][from:to], call+1, found)
		}
		if found := trail.Find(map[string]any{"x": letters(r, 2000)}); found != nil {
			t.Fatalf("found %v in what nobody read", found)
		}
	}
}

// TestBounded reads more than is kept: memory stays, and long stretches are found.
func TestBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	trail := NewTrail()
	trail.most = 1000
	var last string
	for call := range 40 {
		last = letters(r, 10_000)
		trail.Read(call+1, []byte(last))
		if len(trail.calls) > trail.most {
			t.Fatalf("%d prints are kept", len(trail.calls))
		}
	}
	found := trail.Find(map[string]any{"x": last})
	if len(found) == 0 || found[0].Call != 40 {
		t.Errorf("all of the last result: %v", found)
	}
	many := map[string]any{}
	for i := range 500 {
		many[fmt.Sprint(i)] = last
	}
	if found := trail.Find(many); len(found) != maxFound {
		t.Errorf("%d pieces of evidence for one call", len(found))
	}
}

// FuzzFind: whatever is read and sent, what is found is no more than there is.
func FuzzFind(f *testing.F) {
	f.Add([]byte(result), "Prefers to be called in the morning, and never on a Friday", "body")
	f.Add([]byte(`\u00`), `\`, "")
	f.Fuzz(func(t *testing.T, text []byte, argument, name string) {
		trail := NewTrail()
		trail.most = 64
		trail.Read(1, text)
		for _, found := range trail.Find(map[string]any{name: argument}) {
			if found.Characters < leastOf || found.Characters > max(len(argument), len(name)) || found.Call != 1 || len(found.Path) > 110 {
				t.Errorf("%+v", found)
			}
		}
	})
}

// BenchmarkRead reads a listing.
func BenchmarkRead(b *testing.B) {
	text := []byte(strings.Repeat(`{"id":12,"title":"Issue number 12 about the thing","comments":5,"body":"some text of no meaning"},`, 2500))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		NewTrail().Read(1, text)
	}
}

// TestLongNames: what a look through arguments takes grows with their size, however a program divides that among names and items.
func TestLongNames(t *testing.T) {
	trail := NewTrail()
	trail.Read(1, []byte(result))
	const half = 128 << 10
	long := strings.Repeat("n", half)
	inner := any("cus_9s6XKzkNRiz8i3")
	for i := range 60 {
		inner = map[string]any{strings.Repeat(string(rune('a'+i%26)), half/60): inner}
	}
	for name, args := range map[string]map[string]any{
		"items below a name":   {long: slices.Repeat([]any{int64(1)}, half/2)},
		"members below a name": {long: inner},
		"names in names":       {"a": inner},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found := trail.Find(args)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("arguments of 256 KiB took %d MiB", took>>20)
			}
			for _, f := range found {
				if len(f.Path) > 110 {
					t.Errorf("a path of %d bytes", len(f.Path))
				}
			}
			if strings.HasPrefix(name, "items") == (len(found) > 0) {
				t.Errorf("found %v", found)
			}
		})
	}
}
