package broker

import "github.com/sandboxd/sandboxd"

// traced ends the span of a call with what became of it. A tool's name is told if the gateway announced it, or was asked for it: what a
// program made up can be anything that it has read.
func (j *Judged) traced(run *Run) {
	if j.span == nil {
		return
	}
	c := run.call(j.n)
	sent := c.State != sandboxd.CallNotStarted && c.State != sandboxd.CallDenied
	if j.named || sent {
		j.span.Text("sandboxd.server", j.server)
		j.span.Text("sandboxd.tool", j.tool)
	}
	j.span.Number("sandboxd.call", int64(j.n))
	j.span.Text("sandboxd.decision", c.Decision)
	j.span.Text("sandboxd.rule", c.Rule)
	j.span.Text("sandboxd.verdict", c.Verdict)
	j.span.Text("sandboxd.state", string(c.State))
	if j.refusal != nil {
		j.span.Text("sandboxd.refused_by", j.refusal.by)
	}
	switch c.State {
	case sandboxd.CallDenied, sandboxd.CallFailed, sandboxd.CallUnknown:
		j.span.Fail(string(c.State))
	}
	if sent {
		j.span.Number("sandboxd.result_bytes", c.Bytes)
	}
	j.span.End()
}
