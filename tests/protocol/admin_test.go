package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// administer asks the daemon at its socket for administrators, and holds question and answer against the schema.
func administer(t *testing.T, d *daemon.Daemon, method string, params any, place string, into any) {
	t.Helper()
	conn, err := net.Dial("unix", d.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	question, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(json.RawMessage(question), messages+"#/$defs/AdminRequest"); err != nil {
		t.Errorf("%s: %v", question, err)
	}
	fmt.Fprintf(conn, "%s\n", question)
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s: %s, %v", method, line, err)
	}
	if err := validate(answer.Result, messages+"#/$defs/"+place); err != nil {
		t.Errorf("%s: %s: %v", method, answer.Result, err)
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		t.Fatal(err)
	}
}

// TestAdministratorsSeeRuns: a run that goes on, and what became of it, as the specification has them, and no word of what it says.
func TestAdministratorsSeeRuns(t *testing.T) {
	d := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\npolicy: " + daemon.Policy(t, `unknown: deny
rules: [{name: known, tools: [s.slow, s.fails], action: allow}, {name: asks, tools: [s.asks], action: ask}]`) + "\n"})
	d.Rest(t, 1)
	called, answer := make(chan string, 1), make(chan struct{})
	c := d.Dial(t, sandboxd.Options{Name: "gate", Servers: []string{"s"}, Tools: func(_ context.Context, call sandboxd.ToolCall) (json.RawMessage, error) {
		if call.Tool == "fails" {
			return nil, errors.New("hunter2")
		}
		called <- call.Run
		<-answer
		return json.RawMessage(`{"content":[{"type":"text","text":"hunter2"}]}`), nil
	}})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Execute(context.Background(), sandboxd.Program{Source: `const text = await tools.s.slow({a: "hunter2"});
			try { await tools.s.fails({}) } catch {}
			try { await tools.s.drop({}) } catch {}
			tools.s.asks({}); throw new Error(text)`})
		ended <- err
	}()
	run := <-called
	var list sandboxd.RunList
	administer(t, d, "runs/list", sandboxd.RunsParams{Limit: 9}, "RunList", &list)
	if len(list.Runs) != 1 || list.Runs[0].Run != run || list.Runs[0].Out != 1 || list.Runs[0].Gateway != "gate" || list.Runs[0].Doing != "waiting for s.slow" {
		t.Errorf("it goes on: %+v", list)
	}
	var report sandboxd.RunReport
	administer(t, d, "runs/show", sandboxd.ShowRunParams{Run: run}, "RunReport", &report)
	if len(report.Timeline) != 1 || report.Timeline[0].Waits != "tool" || report.Timeline[0].Sent == nil || report.Timeline[0].Rule != "known" {
		t.Errorf("it goes on: %+v", report.Timeline)
	}
	close(answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	report = sandboxd.RunReport{}
	administer(t, d, "runs/show", sandboxd.ShowRunParams{Run: run}, "RunReport", &report)
	var became []string
	for _, call := range report.Timeline[:3] {
		became = append(became, fmt.Sprint(call.Tool, " ", call.State, " ", call.Class, " ", call.Rule, " ", call.Waits))
	}
	if got := fmt.Sprintf("%q", became); got != `["slow succeeded  known " "fails failed tool known " "drop denied policy unknown "]` ||
		report.Outcome != sandboxd.OutcomeError || report.Stats.WallMS == 0 || !report.Stats.Warm {
		t.Errorf("%s, %+v", got, report)
	}
	var status sandboxd.StatusResult
	administer(t, d, "status", object{}, "StatusResult", &status)
	if v := status.Serving; v == nil || v.Gateways != 1 || len(v.Recent) != 1 || v.Leases[0].Warm != 1 || v.Leases[0].Leased != 0 || v.Leases[0].Isolation == nil ||
		len(v.Ended) != 1 || v.Ended[0] != (sandboxd.Tally{Of: "error", N: 1}) {
		t.Errorf("serving: %+v", v)
	}
	for _, told := range []any{list, report, status} {
		if text, err := json.Marshal(told); err != nil || bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("it tells: %s, %v", text, err)
		}
	}
}
