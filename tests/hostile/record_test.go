package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// logged is a configuration with an audit log and a profile that makes 32 calls at once.
func logged(t *testing.T, policy string) (file, config string) {
	t.Helper()
	dir := daemon.Dir(t)
	wide := "extends: default\nlimits: {calls: 1000, concurrent_calls: 32, wall_ms: 60000}\n"
	if err := os.WriteFile(filepath.Join(dir, "wide.yaml"), []byte(wide), 0o600); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "audit", "audit.log")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	return file, fmt.Sprintf("pool: {default: 1}\nprofiles: %s\naudit: {path: %s}\npolicy: %s\n", dir, file, daemon.Policy(t, policy))
}

// story is what an audit log tells of calls, by RUN/N.
type story struct {
	intents  map[string]string // and the arguments' hash
	outcomes map[string]string // their state
	asked    map[string]string // and the id of the request
	events   map[string]int
}

func readStory(t *testing.T, file string) story {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := story{map[string]string{}, map[string]string{}, map[string]string{}, map[string]int{}}
	for line := range bytes.Lines(text) {
		var e struct {
			Event, Run, State, ID string
			N                     int
			Arguments             struct{ Hash string }
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // torn by a kill; the next daemon mends it
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		s.events[e.Event]++
		id := fmt.Sprintf("%s/%d", e.Run, e.N)
		switch e.Event {
		case "call.intent":
			if s.intents[id] != "" {
				t.Errorf("a second intent of %s", id)
			}
			s.intents[id] = e.Arguments.Hash
		case "call.outcome":
			if s.intents[id] == "" || s.outcomes[id] != "" {
				t.Errorf("an outcome of %s, with the intent %q and the outcome %q before", id, s.intents[id], s.outcomes[id])
			}
			s.outcomes[id] = e.State
		case "approval.request":
			s.asked[id] = e.ID
		}
	}
	return s
}

// verified has the log checked by who would check it.
func verified(t *testing.T, file string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(daemon.Binaries(t), "sandboxctl"), "audit", "--log", file, "verify").CombinedOutput()
	if err != nil {
		t.Errorf("sandboxctl audit verify: %v\n%s", err, out)
	}
}

// restarted is a new daemon on the log of one that ended.
func restarted(t *testing.T, config string) *daemon.Daemon {
	t.Helper()
	return daemon.Start(t, daemon.Options{Config: config})
}

// busy is a gateway that answers each call after a moment, and keeps what it was asked for.
func busy(t *testing.T, d *daemon.Daemon) (seen func() []sandboxd.ToolCall, c *sandboxd.Client) {
	t.Helper()
	var mu sync.Mutex
	var calls []sandboxd.ToolCall
	c = d.Dial(t, sandboxd.Options{Name: "busy", Servers: []string{"s"}, Tools: func(ctx context.Context, c sandboxd.ToolCall) (json.RawMessage, error) {
		mu.Lock()
		calls = append(calls, c)
		mu.Unlock()
		select {
		case <-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond):
		case <-ctx.Done():
		}
		return json.RawMessage(pong), nil
	}})
	return func() []sandboxd.ToolCall {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(calls)
	}, c
}

// endlessCalls keeps 32 calls at the gateway.
const endlessCalls = `
let x = 0
const one = async () => { while (x < 960) { const i = x++; await tools.s.t({i, even: i % 2}) } }
await Promise.all(Array.from({length: 32}, one))
return x`

const floodPolicy = "unknown: allow\nrules: [{name: even, tools: ['s.t'], when: 'args.even == 0', action: allow, labels: [read]}]\n"

