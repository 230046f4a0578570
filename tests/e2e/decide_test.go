package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// policed is a daemon with a policy, and the file that it has it from.
func policed(t *testing.T, policy, more string) (*daemon.Daemon, string) {
	t.Helper()
	file := daemon.Policy(t, policy)
	return daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\npolicy: " + file + "\n" + more}), file
}

// TestRefusals: a program can catch what policy refuses, and knows what and why; a refusal that nobody catches ends it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, "deny: ['t.drop_*']\nunknown: allow\nlimits: {calls_per_run: 6, denied_per_run: 2}\n", "")
	g := connect(t, d, nil, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{Source: `
try { await tools.t.drop_all({}) } catch (e) { return [e instanceof ToolBlocked, e.name, e.tool, e.rule, e.reason] }`})
	want := `[true,"ToolBlocked","t.drop_all","deny","t.drop_all may never be called (deny: t.drop_*)"]`
	if string(r.Value) != want || len(g.asked(r.Run)) != 0 {
		t.Errorf("got %s, %v, want %s", r.Value, r.Error, want)
	}
	r = g.run(t, sandboxd.Program{Source: "await tools.t.echo({})\nawait tools.t.drop_all({})"})
	ending{outcome: "denied", message: "tools.t.drop_all was refused: t.drop_all may never be called", line: 2, frame: "drop_all", hint: "*"}.check(t, r)
	r = g.run(t, sandboxd.Program{Source: "for (;;) try { await tools.t.drop_all({}) } catch {}"})
	ending{outcome: "denied", message: "more than 2 tool calls were refused", hint: "*"}.check(t, r)
	if len(r.Calls) != 3 {
		t.Errorf("%d calls, want 3", len(r.Calls))
	}
	r = g.run(t, sandboxd.Program{Source: `
const all = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map(i => tools.t.echo({i})))
return all.map(x => x.reason?.rule ?? x.value.i)`})
	if string(r.Value) != `[1,2,3,4,5,6,"limits.calls_per_run"]` {
		t.Errorf("got %s, %v", r.Value, r.Error)
	}
}

// TestReload: a new policy is for new runs; one that can't be read changes nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	d, file := policed(t, "unknown: allow\n", "")
	inside, release := make(chan struct{}), make(chan struct{})
	g := connect(t, d, tools{"gate": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		close(inside)
		<-release
		return text("open"), nil
	}}, sandboxd.Options{})
	old := make(chan *sandboxd.Result, 1)
	go func() {
		r, err := g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.gate({}); await tools.t.echo({}); return 'as it began'"})
		if err != nil {
			t.Error(err)
		}
		old <- r
	}()
	wait(t, inside, "the first run's call")
	change := func(text, log string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := strings.Count(d.Log(), log)
		d.Signal(t, syscall.SIGHUP)
		daemon.Eventually(t, 10*time.Second, func() error {
			if strings.Count(d.Log(), log) == before {
				return errors.New("the log does not say: " + log)
			}
			return nil
		})
	}
	try := func() string {
		t.Helper()
		return g.value(t, "try { await tools.t.echo({}); return 'made' } catch (e) { return e.rule }")
	}
	change("version: 1\ndeny: ['t.*']\n", "msg=policy file=")
	if got := try(); got != `"deny"` {
		t.Errorf("after the reload: %s", got)
	}
	close(release)
	if r := <-old; string(r.Value) != `"as it began"` {
		t.Errorf("the run that had begun: %v", r.Error)
	}
	for _, broken := range []string{"version: 1\nunknwon: allow\n", "version: 2\n", ""} {
		change(broken, "not reloaded")
		if got := try(); got != `"deny"` {
			t.Errorf("after a policy that can't be read (%q): %s", broken, got)
		}
	}
	if !strings.Contains(d.Log(), file+":2") {
		t.Errorf("the log does not say where it is wrong:\n%s", d.Log())
	}
	change("version: 1\nunknown: allow\n", "msg=policy file=")
	if got := try(); got != `"made"` {
		t.Errorf("after it was mended: %s", got)
	}
}

// TestNoPolicyNoDaemon: a daemon does not serve without a policy that it can read.
func TestNoPolicyNoDaemon(t *testing.T) {
	t.Parallel()
	dir := daemon.Dir(t)
	startup(t, "policy: "+dir+"/none.yaml\n", "--listen", filepath.Join(dir, "s")).check(t, dir+"/none.yaml", "no such file", "name one in the configuration, policy: FILE")
	startup(t, "policy: "+dir+"\n", "--listen", filepath.Join(dir, "s")).check(t, dir, "has no *.yaml")
	file := daemon.Policy(t, "rules: [{name: x, tools: [t.*], action: alow}]\n")
	startup(t, "policy: "+file+"\n", "--listen", filepath.Join(dir, "s")).check(t, file+":2", `"alow": want allow, ask or deny`)
}

