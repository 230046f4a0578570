package broker

import (
	"context"
	"fmt"
	"slices"

	"github.com/sandboxd/sandboxd/internal/approval"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/evidence"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/redact"
	"github.com/sandboxd/sandboxd/internal/traces"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Judged is a call on which policy has decided. Its arguments were read once: what is shown to the guard and to people, hashed and sent are
// these bytes. Judge makes it, and nothing else can; Do carries nothing else out.
type Judged struct {
	n            int
	server, tool string
	args         policy.Arguments
	decision     policy.Decision // the zero value denies
	trigger      string          // what made the program call: guard.UserRequest or guard.ToolResult

	// What the run had done when it asked for the call.
	had   policy.Run
	reads []guard.Read
	seen  *audit.Seen // nil: policy was not asked

	span  *traces.Span // nil: the run is not traced
	named bool         // the gateway announced the tool

	// What Do learns.
	evidence []evidence.Found
	verdict  *guard.Answer
	approval *approval.Answer
	refusal  *refusal
}

// Who refuses a call.
const (
	byDeny     = "deny"  // hard denies, which nothing overrules
	byCheck    = "check" // it can be no call of the tool
	byLimit    = "limit"
	byPolicy   = "policy"
	byGuard    = "guard"
	byApproval = "approval"
	byAudit    = "audit" // it can't be recorded
)

// refusal is why a call is not made.
type refusal struct {
	by     string
	rule   string
	reason string // for the program, and for people
}

// Judge decides on calls that were made together, as far as that needs nobody else: hard denies, what can be no call of the tool, and
// policy. It is to be called with the calls of a run in their order, and not at once: what policy decides depends on the calls before.
// A run that has ended gets no more: a program can make one call that takes most of a second.
func Judge(ctx context.Context, run *Run, batch []wire.Call) []Judged {
	all := make([]Judged, len(batch))
	for i, call := range batch {
		if ctx.Err() != nil {
			return all[:i]
		}
		j := &all[i]
		*j = Judged{n: call.ID, server: call.Server, tool: call.Tool, span: run.Span.Child("call", traces.Internal)}
		j.refusal = j.judge(run, call)
		run.count(j)
		run.note(j)
	}
	return all
}

func (j *Judged) judge(run *Run, call wire.Call) *refusal {
	// Hard denies: nothing below may overrule these.
	if bad := catalog.Unprintable(call.Server + call.Tool); bad >= 0 {
		return &refusal{byDeny, "names", fmt.Sprintf("a name with the character %U, which can't be seen", bad)}
	}
	server := run.Catalog.Server(call.Server)
	if server == nil {
		return &refusal{byDeny, "servers", unknownServer(call.Server, run.Catalog.ServerNames())}
	}
	// What could be no call of a tool that there is. Aliases are the worker's: only a tool's own name is one here, and
	// what policy decides on is what the gateway is asked for.
	tool := server.Tool(call.Tool)
	if tool == nil && len(server.Tools) > 0 {
		return &refusal{byCheck, "tools", server.UnknownTool(call.Tool)}
	}
	j.named = tool != nil
	var err error
	if j.args, err = policy.ReadArguments(call.Args); err != nil {
		return &refusal{byCheck, "arguments", err.Error()}
	}
	if tool != nil {
		wrong, unchecked := tool.Check(j.args.JSON)
		if wrong != "" {
			return &refusal{byCheck, "arguments", wrong}
		}
		run.uncheck(j.n, unchecked)
	}
	return j.decide(run, tool)
}

// decide asks policy.
func (j *Judged) decide(run *Run, tool *catalog.Tool) *refusal {
	j.had, j.reads, j.seen = run.history(j.n)
	c := policy.Call{
		Server: j.server, Tool: j.tool, Args: j.args.Value, Annotations: annotations(tool),
		Run: j.had, Caller: run.Caller, Task: run.Task,
	}
	j.seen.Annotations = c.Annotations
	j.trigger = guard.UserRequest
	if slices.Contains(j.had.Labels, policy.LabelUntrusted) {
		j.trigger = guard.ToolResult
	}
	if run.Policy == nil {
		return &refusal{byPolicy, "policy", "the daemon has no policy, and so allows nothing: name one in its configuration, policy: FILE"}
	}
	j.decision = run.Policy.Decide(&c)
	if j.decision.Redact.Arguments && j.decision.Action != policy.Deny {
		if refused := j.redact(run, &c); refused != nil {
			return refused
		}
	}
	switch {
	case j.decision.Action == policy.Deny:
		return &refusal{decidedBy(j.decision.Rule), j.decision.Rule, j.decision.Reason}
	case j.decision.Read:
		return nil
	}
	if most := run.Policy.Limits().MutationsPerMinute; !run.Quota.mutation(most) {
		return &refusal{byLimit, "limits.per_caller.mutations_per_minute",
			fmt.Sprintf("the caller has made its %d calls a minute that change something: wait, or change less", most)}
	}
	return nil
}

// redact takes secrets out of the arguments. What is left is what all others see, and so policy decides on it once more: nothing is more
// allowed by what was taken out.
func (j *Judged) redact(run *Run, c *policy.Call) *refusal {
	clean, found := redact.Default().JSON(j.args.JSON)
	if len(found) == 0 {
		return nil
	}
	args, err := policy.ReadArguments(clean)
	if err != nil {
		return &refusal{byCheck, "arguments", "without the secrets in them, " + err.Error()}
	}
	before := j.decision
	c.Args = args.Value
	j.args, j.decision = args, run.Policy.Decide(c)
	if before.Action < j.decision.Action {
		j.decision.Action, j.decision.Rule, j.decision.Reason = before.Action, before.Rule, before.Reason
	}
	j.decision.Guard = j.decision.Guard || before.Guard
	j.decision.Read = j.decision.Read && before.Read
	j.decision.Redact.Result = j.decision.Redact.Result || before.Redact.Result
	for _, l := range before.Labels {
		if !slices.Contains(j.decision.Labels, l) {
			j.decision.Labels = append(j.decision.Labels, l)
		}
	}
	run.redacted(j.n, found)
	return nil
}

// decidedBy is what in a policy denied. Names of rules can't be those of its other parts.
func decidedBy(rule string) string {
	switch rule {
	case policy.RuleDeny:
		return byDeny
	case policy.RuleCalls, policy.RuleMutations:
		return byLimit
	}
	return byPolicy
}

// annotations are what the tool's server says of it: hints, for conditions.
func annotations(tool *catalog.Tool) map[string]bool {
	said := make(map[string]bool, 4)
	if tool == nil || tool.Annotations == nil {
		return said
	}
	for name, hint := range map[string]*bool{
		"readOnlyHint": tool.Annotations.ReadOnly, "destructiveHint": tool.Annotations.Destructive,
		"idempotentHint": tool.Annotations.Idempotent, "openWorldHint": tool.Annotations.OpenWorld,
	} {
		if hint != nil {
			said[name] = *hint
		}
	}
	return said
}
