package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/tests/skip"
)

func TestAppendAndVerify(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	add(t, l, audit.DaemonStart{Version: "1"}, intent("r", 1), outcome("r", 1), audit.RunEnd{Run: "r", Outcome: "ok"}, audit.DaemonStop{})
	closeLog(t, l)
	want := []string{"audit.create", "daemon.start", "call.intent", "call.outcome", "run.end", "daemon.stop"}
	if diff := cmp.Diff(want, kinds(t, c)); diff != "" {
		t.Error(diff)
	}
	report := verified(t, c)
	if report.Lines != 6 || report.First != 1 || report.Last != 6 || len(report.Notes) != 0 {
		t.Errorf("%+v", report)
	}
	if err := l.Append(t.Context(), outcome("r", 2)); err == nil {
		t.Error("a closed log took an event")
	}
	l = open(t, c)
	add(t, l, audit.DaemonStart{Version: "1"})
	closeLog(t, l)
	if report := verified(t, c); report.Last != 7 || len(report.Notes) != 0 {
		t.Errorf("after a new start: %+v", report)
	}
}

// TestDurable: with sync mutations, what may change something is on disk when Append returns, and reads cost no fsync.
func TestDurable(t *testing.T) {
	for _, tt := range []struct {
		sync  string
		event audit.Event
		want  int64
	}{
		{audit.SyncMutations, intent("r", 1), 1},
		{audit.SyncMutations, intent("r", 1, "write"), 1},
		{audit.SyncMutations, intent("r", 1, "read"), 0},
		{audit.SyncMutations, intent("r", 1, "read", "untrusted"), 0},
		{audit.SyncMutations, intent("r", 1, "read", "write"), 1},
		{audit.SyncMutations, outcome("r", 1), 0},
		{audit.SyncMutations, audit.RunStart{Run: "r"}, 0},
		{audit.SyncMutations, audit.PolicyLoad{}, 1},
		{audit.SyncMutations, audit.ApprovalAnswer{}, 1},
		{audit.SyncAll, outcome("r", 1), 1},
		{audit.SyncAll, intent("r", 1, "read"), 1},
		{audit.SyncNone, intent("r", 1), 0},
	} {
		c := config(place(t))
		c.Sync = tt.sync
		l := open(t, c)
		before := l.Stats().Syncs
		add(t, l, tt.event)
		if got := l.Stats().Syncs - before; got != tt.want {
			t.Errorf("%s, %T: %d fsyncs, want %d", tt.sync, tt.event, got, tt.want)
		}
		closeLog(t, l)
	}
}

// TestGroupCommit: appends that come while an fsync is under way share the next one.
func TestGroupCommit(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	enter, leave := make(chan struct{}, 10), make(chan struct{})
	l.FailSync(func(f *os.File) error {
		enter <- struct{}{}
		<-leave
		return audit.Sync(f)
	})
	var all sync.WaitGroup
	all.Go(func() { add(t, l, intent("r", 0)) })
	<-enter
	const n = 100
	for i := range n {
		all.Go(func() { add(t, l, intent("r", i+1)) })
	}
	for deadline := time.Now().Add(10 * time.Second); l.Waiting() < n+1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	before := l.Stats().Syncs
	close(leave)
	all.Wait()
	if got := l.Stats().Syncs - before; got != 1 {
		t.Errorf("%d fsyncs for %d events that waited together, want 1", got, n)
	}
	closeLog(t, l)
	if r := verified(t, c); r.Lines != n+2 {
		t.Errorf("%d lines", r.Lines)
	}
}

