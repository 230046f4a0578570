package policy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// conditions use what there is to use.
var conditions = []string{
	`args.a == args.b`, `args.a != 3 && args.b < 4`, `args.a == "x" || args.b.size() > 2`, `args == {"a": 1}`, `has(args.a) ? args.a == args.b : args.c`,
	`args.a.exists(x, x == args.b)`, `args.a.all(x, x.size() > 3)`, `args.a.all(x, args.b.all(y, x == y))`, `args.a.filter(x, x != 1).size() > 2`,
	`args.a.map(x, x + x).exists(x, x == args.b)`, `args.a.exists_one(x, x in args.b)`, `args.a.all(k, args.a[k] == args.b)`, `args.b in args.a`,
	`args.a.contains(args.b) || args.a.startsWith(args.b) || args.a.endsWith(args.b)`, `args.a.matches("(?i)^[a-c]+(x|y)*$")`,
	`args.a.replace("a", "bcd").size() > 3`, `args.a.split(args.b).size() > 3`, `args.a.split("").all(x, x == "a")`, `args.a.join(", ").contains("a, b")`,
	`args.a.lowerAscii().upperAscii().trim().reverse() == args.b`, `args.a.substring(1).indexOf("ab") > 0 || args.b.contains(args.a)`, `args.a.lastIndexOf("a") == 3`, `args.a.charAt(0) == "a"`,
	`"%s and %s".format([args.a, args.b]).size() > 8`, `sets.contains(args.a, ["a", "b"])`, `sets.intersects(run.labels, ["a", "read"])`, `"a" in run.labels`,
	`math.greatest(args.a, 3) > 2`, `math.least([1, 2, 3]) == args.a`, `string(args.a) == string(args.b)`, `int(args.a) > 3 || double(args.b) < 3.0`,
	`isIP(args.a) && ip(args.a).family() == 4`, `cidr("10.0.0.0/8").containsIP(args.a)`, `task.contains(args.a) || caller.gateway == args.b`,
	`annotations.all(k, annotations[k])`, `tool.startsWith(server)`, `args.a.a.b == args.b[0]`, `[args.a, args.b].exists(x, x == args.c)`, `{"k": args.a}.k == args.b`,
	`(args.a + args.b).size() > 3`, `type(args.a) == string`, `args.a.map(x, x.map(y, [y, y])).all(x, x.size() > 1)`,
}

// TestCostIsBounded: no call costs more than what is estimated of its size. Without that, conditions may not be evaluated uncounted.
func TestCostIsBounded(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for _, condition := range conditions {
		for range 25 {
			c := &policy.Call{
				Server: "server", Tool: "tool", Task: word(r), Caller: policy.Caller{Gateway: word(r)}, Annotations: map[string]bool{},
				Args: map[string]any{"a": value(r, 3), "b": value(r, 3), "c": value(r, 1)},
			}
			for range r.IntN(8) {
				c.Run.Labels = append(c.Run.Labels, word(r))
				c.Annotations[word(r)] = true
			}
			actual, bound, err := policy.Cost(condition, c)
			if err != nil || actual > bound {
				t.Fatalf("%s: it costs %d, at the most %d (%v)\n%+v", condition, actual, bound, err, c)
			}
		}
	}
}

func word(r *rand.Rand) string {
	return strings.Repeat(pick(r, "a", "ab", "x", "é", "10.1.2.3", " "), r.IntN(pick(r, 3, 200)))
}

// value is what arguments may be.
func value(r *rand.Rand, depth int) any {
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(4)
	}
	switch kind {
	case 0:
		return int64(r.IntN(10))
	case 1:
		return pick[any](r, nil, true, 1.5)
	case 2, 3:
		return word(r)
	case 4, 5:
		list := []any{}
		for range r.IntN(pick(r, 4, 40)) {
			list = append(list, value(r, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(8) {
		object[word(r)] = value(r, depth-1)
	}
	return object
}

// TestFits: what people write is evaluated uncounted for calls of usual size; what grows faster than the call is not for long.
func TestFits(t *testing.T) {
	for condition, want := range map[string]int{
		`args.amount <= 100 && run.mutations < 5`:             64 << 10,
		`args.note.matches("(?i)password|secret")`:            64 << 10,
		`!args.to.exists(x, !x.endsWith("@example.com"))`:     4 << 10,
		`"untrusted" in run.labels`:                           64 << 10,
		`args.to.all(x, args.cc.all(y, x != y))`:              0,
		`args.a.lowerAscii().contains("drop")`:                64 << 10,
		`args.a.map(x, x + x).all(x, x.size() < 4)`:           256,
		`args.a.all(x, x.all(y, y.all(z, z.all(w, w == 3))))`: 0,
	} {
		if got, err := policy.Fits(condition); err != nil || got != want {
			t.Errorf("%s: %d, want %d (%v)", condition, got, want, err)
		}
	}
}

// TestSize: a call that is too large for the estimate is counted, and stopped.
func TestSize(t *testing.T) {
	p := parse(t, `{version: 1, unknown: ask, rules: [{name: r, tools: [a.b], when: 'args.a.all(x, args.a.all(y, x + y != 1))', action: allow}]}`)
	for n, want := range map[int]string{10: "r", 2000: "unknown"} {
		list := make([]any, n)
		for i := range list {
			list[i] = int64(5)
		}
		if d := p.Decide(&policy.Call{Server: "a", Tool: "b", Args: map[string]any{"a": list}}); d.Rule != want {
			t.Errorf("%d items: %+v, want %s", n, d, want)
		}
	}
}

// TestConstants: what could work for minutes on what a program chose is refused where the rule is read.
func TestConstants(t *testing.T) {
	for condition, want := range map[string]string{
		`args.a.matches(args.b)`:                 `matches: argument 1 must be a text in the rule`,
		`matches(args.a, args.b)`:                `matches: argument 2 must be a text in the rule`,
		`args.a.replace("a", args.b) == ""`:      `replace: argument 2 must be`,
		`args.a.replace(args.b, "x", 3) == ""`:   ``,
		`args.a.join(args.b) == ""`:              `join: argument 1 must be`,
		`args.a.join() == "x"`:                   ``,
		`args.a.exists(x, x.matches(args.b))`:    `matches: argument 1`,
		`args.a.indexOf(args.b, 3) > 0`:          `indexOf: argument 1 must be a text in the rule`,
		`args.a.lastIndexOf(args.b) > 0`:         `lastIndexOf: argument 1`,
		`args.a.indexOf("b", args.n) > 0`:        ``,
		`sets.contains(args.a, args.b)`:          `sets.contains: one of the two lists must stand in the rule`,
		`sets.intersects(args.a, run.labels)`:    `sets.intersects: one of the two`,
		`sets.equivalent(["a", "b"], args.list)`: ``,
	} {
		_, err := policy.Fits(condition)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", condition, err, want)
		}
	}
}
