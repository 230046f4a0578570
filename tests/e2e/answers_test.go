package e2e_test

import (
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestAnswers sends programs that the engine alone answers wrongly, or not in time; internal/js has the kinds in full.
// A worker has no file: time zones and the rest of the tables are in its binary.
func TestAnswers(t *testing.T) {
	t.Parallel()
	g := connect(t, daemon.Start(t, daemon.Options{}), nil, sandboxd.Options{})
	for _, c := range []struct{ name, source, want string }{
		{"grouped", "return (1234567.891).toLocaleString('en-US')", `"1,234,567.891"`},
		{"money", "return new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format(-1234.5)", `"-€1,234.50"`},
		{"date in a zone", "return new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York', dateStyle: 'long', timeStyle: 'long' })", `"December 31, 1969 at 7:00:00 PM EST"`},
		{"time", "return new Date(0).toLocaleTimeString('en-US', { timeZone: 'Asia/Kolkata' })", `"5:30:00 AM"`},
		{"sorted", "return ['b10', 'B2', 'á1', 'a'].sort((x, y) => x.localeCompare(y, 'en', { numeric: true, sensitivity: 'base' }))", `["a","á1","B2","b10"]`},
		{"beyond Latin letters", "return ['я', 'а', 'б'].sort(new Intl.Collator().compare)", `["а","б","я"]`},
		{"how long ago", "return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-1, 'day')", `"yesterday"`},
		{"100,000 rows", "let s = ''; for (let i = 0; i < 100000; i++) s += 'row ' + i + ',some text here,' + i * 2 + '\\n'; return s.length", "3133335"},
		{"a queue", "const q = Array.from({ length: 100000 }, (_, i) => i); let n = 0; while (q.length) n += q.shift(); return n", "4999950000"},
		{"rows spread", "return Array.from({ length: 5000 }, (_, i) => i).reduce((r, x) => [...r, x], []).length", "5000"},
		{"rows put first", "const a = []; for (let i = 0; i < 20000; i++) a.unshift(i); return a[0]", "19999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := g.value(t, c.source); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	g.serves(t)
}
