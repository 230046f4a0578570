package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// small is a configuration that rotates every few hundred events.
func small(dir string) audit.Config {
	c := config(dir)
	c.MaxBytes = 64 << 10
	return c
}

// hammer appends until it is killed, and says each event that was acknowledged.
func hammer(dir string) {
	l, err := audit.Open(small(dir), audit.Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	pid := os.Getpid()
	for worker := range 8 {
		go func() {
			for n := 1; ; n++ {
				run := fmt.Sprintf("%d-%d", pid, worker)
				var e audit.Event = intent(run, n)
				if n%2 == 0 {
					e = intent(run, n, "read")
				}
				if err := l.Append(context.Background(), e); err != nil {
					fmt.Println("error", err)
					return
				}
				os.Stdout.WriteString(fmt.Sprintf("%s %d\n", run, n)) // one write: no other comes between
				if n%3 == 0 {
					l.Append(context.Background(), outcome(run, n))
				}
			}
		}()
	}
	select {}
}

// TestKilled kills a process at random moments, between appends, writes and the steps of rotations: every event that was
// acknowledged is there, the chain holds, and each call without an outcome is said to be unknown.
func TestKilled(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	c := small(place(t))
	acknowledged := map[string]bool{}
	for range rounds {
		p := child(t, "hammer", filepath.Dir(c.Path))
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for first := true; lines.Scan(); first = false {
			if first {
				time.AfterFunc(time.Duration(rand.IntN(150_000))*time.Microsecond, func() { p.Process.Kill() })
			}
			if strings.HasPrefix(lines.Text(), "error") {
				t.Fatal(lines.Text())
			}
			acknowledged[lines.Text()] = true
		}
		p.Wait()
	}
	closeLog(t, open(t, c)) // mends what the last kill left
	verified(t, c)
	intents, open := map[string]bool{}, map[string]bool{}
	unknown := 0
	for _, e := range events(t, c) {
		f := strings.Fields(e)
		switch f[0] {
		case audit.KindCallIntent:
			intents[f[1]+" "+f[2]], open[f[1]+" "+f[2]] = true, true
		case audit.KindCallOutcome:
			delete(open, f[1]+" "+f[2])
			if f[3] == "unknown" {
				unknown++
			}
		}
	}
	for e := range acknowledged {
		if !intents[e] {
			t.Errorf("%s was acknowledged, and is not in the log", e)
		}
	}
	if files, _ := audit.Files(c.Path); len(acknowledged) < 100*rounds/25 || unknown == 0 || len(files) < 2 {
		t.Errorf("%d acknowledged, %d unknown, %d files: this test tests little", len(acknowledged), unknown, len(files))
	}
	if len(open) > 0 {
		t.Errorf("%d calls have no outcome, of %d", len(open), len(intents))
	}
	t.Logf("%d acknowledged, %d unknown", len(acknowledged), unknown)
}

// TestCarried: a call that has been open for many files gets its outcome too, once.
func TestCarried(t *testing.T) {
	c := small(place(t))
	l := open(t, c)
	add(t, l, intent(`lo"ng`, 1), intent("done", 1))
	for n, files := 0, []string(nil); len(files) < 5; n++ {
		add(t, l, intent("r", n, "read"), outcome("r", n))
		files, _ = audit.Files(c.Path)
		if len(files) == 3 {
			add(t, l, outcome("done", 1))
		}
	}
	closeLog(t, l) // as a kill: that writes no outcome
	for range 2 {
		closeLog(t, open(t, c))
		var got []string
		for _, e := range events(t, c) {
			if strings.HasSuffix(e, " unknown") {
				got = append(got, e)
			}
		}
		if diff := cmp.Diff([]string{`call.outcome lo"ng 1 unknown`}, got); diff != "" {
			t.Error(diff)
		}
	}
	if calls := last(t, c, audit.KindOpen)["calls"]; len(calls.([]any)) == 0 || calls.([]any)[0] != `lo"ng/1` {
		t.Errorf("the newest file begins with %v", calls)
	}
	verified(t, c)
}

// TestTorn: a part of a line at the end is cut, kept aside, and told.
func TestTorn(t *testing.T) {
	for name, torn := range map[string]string{
		"part of a line": `{"seq":4,"time":"2026`, "one byte": `{`, "zeros": strings.Repeat("\x00", 4096),
		"zeros and a break": "\x00\x00\n", "noise": "\xff\xfe\n\n\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			c := config(place(t))
			l := open(t, c)
			add(t, l, audit.DaemonStart{}, intent("r", 1), intent("r", 2), outcome("r", 2))
			closeLog(t, l)
			appendTo(t, c.Path, torn)
			if _, err := verify(c); err == nil {
				t.Error("verify accepts a torn line")
			}
			l = open(t, c)
			closeLog(t, l)
			want := []string{"audit.create", "daemon.start", "call.intent r 1", "call.intent r 2", "call.outcome r 2 succeeded",
				"audit.repair", "call.outcome r 1 unknown"}
			got := events(t, c)
			for i := range got {
				got[i] = strings.TrimSuffix(got[i], "  0")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			report := verified(t, c)
			if len(report.Notes) != 1 || !strings.Contains(report.Notes[0].Text, fmt.Sprintf("%d bytes", len(torn))) {
				t.Errorf("notes: %+v", report.Notes)
			}
			repair := last(t, c, audit.KindRepair)
			kept, err := os.ReadFile(filepath.Join(filepath.Dir(c.Path), repair["kept"].(string)))
			if err != nil || string(kept) != torn || "sha256:"+repair["sha256"].(string) != audit.Plain([]byte(torn)).Hash {
				t.Errorf("kept %q, %v; the log says %v", kept, err, repair)
			}
			closeLog(t, open(t, c))
			if again := events(t, c); len(again) != len(want) {
				t.Errorf("another start adds %v", again[len(want):])
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestTornFirst: a crash while a file was begun, new or by a rotation.
func TestTornFirst(t *testing.T) {
	c := config(place(t))
	if err := os.WriteFile(c.Path, []byte(`{"seq":1,"ti`), 0o600); err != nil {
		t.Fatal(err)
	}
	closeLog(t, open(t, c))
	if diff := cmp.Diff([]string{"audit.create", "audit.repair"}, kinds(t, c)); diff != "" {
		t.Error(diff)
	}
	verified(t, c)

	c = small(place(t))
	l := open(t, c)
	for files := []string(nil); len(files) < 2; files, _ = audit.Files(c.Path) {
		add(t, l, audit.RunEnd{Run: "r"})
	}
	closeLog(t, l)
	for _, left := range []string{"", `{"seq":`} {
		if err := os.WriteFile(c.Path, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		closeLog(t, open(t, c))
		verified(t, c)
	}
	if err := os.Remove(c.Path); err != nil { // between the steps
		t.Fatal(err)
	}
	closeLog(t, open(t, c))
	verified(t, c)
}

// TestDamage: whole lines after ones that are not are no crash's work. They stay where they are, for verify to find.
func TestDamage(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	add(t, l, audit.DaemonStart{}, outcome("r", 1), outcome("r", 2), outcome("r", 3))
	closeLog(t, l)
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte(`"n":2`), []byte(`"n":7`), 1)
	if err := os.WriteFile(c.Path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, c)
	add(t, l, outcome("r", 4))
	closeLog(t, l)
	files, err := audit.Files(c.Path)
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	if left, _ := os.ReadFile(files[0]); !bytes.Equal(left, changed) {
		t.Error("the damaged file is not as it was found")
	}
	var broken *audit.BrokenError
	if _, err := verify(c); !errors.As(err, &broken) || broken.Line != 4 || broken.File != files[0] {
		t.Errorf("verify says %v", err)
	}
	r, err := audit.NewFileReader(files[1])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	report, err := audit.Verify(t.Context(), r, nil, 0)
	if err != nil || report.First != 6 || len(report.Notes) != 2 {
		t.Errorf("the new file: %+v, %v", report, err)
	}
}

// disk is a directory of a small file system, in a mount namespace of the child's own.
func disk(t *testing.T) *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		skip.Because(t, "only root can mount a small tmpfs")
	}
	return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
}

// TestDiskFull: calls are refused while there is no room, and go on when there is.
func TestDiskFull(t *testing.T) {
	p := child(t, "full", place(t))
	p.SysProcAttr = disk(t)
	if out, err := p.CombinedOutput(); err != nil || string(out) != "ok\n" {
		if strings.Contains(string(out), "operation not permitted") {
			skip.Because(t, "no mount here: %s", out)
		}
		t.Errorf("%v\n%s", err, out)
	}
}

func fillDisk(dir string) {
	must(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	must(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=0700"))
	c := small(dir)
	l, err := audit.Open(c, audit.Options{})
	must(err)
	ballast := filepath.Join(dir, "ballast")
	must(os.WriteFile(ballast, make([]byte, 128<<10), 0o600))
	survives(l, c, syscall.ENOSPC, func() { must(os.Remove(ballast)) })
	must(l.Close())
	fmt.Println("ok")
}

// TestFileLimit: RLIMIT_FSIZE, which anybody can have, with SIGXFSZ.
func TestFileLimit(t *testing.T) {
	if out, err := child(t, "limited", place(t)).CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func hitLimit(dir string) {
	c := config(dir)
	l, err := audit.Open(c, audit.Options{})
	must(err)
	var before syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_001, Max: before.Max}))
	survives(l, c, syscall.EFBIG, func() { must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) })
	must(l.Close())
	fmt.Println("ok")
}

// survives appends until that fails, checks what is refused, makes room, and checks that the log goes on.
func survives(l *audit.Log, c audit.Config, want error, makeRoom func()) {
	acknowledged := 0
	var failed error
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for n := 1; ; n++ {
				err := l.Append(context.Background(), intent(fmt.Sprint("w", worker), n))
				mu.Lock()
				if err != nil {
					failed = err
					mu.Unlock()
					return
				}
				acknowledged++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if !errors.Is(failed, want) || !errors.Is(l.Failure(), want) {
		must(fmt.Errorf("refused with %v, failure %v; want %v", failed, l.Failure(), want))
	}
	check := func() []string { // between failures too, all that was acknowledged is there, and nothing else
		r := audit.NewReader(c.Path)
		defer r.Close()
		var got []string
		for {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				must(r.Torn())
				return got
			}
			must(err)
			got = append(got, record.Kind)
		}
	}
	count := func() (n int) {
		for _, kind := range check() {
			if kind == audit.KindCallIntent {
				n++
			}
		}
		return n
	}
	if n := count(); n != acknowledged {
		must(fmt.Errorf("%d intents in the log, %d were acknowledged", n, acknowledged))
	}
	refused := 0 // a short line may find room where several did not
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline) || refused < 3; time.Sleep(20 * time.Millisecond) {
		switch err := l.Append(context.Background(), intent("x", 1)); {
		case err == nil:
			acknowledged++
			refused = 0
		case errors.Is(err, want):
			refused++
		default:
			must(err)
		}
	}
	makeRoom()
	deadline := time.Now().Add(30 * time.Second)
	for l.Append(context.Background(), intent("y", 1)) != nil {
		if time.Now().After(deadline) {
			must(fmt.Errorf("it does not recover: %w", l.Failure()))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := count(); n != acknowledged+1 || l.Failure() != nil {
		must(fmt.Errorf("%d intents in the log, %d were acknowledged; failure %w", n, acknowledged+1, l.Failure()))
	}
	if told := strings.Join(check(), " "); !strings.Contains(told, audit.KindRecovered) {
		must(errors.New("it does not tell that it recovered"))
	}
	if _, err := verify(c); err != nil {
		must(err)
	}
}

func must(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// TestFailedSync: what an fsync could not write is not trusted to be there.
func TestFailedSync(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	add(t, l, outcome("r", 1), outcome("r", 2)) // acknowledged, and not synced
	var bad sync.Mutex
	failing := true
	l.FailSync(func(f *os.File) error {
		bad.Lock()
		defer bad.Unlock()
		if failing {
			return syscall.EIO
		}
		return audit.Sync(f)
	})
	if err := l.Append(t.Context(), intent("r", 3)); !errors.Is(err, syscall.EIO) {
		t.Errorf("a failed fsync: %v", err)
	}
	if err := l.Append(t.Context(), outcome("r", 4)); !errors.Is(err, syscall.EIO) {
		t.Errorf("an event that needs no fsync, after a failed one: %v", err)
	}
	bad.Lock()
	failing = false
	bad.Unlock()
	for deadline := time.Now().Add(20 * time.Second); l.Append(t.Context(), intent("r", 5)) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not recover")
		}
	}
	closeLog(t, l)
	want := []string{"audit.create  0", "call.outcome r 1 succeeded", "call.outcome r 2 succeeded", "audit.recovered  0", "call.intent r 5"}
	if diff := cmp.Diff(want, events(t, c)); diff != "" {
		t.Error(diff)
	}
	report := verified(t, c)
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0].Text, "input/output error") {
		t.Errorf("%+v", report.Notes)
	}
}