// TestEndsComeLast: who does not wait for an intent, as its run has ended, and then says so, finds both in the log in this order. Else
// the call would be open for ever.
func TestEndsComeLast(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	enter, leave := make(chan struct{}, 10), make(chan struct{})
	l.FailSync(func(f *os.File) error {
		enter <- struct{}{}
		<-leave
		return audit.Sync(f)
	})
	var all sync.WaitGroup
	all.Go(func() { add(t, l, intent("other", 1)) })
	<-enter
	ctx, cancel := context.WithCancel(t.Context())
	waiting := 1
	later := func(ctx context.Context, e audit.Event) {
		waiting++
		all.Go(func() { l.Append(ctx, e) })
		for deadline := time.Now().Add(10 * time.Second); l.Waiting() < waiting && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
	later(ctx, intent("r", 1))
	later(ctx, intent("r", 2, "read"))
	later(ctx, audit.ApprovalAnswer{Run: "r", N: 3, Answer: "approved"})
	cancel()
	for _, e := range []audit.Event{outcome("r", 1), outcome("r", 2), audit.RunEnd{Run: "r"}, outcome("s", 1)} {
		later(t.Context(), e)
	}
	close(leave)
	all.Wait()
	closeLog(t, l)
	want := []string{
		"audit.create", "call.intent other 1", "call.intent r 2", "call.outcome r 2 succeeded", "call.outcome s 1 succeeded",
		"call.intent r 1", "approval.answer r 3", "call.outcome r 1 succeeded", "run.end r",
	}
	if diff := cmp.Diff(want, trimmed(events(t, c))); diff != "" {
		t.Error(diff)
	}
	l = open(t, c) // and none is unknown at the next start, but the other's
	closeLog(t, l)
	if got := trimmed(events(t, c))[len(want):]; !slices.Equal(got, []string{"call.outcome other 1 unknown"}) {
		t.Errorf("at the next start: %q", got)
	}
}

func trimmed(events []string) (out []string) {
	for _, e := range events {
		out = append(out, strings.TrimSpace(strings.ReplaceAll(e, " 0", "")))
	}
	return out
}

// TestContext: a disk that hangs holds nobody longer than it may wait.
func TestContext(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	release := make(chan struct{})
	l.FailSync(func(f *os.File) error { <-release; return audit.Sync(f) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.Append(ctx, intent("r", 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an append while the disk hangs: %v", err)
	}
	var all sync.WaitGroup
	for i := range 2 * audit.MaxWaiting { // more than may wait
		all.Go(func() {
			if err := l.Append(ctx, intent("r", i)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("an append while the disk hangs: %v", err)
			}
		})
	}
	all.Wait()
	if n := l.Waiting(); n > audit.MaxWaiting {
		t.Errorf("%d events wait, more than %d", n, audit.MaxWaiting)
	}
	close(release)
	add(t, l, outcome("r", 1))
	closeLog(t, l)
	verified(t, c)
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, dir string) error
		want string
	}{
		{"symbolic link", func(t *testing.T, dir string) error { return os.Symlink("/dev/null", dir+"/audit.log") }, "symbolic link"},
		{"directory", func(t *testing.T, dir string) error { return os.Mkdir(dir+"/audit.log", 0o700) }, "directory"},
		{"fifo", func(t *testing.T, dir string) error { return syscall.Mkfifo(dir+"/audit.log", 0o600) }, "no regular file"},
		{"others may read", func(t *testing.T, dir string) error { return os.WriteFile(dir+"/audit.log", nil, 0o604) }, "chmod 600"},
		{"group may write", func(t *testing.T, dir string) error {
			return errors.Join(os.WriteFile(dir+"/audit.log", nil, 0o600), os.Chmod(dir+"/audit.log", 0o660))
		}, "chmod 600"},
		{"two names", func(t *testing.T, dir string) error {
			return errors.Join(os.WriteFile(dir+"/audit.log", nil, 0o600), os.Link(dir+"/audit.log", dir+"/other"))
		}, "2 names"},
		{"somebody else's", func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				skip.Because(t, "only root can give a file away")
			}
			return errors.Join(os.WriteFile(dir+"/audit.log", nil, 0o600), os.Chown(dir+"/audit.log", 1234, -1))
		}, "user 1234's"},
		{"no log", func(t *testing.T, dir string) error {
			return os.WriteFile(dir+"/audit.log", []byte("root:x:0:0\n"), 0o600)
		}, "no audit log"},
		{"open directory", func(t *testing.T, dir string) error { return os.Chmod(dir, 0o777) }, "others may write to the directory"},
		{"no directory", func(t *testing.T, dir string) error { return os.Remove(dir) }, "no such file"},
		{"the key is a link", func(t *testing.T, dir string) error { return os.Symlink("/dev/null", dir+"/audit.key") }, "symbolic link"},
		{"the key is for others", func(t *testing.T, dir string) error { return os.WriteFile(dir+"/audit.key", nil, 0o640) }, "others may read the key"},
		{"the key is none", func(t *testing.T, dir string) error { return os.WriteFile(dir+"/audit.key", []byte("00ff\n"), 0o600) }, "no key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := place(t)
			if err := tt.make(t, dir); err != nil {
				t.Fatal(err)
			}
			var before []byte // a fifo would hold us up
			info, err := os.Lstat(dir + "/audit.log")
			isFile := err == nil && info.Mode().IsRegular()
			if isFile {
				before, _ = os.ReadFile(dir + "/audit.log")
			}
			_, err = audit.Open(config(dir), audit.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one with %q", err, tt.want)
			}
			if !isFile {
				return
			}
			if after, _ := os.ReadFile(dir + "/audit.log"); string(after) != string(before) {
				t.Errorf("what was there is now %q", after)
			}
		})
	}
}

