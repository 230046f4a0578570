package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"github.com/sandboxd/sandboxd"
)

// runState is how a run ended, or what it does.
func runState(r sandboxd.RunSummary) string {
	if r.Outcome != "" {
		return string(r.Outcome)
	}
	return r.Doing
}

// runLine is a run on a line. Words of others come last, and can't end it.
func runLine(r sandboxd.RunSummary, p palette) string {
	outcome := string(r.Outcome)
	if outcome == "" {
		outcome = "…"
	}
	return strings.TrimRight(fmt.Sprintf("%s  %s  %s%s  %9s  %-24s %s", printable(r.Run), r.Began.UTC().Format(time.DateTime),
		p.word(printable(outcome)), strings.Repeat(" ", max(9-len([]rune(outcome)), 0)), short(milliseconds(r.ElapsedMS)), runCalls(r), runOwner(r)), " ")
}

// runCalls counts a run's calls in words.
func runCalls(r sandboxd.RunSummary) string {
	text := fmt.Sprintf("%d calls", r.Calls)
	if r.Calls == 1 {
		text = "1 call"
	}
	for _, part := range []struct {
		n    int
		word string
	}{{r.Out, "out"}, {r.Failed, "failed"}, {r.Denied, "denied"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	return text
}

// runOwner is whose run it is, and what it does if it goes on.
func runOwner(r sandboxd.RunSummary) string {
	text := printable(r.Caller) + ", " + printable(r.Profile)
	if r.Gateway != "" {
		text += ", " + printable(r.Gateway)
	}
	if r.Outcome == "" {
		text += ": " + printable(r.Doing)
	}
	return text
}

// barWidth is how many characters stand for the time of a run.
const barWidth = 32

// reportLines is a run with its calls.
func reportLines(r sandboxd.RunReport, p palette) []string {
	lines := []string{fmt.Sprintf("run %s: %s, %s, %s", printable(r.Run), p.word(printable(runState(r.RunSummary))), short(milliseconds(r.ElapsedMS)), runCalls(r.RunSummary))}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	r.Doing = "" // it is told
	add("  of %s, from %s", strings.TrimSuffix(runOwner(r.RunSummary), ": "), r.Began.UTC().Format("2006-01-02T15:04:05.000Z"))
	if s := r.Stats; r.Outcome != "" {
		warm := "cold"
		if s.Warm {
			warm = "warm"
		}
		add("  queue %s, lease %s (%s), wall %s, CPU %s, tools %s, approvals %s, memory %s", short(milliseconds(s.QueueMS)), short(milliseconds(s.LeaseMS)), warm,
			short(milliseconds(s.WallMS)), short(milliseconds(s.CPUMS)), short(milliseconds(s.ToolMS)), short(milliseconds(s.ApprovalMS)), units.BytesSize(float64(s.PeakMemory)))
	}
	widest := 0
	for _, c := range r.Timeline {
		widest = max(widest, len([]rune(callName(c))))
	}
	widest = min(widest, 40)
	for _, c := range r.Timeline {
		name := callName(c)
		state := string(c.State)
		if c.Waits != "" {
			state = "waits"
		}
		add("%4d  %-*s  %s  %s%s  %s", c.N, widest, name, bar(r, c), p.word(printable(state)), strings.Repeat(" ", max(11-len(state), 0)), callTimes(c))
		if why := callDecision(c, p); why != "" {
			add("      %s", why)
		}
	}
	if r.More > 0 {
		add("      and %d calls more", r.More)
	}
	return lines
}

func callName(c sandboxd.CallReport) string { return printable(c.Server + "." + c.Tool) }

// bar draws a call into the time of its run.
func bar(r sandboxd.RunReport, c sandboxd.CallReport) string {
	cells := slices.Repeat([]rune{' '}, barWidth)
	scale := float64(barWidth) / max(r.ElapsedMS, 0.001)
	fill := func(from, to float64, with rune) {
		first := min(max(int(from*scale), 0), barWidth-1)
		last := min(max(int(to*scale), first+1), barWidth)
		for i := first; i < last; i++ {
			cells[i] = with
		}
	}
	end := c.AtMS
	for _, s := range []*sandboxd.Span{c.Guard, c.Approval, c.Sent} {
		if s != nil {
			end = max(end, s.AtMS)
		}
	}
	if c.Waits == "turn" {
		end = r.ElapsedMS
	}
	fill(c.AtMS, end, '·')
	for _, part := range []struct {
		span *sandboxd.Span
		with rune
	}{{c.Guard, '░'}, {c.Approval, '▒'}, {c.Sent, '█'}} {
		if s := part.span; s != nil {
			fill(s.AtMS, s.AtMS+s.MS, part.with)
			end = s.AtMS + s.MS
		}
	}
	if c.State == sandboxd.CallDenied {
		fill(end, end, '×')
	}
	return "▕" + string(cells) + "▏"
}

// callTimes is when a call was asked for, and how long it took at its tool.
func callTimes(c sandboxd.CallReport) string {
	text := "+" + short(milliseconds(c.AtMS))
	if c.Sent != nil {
		text += ", tool " + short(milliseconds(c.Sent.MS))
	}
	if c.State == sandboxd.CallSucceeded {
		text += ", " + units.BytesSize(float64(c.Bytes))
	}
	return text
}

// callDecision is what was decided on a call, by whom, and what it waits for or failed by.
func callDecision(c sandboxd.CallReport, p palette) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.Decision != "" {
		text := p.word(printable(c.Decision))
		if c.Rule != "" {
			text += fmt.Sprintf(" by rule %q", printable(c.Rule))
		}
		if c.Reason != "" {
			text += ": " + printable(c.Reason)
		}
		say("%s", text)
	}
	if c.Guard != nil {
		verdict := "none yet"
		if c.Verdict != "" {
			verdict = p.word(printable(c.Verdict))
		}
		say("guard %s (%s)", verdict, short(milliseconds(c.Guard.MS)))
	}
	if c.Approval != nil {
		text := "approval waited for"
		if c.Approved != "" {
			text = "approved by " + printable(c.Approved)
		}
		say("%s (%s)", text, short(milliseconds(c.Approval.MS)))
	}
	switch {
	case c.Waits != "":
		say("waits for %s", map[string]string{"turn": "its turn", "guard": "the guard", "approval": "an approval", "tool": "its tool"}[c.Waits])
	case c.State == sandboxd.CallDenied:
		say("refused as %s", printable(c.Class))
	case c.State == sandboxd.CallFailed:
		say("failed at the %s", printable(c.Class))
	}
	return strings.Join(parts, "; ")
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