// TestKilledInTheFlood kills the daemon while 32 calls are at work, each in its own step from its intent to its outcome. Each call that the
// gateway saw has an intent, and each intent has an outcome once another daemon has begun.
func TestKilledInTheFlood(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	file, config := logged(t, floodPolicy)
	sent, unknown := map[string]bool{}, 0
	for range rounds {
		d := restarted(t, config)
		seen, c := busy(t, d)
		ended := make(chan error, 1)
		go func() {
			_, err := c.Execute(t.Context(), sandboxd.Program{Source: endlessCalls, Profile: "wide"})
			ended <- err
		}()
		daemon.Eventually(t, patience, func() error {
			if len(seen()) == 0 {
				return errors.New("no call")
			}
			return nil
		})
		time.Sleep(time.Duration(rand.IntN(40_000)) * time.Microsecond)
		d.Signal(t, syscall.SIGKILL)
		<-d.Exited()
		<-ended // the client has read what was sent before
		for _, call := range seen() {
			id := fmt.Sprintf("%s/%d", call.Run, call.N)
			if sent[id] {
				t.Errorf("%s was sent twice", id)
			}
			sent[id] = true
		}
	}
	restarted(t, config)
	s := readStory(t, file)
	for id := range sent {
		if s.intents[id] == "" {
			t.Errorf("%s reached the gateway, and is not in the log", id)
		}
	}
	for id := range s.intents {
		switch state := s.outcomes[id]; {
		case state == "":
			t.Errorf("%s has no outcome", id)
		case state == "unknown":
			unknown++
		case !sent[id]:
			t.Errorf("%s is %s, and the gateway never saw it", id, state)
		}
	}
	if len(sent) < rounds || unknown == 0 {
		t.Errorf("%d calls were sent, and %d are unknown: this test tests little", len(sent), unknown)
	}
	verified(t, file)
	t.Logf("%d calls were sent, %d recorded, %d unknown", len(sent), len(s.intents), unknown)
}

// TestFullInTheFlood fills the disk while 32 calls are at work. Each call that the gateway saw has an intent, and when there is room
// again, all goes on.
func TestFullInTheFlood(t *testing.T) {
	t.Parallel()
	file, config := logged(t, floodPolicy)
	d := restarted(t, config)
	seen, c := busy(t, d)
	refused := 0
	for round := range 6 {
		full := time.AfterFunc(time.Duration(5+rand.IntN(40))*time.Millisecond, func() {
			if info, err := os.Stat(file); err == nil {
				limitFiles(t, d.PID, uint64(info.Size())+uint64(rand.IntN(2000))) // somewhere in a line
			}
		})
		r, err := c.Execute(t.Context(), sandboxd.Program{Source: strings.ReplaceAll(endlessCalls, "await tools.s.t({i, even: i % 2})",
			"try { await tools.s.t({i, even: i % 2}) } catch (e) { if (e.rule !== 'audit' || e.reason.includes('/')) throw e }"), Profile: "wide"})
		full.Stop()
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range r.Calls {
			if call.Rule == "audit" {
				refused++
			}
		}
		if r.Outcome != sandboxd.OutcomeOK && r.Outcome != sandboxd.OutcomeInternal {
			t.Errorf("round %d ended as %s", round, sprint(r.Error))
		}
		limitFiles(t, d.PID, ^uint64(0))
		daemon.Eventually(t, patience, func() error { // the log tries again after a pause
			r, err := c.Execute(t.Context(), sandboxd.Program{Source: "await tools.s.t({even: 1}); return 1"})
			if err != nil || r.Outcome != sandboxd.OutcomeOK {
				return fmt.Errorf("after there is room: %v, %v", r.Error, err)
			}
			return nil
		})
	}
	s := readStory(t, file)
	for _, call := range seen() {
		if id := fmt.Sprintf("%s/%d", call.Run, call.N); s.intents[id] == "" {
			t.Errorf("%s reached the gateway, and is not in the log", id)
		}
	}
	if refused == 0 || s.events["audit.recovered"] == 0 {
		t.Errorf("%d calls were refused, the log recovered %d times: this test tests little", refused, s.events["audit.recovered"])
	}
	verified(t, file)
	t.Logf("%d calls were sent, %d refused", len(seen()), refused)
}

// limitFiles bounds the size of files that a process may write (prlimit(2)): a full disk that everybody can have.
func limitFiles(t *testing.T, pid int, bytes uint64) {
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Errorf("prlimit: %v", errno)
	}
}