// TestQuotaOfRuns: a caller that starts too many programs is told when to come back.
func TestQuotaOfRuns(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, "unknown: allow\nlimits: {per_caller: {runs_per_minute: 3}}\n", "")
	g := connect(t, d, nil, sandboxd.Options{})
	for range 3 {
		g.serves(t)
	}
	r := g.run(t, sandboxd.Program{Source: "return 1"})
	ending{outcome: "busy", message: "3 programs a minute", hint: "later"}.check(t, r)
	if r.Error.RetryAfterMS < 1 || r.Error.RetryAfterMS > 20_001 {
		t.Errorf("retry_after_ms is %d", r.Error.RetryAfterMS)
	}
}

// TestGuardDown: calls that the guard should judge are refused, as nobody can approve them here; those that it need not are made.
func TestGuardDown(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, "unknown: allow\nrules: [{name: reads, tools: ['t.echo'], action: allow, guard: skip}]\n",
		"guard: {url: 'unix:///nowhere/guard.sock', timeout: 200ms, on_unavailable: block}\n")
	g := connect(t, d, nil, sandboxd.Options{})
	got := g.value(t, `await tools.t.echo({}); try { await tools.t.slow({MS: 1}) } catch (e) { return [e.rule, e.reason.split(':')[0]] }`)
	if got != `["guard","the guard was asked, and there is no verdict"]` {
		t.Errorf("got %s", got)
	}
}

// TestRedaction: a secret that passes where the policy watches is taken out, and passes where it does not.
func TestRedaction(t *testing.T) {
	t.Parallel()
	d, _ := policed(t, `unknown: allow
redact: [value, console, errors]
rules:
  - {name: out, tools: ["t.echo"], action: label, redact: [arguments]}
  - {name: in, tools: ["t.secret", "t.leak"], action: label, redact: [result]}
  - {name: small, tools: ["t.echo"], when: size(args.s) < 30, action: allow}
`, "")
	token := "gh" + "p_" + "Zx81kLmQ02vTr5yWn7Bd9CsEfGhJ3aPq4UoI" // in two, so that no scanner takes it for one that is out
	secret := func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return text("the token is " + token + "."), nil
	}
	g := connect(t, d, tools{
		"secret": secret, "open": secret,
		"leak": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("no entry for " + token)
		},
	}, sandboxd.Options{})

	r := g.run(t, sandboxd.Program{Source: "return (await tools.t.secret({})).includes('gh' + 'p_')"})
	if string(r.Value) != "false" || r.Calls[0].Redacted != 1 {
		t.Errorf("the program got the secret: %s, %v, %+v", r.Value, r.Error, r.Calls)
	}
	r = g.run(t, sandboxd.Program{Source: `
const s = await tools.t.open({})
console.log(s)
await tools.t.echo({s})
return [s, s.includes('gh' + 'p_')]`})
	if string(r.Value) != `["the token is [redacted: github-pat].",true]` {
		t.Errorf("value %s, %v", r.Value, r.Error)
	}
	if len(r.Console) != 1 || r.Console[0].Text != "the token is [redacted: github-pat]." {
		t.Errorf("console %v", r.Console)
	}
	calls := g.asked(r.Run)
	if len(calls) != 2 || string(calls[1].Arguments) != `{"s":"the token is [redacted: github-pat]."}` || r.Calls[1].Redacted != 1 {
		t.Errorf("sent: %+v, listed: %+v", calls, r.Calls)
	}
	r = g.run(t, sandboxd.Program{Source: "throw new Error(await tools.t.open({}))"})
	ending{outcome: "error", message: "the token is [redacted: github-pat].", line: 1}.check(t, r)
	r = g.run(t, sandboxd.Program{Source: "try { await tools.t.leak({}) } catch (e) { return e.message.includes('gh' + 'p_') }"})
	if string(r.Value) != "false" || !strings.Contains(r.Calls[0].Error, "[redacted: github-pat]") {
		t.Errorf("a failure gave %s, %+v", r.Value, r.Calls)
	}
}

// audited is where a daemon writes its log, and the configuration that says so.
func audited(t *testing.T) (file, config string) {
	t.Helper()
	dir := daemon.Dir(t)
	file = filepath.Join(dir, "audit.log")
	return file, "audit: {path: " + file + "}\n"
}

// lines are the events of a log, as EVENT:STATE of those that have one.
func lines(t *testing.T, file string) string {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for line := range bytes.Lines(all) {
		var e struct{ Event, State, Outcome string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		text += strings.TrimSuffix(e.Event+":"+e.State+e.Outcome, ":") + " "
	}
	return text
}

// verify has the log checked by who would check it.
func verify(t *testing.T, file string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(daemon.Binaries(t), "sandboxctl"), "audit", "--log", file, "verify").CombinedOutput()
	if err != nil {
		t.Errorf("sandboxctl audit verify: %v\n%s", err, out)
	}
}

