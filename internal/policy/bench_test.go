package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/policy"
)

// BenchmarkDecide has a policy as a company may have one: 200 rules of 40 servers, half of them with conditions. Of those, 5 are for the
// call, 3 with conditions.
func BenchmarkDecide(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\ndeny: [\"*.drop_*\", \"*.delete_*\"]\nunknown: ask\nrules:\n")
	for i := range 39 {
		fmt.Fprintf(&text, `- {name: reads %[1]d, tools: ["server%[1]d.list_*", "server%[1]d.get_*"], action: allow, labels: [read, untrusted]}
- {name: small %[1]d, tools: ["server%[1]d.write_*"], action: allow, when: args.size < 100 && run.mutations < 5, labels: [external]}
- {name: writes %[1]d, tools: ["server%[1]d.write_*"], action: ask, labels: [external]}
- {name: large %[1]d, tools: ["server%[1]d.write_*"], action: deny, when: 'args.size > 10000 || args.path.startsWith("/etc/")'}
- {name: others %[1]d, tools: ["server%[1]d.*"], action: label, labels: [company]}
`, i)
	}
	text.WriteString(`- {name: small refunds, tools: [pay.refund], action: allow, when: 'args.amount <= 100 && args.currency == "EUR" && run.mutations < 5', labels: [external]}
- {name: large refunds, tools: ["pay.*"], action: deny, when: args.amount > 500}
- {name: notes, tools: [pay.refund, pay.charge], action: deny, when: 'args.note.size() > 2000 || args.note.matches("(?i)password|secret")'}
- {name: payments, tools: ["pay.*"], action: label, labels: [money]}
- {name: all, tools: ["*"], action: label, labels: [company]}
limits: {calls_per_run: 32, mutations_per_run: 20}
flows:
- {from: [untrusted], to: [external], action: ask}
- {from: [company], to: [external], action: ask}
`)
	p := parse(b, text.String())
	call := &policy.Call{
		Server: "pay", Tool: "refund",
		Args: args(b, `{"order":"7","amount":50,"currency":"EUR","note":"the parcel came late, and the customer asked for a part of the price"}`),
		Run:  policy.Run{Calls: 3, Mutations: 1, Labels: []string{"read", "untrusted"}},
	}
	if d := p.Decide(call); d.Action != policy.Ask || d.Rule != "untrusted to external" || len(d.Labels) != 3 {
		b.Fatalf("%+v", d)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Decide(call)
	}
}

// BenchmarkDecideMany is the worst that people write: 12 rules for one tool, 8 with conditions over lists.
func BenchmarkDecideMany(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\nunknown: ask\nrules:\n")
	for i := range 12 {
		when := ""
		if i < 8 {
			when = fmt.Sprintf(", when: 'args.amount <= %d && run.mutations < 5 && !args.to.exists(t, t.endsWith(\"@evil%d\"))'", 100+i, i)
		}
		fmt.Fprintf(&text, "- {name: ours%d, tools: [\"pay.*\", mail.send], action: allow, labels: [external]%s}\n", i, when)
	}
	p := parse(b, text.String())
	call := &policy.Call{Server: "pay", Tool: "refund", Args: args(b, `{"amount":50,"to":["a@example.com","b@example.com"],"note":"a text of some words"}`)}
	if d := p.Decide(call); d.Action != policy.Allow {
		b.Fatalf("%+v", d)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Decide(call)
	}
}