// TestRotationFails: whichever fsync of a rotation fails, the log goes on afterwards, and the chain holds.
func TestRotationFails(t *testing.T) {
	for failing := range 5 {
		t.Run(fmt.Sprint("fsync ", failing+1), func(t *testing.T) {
			c := config(place(t))
			c.Keep.Files = 1
			l := open(t, c)
			add(t, l, intent("r", 1))
			l.Older(48 * time.Hour)
			add(t, l, intent("r", 2)) // in the second file
			l.Older(48 * time.Hour)
			n := 0
			l.FailSync(func(f *os.File) error {
				if n++; n == failing+1 {
					return syscall.EIO
				}
				return audit.Sync(f)
			})
			err := l.Append(t.Context(), intent("r", 3)) // a rotation, and the first file is deleted
			if failed := n > failing; failed != (err != nil) {
				t.Errorf("%d fsyncs, error %v", n, err)
			}
			for deadline := time.Now().Add(20 * time.Second); l.Append(t.Context(), intent("r", 4)) != nil; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("it does not recover: %v", l.Failure())
				}
			}
			closeLog(t, l)
			closeLog(t, open(t, c))
			verified(t, c)
			got := strings.Join(events(t, c), "\n")
			if strings.Contains(got, "call.intent r 3") != (err == nil) || !strings.Contains(got, "call.intent r 4") {
				t.Errorf("the third was answered with %v, and the log has\n%s", err, got)
			}
		})
	}
}