// TestLocked: two daemons can't write one log, nor two of a process.
func TestLocked(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	if _, err := audit.Open(c, audit.Options{}); err == nil || !strings.Contains(err.Error(), "another daemon writes this log") {
		t.Errorf("a second one in the process: %v", err)
	}
	out, err := child(t, "open", filepath.Dir(c.Path)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another daemon writes this log") {
		t.Errorf("a second process: %v, %s", err, out)
	}
	closeLog(t, l)
	if out, err := child(t, "open", filepath.Dir(c.Path)).CombinedOutput(); err != nil {
		t.Errorf("after the first was closed: %v, %s", err, out)
	}
}

func openOnce(dir string) {
	l, err := audit.Open(config(dir), audit.Options{})
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	l.Close()
}

func TestModes(t *testing.T) {
	c := config(place(t))
	closeLog(t, open(t, c))
	for _, name := range []string{"audit.log", "audit.key"} {
		info, err := os.Stat(filepath.Join(filepath.Dir(c.Path), name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if os.Geteuid() != 0 {
		skip.Because(t, "only root can give a file to any group")
	}
	c.Group = "1234"
	closeLog(t, open(t, c))
	info, err := os.Stat(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode() != 0o640 || gid != 1234 {
		t.Errorf("with a group: mode %v, group %d", info.Mode(), gid)
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, change := range map[string]func(*audit.Config){
		`audit.path: ""`:            func(c *audit.Config) { c.Path = "" },
		`audit.path: "audit.log"`:   func(c *audit.Config) { c.Path = "audit.log" },
		`audit.path: "/a/../b.log"`: func(c *audit.Config) { c.Path = "/a/../b.log" },
		`audit.path: "/"`:           func(c *audit.Config) { c.Path = "/" },
		`audit.sync: "some"`:        func(c *audit.Config) { c.Sync = "some" },
		`audit.payloads: "all"`:     func(c *audit.Config) { c.Payloads = "all" },
		`audit.max_bytes: 1 `:       func(c *audit.Config) { c.MaxBytes = 1 },
		`audit.max_age: 1s`:         func(c *audit.Config) { c.MaxAge = time.Second },
		`audit.keep.files: -1`:      func(c *audit.Config) { c.Keep.Files = -1 },
		`audit.keep.bytes: -1`:      func(c *audit.Config) { c.Keep.Bytes = -1 },
		`audit.keep.age: -1ns`:      func(c *audit.Config) { c.Keep.Age = -1 },
		`audit.payloads: redacted`:  func(c *audit.Config) { c.Payloads = audit.PayloadsRedacted },
		`audit.group: `:             func(c *audit.Config) { c.Group = "no-group-of-that-name" },
	} {
		c := config(place(t))
		change(&c)
		if _, err := audit.Open(c, audit.Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want one that begins with %q", err, want)
		}
	}
}

// TestPayloads: what is in a call is found by who has the key and the bytes, and not in the log.
func TestPayloads(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	secret := []byte(`{"password":"hunter2"}`)
	p := l.Payload(secret)
	if p.Bytes != int64(len(secret)) || p.Text != "" || p == audit.Plain(secret) {
		t.Errorf("%+v", p)
	}
	key, err := audit.ReadKey(c.Path)
	if err != nil || audit.Digest(key, secret) != p.Hash {
		t.Errorf("the digest is not %s, error %v", p.Hash, err)
	}
	closeLog(t, l)
	c.Payloads = audit.PayloadsRedacted
	l, err = audit.Open(c, audit.Options{Redact: func(raw []byte) []byte {
		return []byte(strings.Replace(string(raw), "hunter2", "[password]", 1))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if again := l.Payload(secret); again.Hash != p.Hash || again.Text != `{"password":"[password]"}` {
		t.Errorf("%+v", again)
	}
}

// TestOdd: whatever a name or a reason has in it, a line is one line of JSON in which each character can be seen.
func TestOdd(t *testing.T) {
	odd := "a\x00b\nc\x1b[31m\u202edcba\u2066\u200b\xff\xfe\U000e0041\u2028\"\\</script>\x7f\u0085\ufeff é 漢 🙂"
	c := config(place(t))
	l := open(t, c)
	e := intent("r", 1)
	e.Tool, e.Reason, e.Labels = odd, odd, []string{odd}
	add(t, l, e)
	closeLog(t, l)
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 2 {
		t.Errorf("%d lines", n)
	}
	for _, r := range string(text) {
		if r != '\n' && (r < ' ' || r == 0x7f || strings.ContainsRune("\u202e\u2066\u200b\U000e0041\u2028\u0085\ufeff\ufffd", r)) {
			t.Errorf("the file has %U", r)
		}
	}
	var back audit.CallIntent
	line := text[strings.IndexByte(string(text), '\n'):]
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(strings.ReplaceAll(odd, "\xff", "\ufffd"), "\xfe", "\ufffd")
	if back.Tool != want || back.Reason != want || back.Labels[0] != want {
		t.Errorf("it reads back as %q, want %q", back.Tool, want)
	}
	verified(t, c)
}

// TestBounds fills each string and list of each event, and the line still has a bound.
func TestBounds(t *testing.T) {
	for _, e := range allEvents {
		own := strings.HasPrefix(reflect.TypeOf(e).Name(), strings.ToLower(reflect.TypeOf(e).Name()[:1]))
		v := reflect.New(reflect.TypeOf(e)).Elem()
		text := strings.Repeat("\x01", 1<<20)
		if own { // their other strings are names that this package makes
			text = strings.Repeat("\x01", 200)
		}
		fill(v, text)
		fields, err := audit.Encode(v.Interface().(audit.Event))
		if err != nil {
			t.Errorf("%T: %v", e, err)
			continue
		}
		if len(fields) > audit.MaxLine-1024 {
			t.Errorf("%T: %d bytes", e, len(fields))
		}
		if !own && !strings.Contains(string(fields), "… (cut from 1048576 bytes)") {
			t.Errorf("%T: a cut is not told", e)
		}
	}
}

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 100, 100))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	}
}

// TestCallerKeepsItsEvent: cutting does not reach what the caller still has.
func TestCallerKeepsItsEvent(t *testing.T) {
	e := intent("r", 1, strings.Repeat("x", 1000))
	e.Guard = &audit.Verdict{Verdict: strings.Repeat("y", 1000)}
	e.Evidence = []audit.Evidence{{Tool: strings.Repeat("z", 1000)}}
	if _, err := audit.Encode(e); err != nil {
		t.Fatal(err)
	}
	if len(e.Labels[0]) != 1000 || len(e.Guard.Verdict) != 1000 || len(e.Evidence[0].Tool) != 1000 {
		t.Error("the caller's event was cut")
	}
}

func TestJournal(t *testing.T) {
	c := config(place(t))
	type sent struct {
		message string
		fields  map[string]string
	}
	got := make(chan sent, 10)
	block := make(chan struct{})
	l, err := audit.Open(c, audit.Options{Journal: func(message string, fields map[string]string) error {
		<-block
		got <- sent{message, fields}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	e := intent("r", 1)
	e.Guard = &audit.Verdict{Verdict: "allow"}
	e.Tool = "re\nfund"
	add(t, l, e) // though the journal hangs
	close(block)
	if s := <-got; s.fields["SANDBOXD_EVENT"] != "audit.create" || s.fields["SANDBOXD_SEQ"] != "1" {
		t.Errorf("%+v", s)
	}
	s := <-got
	report := verified(t, c)
	delete(s.fields, "SANDBOXD_TIME")
	want := map[string]string{
		"SANDBOXD_EVENT": "call.intent", "SANDBOXD_SEQ": "2", "SANDBOXD_HASH": report.Head.String(),
		"SANDBOXD_RUN": "r", "SANDBOXD_CALL": "1", "SANDBOXD_TOOL": "pay.re\ufffdfund",
		"SANDBOXD_DECISION": "allow", "SANDBOXD_RULE": "small refunds", "SANDBOXD_VERDICT": "allow",
	}
	if diff := cmp.Diff(want, s.fields); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(s.message, "audit: call.intent run=r call=1 tool=pay.re\ufffdfund decision=allow") {
		t.Errorf("message %q", s.message)
	}
	stop()
	running.Wait()
	for range 1100 { // nobody takes them now: appends go on, and the loss is counted
		add(t, l, intent("r", 2, "read"))
	}
	if n := l.Stats().Dropped; n != 1100-1024 {
		t.Errorf("%d dropped", n)
	}
	closeLog(t, l)
}

// TestSynced: how long an fsync takes is told, of one that fails too.
func TestSynced(t *testing.T) {
	var told []time.Duration
	l, err := audit.Open(config(place(t)), audit.Options{Synced: func(took time.Duration) { told = append(told, took) }})
	if err != nil {
		t.Fatal(err)
	}
	before, syncs := len(told), l.Stats().Syncs
	add(t, l, intent("r", 1), outcome("r", 1))
	if n := len(told) - before; int64(n) != l.Stats().Syncs-syncs || n != 1 {
		t.Errorf("%d were told, of %d", n, l.Stats().Syncs-syncs)
	}
	closeLog(t, l)
	for _, took := range told {
		if took <= 0 {
			t.Errorf("one took %v", took)
		}
	}
}