// TestKilledWhileAsking kills the daemon while calls wait for people. None of them goes out, then or later, whoever approves it.
func TestKilledWhileAsking(t *testing.T) {
	t.Parallel()
	file, config := logged(t, "unknown: ask\n")
	d := restarted(t, config)
	seen, c := busy(t, d)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Execute(t.Context(), sandboxd.Program{Source: storm})
		ended <- err
	}()
	var list sandboxd.ApprovalList
	daemon.Eventually(t, patience, func() error {
		if err := json.Unmarshal(says(t, d.Admin, `{"jsonrpc":"2.0","id":1,"method":"approvals/list"}`), &list); err != nil || len(list.Approvals) < 32 {
			return fmt.Errorf("%d wait: %v", len(list.Approvals), err)
		}
		return nil
	})
	d.Signal(t, syscall.SIGKILL)
	<-d.Exited()
	<-ended
	next := restarted(t, config)
	later, _ := busy(t, next)
	for _, q := range list.Approvals {
		if answer := string(says(t, next.Admin, `{"jsonrpc":"2.0","id":1,"method":"approvals/decide","params":{"id":"`+q.ID+`","approve":true,"scope":"run"}}`)); !strings.Contains(answer, "no call waits") {
			t.Errorf("an approval of what a dead daemon asked: %s", answer)
		}
	}
	s := readStory(t, file)
	if len(s.asked) != 32 || len(s.intents) > 0 || s.events["approval.answer"] > 0 || len(seen()) > 0 || len(later()) > 0 {
		t.Errorf("%d were asked for and %d answered; %d have intents; %d and %d were sent", len(s.asked), s.events["approval.answer"],
			len(s.intents), len(seen()), len(later()))
	}
	verified(t, file)
}

// TestDrainWhileAsking ends the daemon while calls wait for people. It waits for them as long as it waits for runs, and no longer.
func TestDrainWhileAsking(t *testing.T) {
	t.Parallel()
	file, config := logged(t, "unknown: ask\n")
	d := restarted(t, config+"drain: 1s\n")
	seen, c := busy(t, d)
	ended := make(chan *sandboxd.Result, 1)
	go func() {
		r, err := c.Execute(t.Context(), sandboxd.Program{Source: storm})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	daemon.Eventually(t, patience, func() error {
		if s := readStory(t, file); len(s.asked) < 32 {
			return fmt.Errorf("%d wait", len(s.asked))
		}
		return nil
	})
	d.Signal(t, syscall.SIGTERM)
	select {
	case <-d.Exited():
	case <-time.After(patience):
		t.Fatal("the daemon does not end")
	}
	if r := <-ended; r == nil || r.Outcome != sandboxd.OutcomeCancelled {
		t.Errorf("the run ended as %s", sprint(r))
	}
	s := readStory(t, file)
	if len(s.intents) > 0 || len(seen()) > 0 || s.events["run.end"] != 1 || s.events["daemon.stop"] != 1 || d.Exit() != 0 {
		t.Errorf("%d have intents, %d were sent; events %v; exit code %d", len(s.intents), len(seen()), s.events, d.Exit())
	}
	verified(t, file)
}

// TestHangUpsToTheEnd asks for a reload all the time while the daemon ends.
func TestHangUpsToTheEnd(t *testing.T) {
	t.Parallel()
	file, config := logged(t, "unknown: allow\n")
	for round := range 3 {
		d := restarted(t, config)
		d.Signal(t, syscall.SIGTERM)
		deadline := time.Now().Add(patience)
		for ended := false; !ended && time.Now().Before(deadline); {
			_ = syscall.Kill(d.PID, syscall.SIGHUP) // it may have ended just now
			select {
			case <-d.Exited():
				ended = true
			case <-time.After(200 * time.Microsecond):
			}
		}
		if s := readStory(t, file); d.Exit() != 0 || s.events["daemon.stop"] != round+1 {
			t.Errorf("exit code %d, events %v:\n%s", d.Exit(), s.events, d.Log())
		}
	}
	verified(t, file)
}

// says sends one line to a socket, and returns the result of the answer, or all of it if it has none.
func says(t *testing.T, socket, line string) json.RawMessage {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintln(conn, line)
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.NewDecoder(io.LimitReader(conn, 4<<20)).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Result == nil {
		return answer.Error
	}
	return answer.Result
}