// TestLost: after a failed fsync, the file has not what was acknowledged. That is not mended in silence.
func TestLost(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	add(t, l, outcome("r", 1), outcome("r", 2))
	once := true
	l.FailSync(func(f *os.File) error {
		if once {
			once = false
			text, err := os.ReadFile(c.Path)
			if err != nil {
				t.Error(err)
			}
			at := bytes.Index(text, []byte(`"n":2`))
			f2, _ := os.OpenFile(c.Path, os.O_WRONLY, 0)
			f2.WriteAt(make([]byte, 40), int64(at)) // as a page that was dropped
			f2.Close()
			return syscall.EIO
		}
		return audit.Sync(f)
	})
	if err := l.Append(t.Context(), intent("r", 3)); err == nil {
		t.Error("it was acknowledged")
	}
	for deadline := time.Now().Add(20 * time.Second); l.Append(t.Context(), intent("r", 4)) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not recover")
		}
	}
	closeLog(t, l)
	var broken *audit.BrokenError
	if _, err := verify(c); !errors.As(err, &broken) || broken.Line != 3 {
		t.Errorf("verify says %v", err)
	}
	text, err := os.ReadFile(c.Path)
	if err != nil || !strings.Contains(string(text), "after a failed fsync the file has lines to number 2; 3 were acknowledged") {
		t.Errorf("it is not told: %s, %v", text, err)
	}
}
