package e2e_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestReplay: by the log of a daemon, its own policy changes none of its decisions, and another one changes those that it should.
func TestReplay(t *testing.T) {
	t.Parallel()
	const rules = `unknown: deny
deny: ["t.drop_*"]
rules:
- {name: reads, tools: [t.read], action: allow, labels: [read, untrusted]}
- {name: small, tools: [t.send], when: run.mutations < 3 && run.denied < 3, action: allow, labels: [external]}
- {name: large, tools: [t.big], action: deny}
- {name: others, tools: [t.other, t.hint], action: allow}
- {name: hints, tools: [t.hint], when: has(annotations.readOnlyHint), action: deny}
limits: {calls_per_run: 12, denied_per_run: 9}
`
	file, config := audited(t)
	d, policy := policed(t, rules+"flows:\n- {from: [untrusted], to: [external], action: deny}\n", config)
	other := daemon.Policy(t, rules)
	answer := func(context.Context, json.RawMessage) (json.RawMessage, error) { return text("done"), nil }
	g := connect(t, d, tools{"read": answer, "send": answer, "hint": answer}, sandboxd.Options{}) // others fail
	made := 0
	for _, source := range []string{
		`await tools.t.send({}); await tools.t.read({}); try { await tools.t.send({}) } catch {}`,
		`await Promise.allSettled([tools.t.read({}), tools.t.send({}), tools.t.big({}), tools.t.read({}), tools.t.send({n: 3})])`,
		`for (const tool of ["send", "big", "send", "big", "big", "send"]) try { await tools.t[tool]({tool}) } catch {}`,
		`for (let n = 0; n < 5; n++) await tools.t.send({n})`,
		`try { await tools.t.drop_all({}) } catch {}; await tools.t.hint({}); await tools.t.other({x: [1.5, "ü"]})`,
		`await Promise.allSettled(Array.from({length: 15}, (_, n) => tools.t[n % 4 ? "other" : "read"]({n})))`,
		`const all = []; for (let n = 0; n < 5; n++) all.push(tools.t.read({n}).then(() => tools.t.send({n}))); await Promise.allSettled(all)`,
	} {
		made += len(g.run(t, sandboxd.Program{Source: source}).Calls)
	}
	var r struct {
		Calls, Changed, Unsure, Refused int
		Changes                         map[string]int
	}
	replay := func(policy string) []byte {
		t.Helper()
		r.Changes = nil // else they add up
		out, err := exec.Command(filepath.Join(daemon.Binaries(t), "sandboxctl"), "policy", "replay", "--json", "--policy", policy, "--log", file).Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil || r.Calls != made || r.Refused != 0 {
			t.Fatalf("%v; %d calls were made; it says %s", err, made, out)
		}
		return out
	}
	if out := replay(policy); r.Changed != 0 || r.Unsure != 0 {
		t.Errorf("the same policy: %s", out)
	}
	if out := replay(other); r.Changed < 3 || r.Unsure != 0 || r.Changes["deny → allow"] != r.Changed {
		t.Errorf("without its flow: %s", out)
	}
}