func TestAuditOfARun(t *testing.T) {
	t.Parallel()
	file, config := audited(t)
	d, _ := policed(t, "deny: ['t.drop']\nunknown: allow\n", config)
	g := connect(t, d, tools{"secret": func(context.Context, json.RawMessage) (json.RawMessage, error) { return text("hunter2-hunter2"), nil }}, sandboxd.Options{})
	r := g.run(t, sandboxd.Program{
		Source: "const s = await tools.t.secret({}); await tools.t.echo({s}); try { await tools.t.drop({}) } catch {}",
		Intent: "show me the word hunter3-hunter3",
	})
	want := "audit.create daemon.start policy.load run.start call.intent call.outcome:succeeded call.intent call.outcome:succeeded " +
		"call.denied run.end:ok "
	if got := lines(t, file); got != want {
		t.Errorf("the log has\n%s, want\n%s", got, want)
	}
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "hunter3"} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("%s is in the log", secret)
		}
	}
	if !bytes.Contains(all, []byte(`"evidence":[{"argument":"s","call":1,"tool":"t.secret"`)) {
		t.Errorf("the log does not say what the second call carried:\n%s", all)
	}
	if !bytes.Contains(all, []byte(`"run":"`+r.Run+`"`)) {
		t.Error("the run is not in the log")
	}
	verify(t, file)
}

// TestKilledBetweenIntentAndOutcome: what a killed daemon sent, and had no answer to, is unknown after the next start.
func TestKilledBetweenIntentAndOutcome(t *testing.T) {
	t.Parallel()
	file, config := audited(t)
	d, policy := policed(t, "unknown: allow\n", config)
	inside := make(chan struct{})
	g := connect(t, d, tools{"gate": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		close(inside)
		<-ctx.Done()
		return nil, ctx.Err()
	}}, sandboxd.Options{})
	go g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.gate({})"})
	wait(t, inside, "the call at the gateway")
	d.Signal(t, syscall.SIGKILL)
	wait(t, d.Exited(), "the daemon's death")
	next := daemon.Start(t, daemon.Options{Config: "pool: {default: 1}\npolicy: " + policy + "\n" + config})
	if got := lines(t, file); !strings.HasPrefix(got, "audit.create daemon.start policy.load run.start call.intent ") ||
		!strings.Contains(got, "call.outcome:unknown ") {
		t.Errorf("the log has %s", got)
	}
	connect(t, next, nil, sandboxd.Options{}).serves(t)
	verify(t, file)
}

// TestDiskFull: when nothing can be written, nothing is done, and when it can, all is as before. A limit on the size of files stands for
// a full disk, as everybody can set one.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	file, config := audited(t)
	d, _ := policed(t, "unknown: allow\n", config)
	g := connect(t, d, nil, sandboxd.Options{})
	inside, release := make(chan struct{}), make(chan struct{})
	other := connect(t, d, tools{"gate": func(context.Context, json.RawMessage) (json.RawMessage, error) {
		close(inside)
		<-release
		return text("open"), nil
	}}, sandboxd.Options{})
	running := make(chan *sandboxd.Result, 1)
	go func() {
		r, err := other.Execute(t.Context(), sandboxd.Program{
			Source: "await tools.t.gate({}); try { await tools.t.echo({}) } catch (e) { return [e.rule, e.reason] }",
		})
		if err != nil {
			t.Error(err)
		}
		running <- r
	}()
	wait(t, inside, "a run's first call")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t, d.PID, uint64(info.Size()))
	close(release)
	r := <-running
	if !strings.HasPrefix(string(r.Value), `["audit","the call can't be recorded, and so is not made: the daemon's log says why"]`) || len(other.asked(r.Run)) != 1 {
		t.Errorf("a run with a full disk gave %s, %v; %d calls reached the gateway", r.Value, r.Error, len(other.asked(r.Run)))
	}
	r, err = g.Execute(t.Context(), sandboxd.Program{Source: "return 1"})
	if err != nil {
		t.Fatal(err)
	}
	ending{outcome: "internal", message: "can't be recorded", hint: "audit log"}.check(t, r)
	limitFiles(t, d.PID, ^uint64(0))
	daemon.Eventually(t, 20*time.Second, func() error { // the log tries again after a pause
		r, err := g.Execute(t.Context(), sandboxd.Program{Source: "await tools.t.echo({}); return 1"})
		if err != nil || r.Outcome != sandboxd.OutcomeOK {
			return fmt.Errorf("after there is room: %v, %v", r.Error, err)
		}
		return nil
	})
	if got := lines(t, file); !strings.Contains(got, "audit.recovered") {
		t.Errorf("the log does not tell of the pause: %s", got)
	}
	verify(t, file)
}

// limitFiles bounds the size of files that a process may write (prlimit(2)).
func limitFiles(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("prlimit: %v", errno)
	}
}
