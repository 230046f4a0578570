package audit_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/audit"
)

// sample is a log of format 1 as it was written once: it stays readable.
func sample(t testing.TB) ([]byte, audit.Hash) {
	t.Helper()
	text, err := os.ReadFile("testdata/sample.log")
	if err != nil {
		t.Fatal(err)
	}
	report, err := verifyText(t, place(t), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text, report.Head
}

// verifyText verifies a text as the one file of a log, with a head if there is one.
func verifyText(t testing.TB, dir string, text []byte, head *audit.Hash) (audit.Report, error) {
	t.Helper()
	path := filepath.Join(dir, "audit.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := audit.NewReader(path)
	defer r.Close()
	return audit.Verify(t.Context(), r, head, 0)
}

// TestAnyChangeIsFound: each byte changed, each line dropped, repeated, swapped or moved, and each cut.
func TestAnyChangeIsFound(t *testing.T) {
	text, head := sample(t)
	dir := memory(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	found := func(what string, changed []byte) {
		t.Helper()
		if _, err := verifyText(t, dir, changed, &head); err == nil {
			t.Errorf("%s is not found", what)
		}
	}
	if report, err := verifyText(t, dir, text, &head); err != nil || report.After != 0 {
		t.Fatal(report, err)
	}
	for i := range text {
		changed := slices.Clone(text)
		changed[i] ^= []byte{1, 0x20, 0x80}[i%3]
		if _, err := verifyText(t, dir, changed, nil); err == nil { // the last line too
			t.Errorf("byte %d changed from %q to %q is not found", i, text[i], changed[i])
		}
		if i%3 == 0 { // all of them take long
			found(fmt.Sprintf("cut after %d bytes", i), text[:i])
			found(fmt.Sprintf("byte %d dropped", i), slices.Delete(changed, i, i+1))
		}
	}
	for i := range lines {
		found(fmt.Sprintf("line %d dropped", i+1), bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		for j := range lines {
			found(fmt.Sprintf("line %d repeated at %d", i+1, j+1), bytes.Join(slices.Insert(slices.Clone(lines), j, lines[i]), nil))
			if i != j {
				swapped := slices.Clone(lines)
				swapped[i], swapped[j] = swapped[j], swapped[i]
				found(fmt.Sprintf("lines %d and %d swapped", i+1, j+1), bytes.Join(swapped, nil))
			}
		}
	}
	// With a new hash for the changed line, the next one does not continue it; of the last one only the head tells.
	for i, line := range lines {
		changed := slices.Clone(lines)
		changed[i] = rehashed(bytes.Replace(line, []byte(`20`), []byte(`19`), 1))
		found(fmt.Sprintf("line %d changed with its hash", i+1), bytes.Join(changed, nil))
		if _, err := verifyText(t, dir, bytes.Join(changed, nil), nil); (err == nil) != (i == len(lines)-1) {
			t.Errorf("line %d changed with its hash, and no head: %v", i+1, err)
		}
	}
	// What a chain alone can't show: its end, cut off at a line.
	cut := bytes.Join(lines[:len(lines)-1], nil)
	if _, err := verifyText(t, dir, cut, nil); err != nil {
		t.Errorf("a shorter log: %v; docs/audit.md says that it is not found without a head", err)
	}
	grown, err := verifyText(t, dir, text, ptr(hashOf(t, lines[2])))
	if err != nil || grown.After != 3 {
		t.Errorf("a head that the log has gone on from: %+v, %v", grown, err)
	}
}

func ptr[T any](v T) *T { return &v }

// rehashed is a line with the hash that it would have.
func rehashed(line []byte) []byte {
	body := line[:len(line)-len(`,"hash":""}`)-65]
	return fmt.Appendf(nil, "%s,\"hash\":\"%x\"}\n", body, sha256.Sum256(body))
}

// hashOf is the hash that a line ends with.
func hashOf(t *testing.T, line []byte) audit.Hash {
	t.Helper()
	h, err := audit.ParseHash(string(line[len(line)-67 : len(line)-3]))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestBrokenSaysWhere(t *testing.T) {
	text, _ := sample(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, tt := range []struct {
		name string
		text []byte
		line int
		want string
	}{
		{"changed", bytes.Replace(text, []byte(`"decision":"allow"`), []byte(`"decision":"askme"`), 1), 3, "it was changed"},
		{"dropped", bytes.Join(slices.Delete(slices.Clone(lines), 2, 3), nil), 3, "it is number 4, and should be 3"},
		{"torn", text[:len(text)-9], 6, "it ends after"},
		{"empty line", bytes.Join(slices.Insert(slices.Clone(lines), 1, []byte("\n")), nil), 2, "it has not the form of a line"},
		{"long line", append(slices.Clone(text), bytes.Repeat([]byte("x"), 3<<20)...), 7, "it is longer than"},
		{"no first line", bytes.Join(lines[1:], nil), 1, "it is not the first line of a file"},
		{"empty", nil, 1, "there is no line"},
	} {
		if tt.name == "long line" {
			tt.text = append(tt.text, '\n')
		}
		var broken *audit.BrokenError
		_, err := verifyText(t, place(t), tt.text, nil)
		if !errors.As(err, &broken) || broken.Line != tt.line || !strings.Contains(broken.Why, tt.want) {
			t.Errorf("%s: %v; want line %d, %q", tt.name, err, tt.line, tt.want)
		}
	}
}

// grown is a log of several files.
func grown(t *testing.T, c audit.Config, files int) []string {
	t.Helper()
	l := open(t, c)
	add(t, l, audit.DaemonStart{})
	var all []string
	for n := 0; len(all) < files; n++ {
		add(t, l, intent("r", n, "read"), outcome("r", n))
		if n%50 == 0 {
			all, _ = audit.Files(c.Path)
		}
	}
	add(t, l, audit.DaemonStop{})
	closeLog(t, l)
	return all
}

// TestRotation: the chain goes on across files, and a file that is missing, moved or shortened is found.
func TestRotation(t *testing.T) {
	c := small(place(t))
	grown(t, c, 5)
	files, err := audit.Files(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	report := verified(t, c)
	if report.Files != len(files) || len(report.Notes) != 0 {
		t.Errorf("%d files, %+v", len(files), report)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Size() > c.MaxBytes+audit.MaxLine || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	for i, file := range files {
		aside := file + ".aside"
		if err := os.Rename(file, aside); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(c); err == nil {
			t.Errorf("file %d is gone, and verify does not find it", i)
		}
		text, err := os.ReadFile(aside)
		if err != nil {
			t.Fatal(err)
		}
		shorter := text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1]
		if err := os.WriteFile(file, shorter, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(c); (err == nil) != (i == len(files)-1) { // a chain does not show its own end
			t.Errorf("file %d has lost its last line, and verify says %v", i, err)
		}
		if err := os.Rename(aside, file); err != nil {
			t.Fatal(err)
		}
	}
	verified(t, c)
}

// TestKeep: the oldest files go, the log says so, and verify believes it for those alone.
func TestKeep(t *testing.T) {
	for name, keep := range map[string]audit.Keep{"files": {Files: 2}, "bytes": {Bytes: 200 << 10}} {
		t.Run(name, func(t *testing.T) {
			c := small(place(t))
			c.Keep = keep
			l := open(t, c)
			for n := range 2000 {
				add(t, l, intent("r", n, "read"))
			}
			closeLog(t, l)
			files, err := audit.Files(c.Path)
			if err != nil || len(files) < 3 || len(files) > 4 {
				t.Fatalf("%v, %v", files, err)
			}
			report := verified(t, c)
			if report.First == 1 || !strings.Contains(fmt.Sprint(report.Notes), "the daemon deleted ") {
				t.Errorf("%+v", report)
			}
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
			var broken *audit.BrokenError
			if _, err := verify(c); !errors.As(err, &broken) || !strings.Contains(broken.Why, "does not say that the daemon deleted") {
				t.Errorf("somebody else deleted a file: %v", err)
			}
		})
	}
}

func TestAge(t *testing.T) {
	c := config(place(t))
	c.MaxAge = time.Minute
	l := open(t, c)
	add(t, l, outcome("r", 1))
	l.Older(2 * time.Minute)
	add(t, l, outcome("r", 2))
	closeLog(t, l)
	if files, err := audit.Files(c.Path); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	if e := last(t, c, audit.KindRotate); e["reason"] != "age" {
		t.Errorf("%v", e)
	}
	verified(t, c)
}

// TestKeyGone: with another key a new file is begun, which names it.
func TestKeyGone(t *testing.T) {
	c := config(place(t))
	closeLog(t, open(t, c))
	if err := os.Remove(audit.KeyPath(c.Path)); err != nil {
		t.Fatal(err)
	}
	closeLog(t, open(t, c))
	if e := last(t, c, audit.KindRotate); e["reason"] != "another key" {
		t.Errorf("%v", e)
	}
	verified(t, c)
}

// TestUnclean: a start that follows no stop is told by verify.
func TestUnclean(t *testing.T) {
	c := config(place(t))
	l := open(t, c)
	add(t, l, audit.DaemonStart{}, audit.DaemonStart{})
	closeLog(t, l)
	if r := verified(t, c); len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Text, "was killed") {
		t.Errorf("%+v", r.Notes)
	}
}

// TestFollow: a reader goes on where lines are added, across rotations and while files are deleted behind it.
func TestFollow(t *testing.T) {
	c := small(place(t))
	c.Keep.Files = 3
	l := open(t, c)
	r := audit.NewReader(c.Path)
	defer r.Close()
	next := uint64(1)
	for n := range 1500 {
		add(t, l, intent("r", n, "read"))
		for {
			record, err := r.Next()
			if err != nil {
				break
			}
			if record.Seq != next {
				t.Fatalf("line %d after %d", record.Seq, next-1)
			}
			next++
		}
	}
	if next < 1500 {
		t.Errorf("only %d lines were read", next)
	}
	closeLog(t, l)
}

// FuzzVerify: any bytes are read without a fault, and accepted only if they are lines of the log that they were made from.
func FuzzVerify(f *testing.F) {
	text, _ := sample(f)
	f.Add(text, 0)
	f.Add(text[:len(text)-5], 100)
	f.Add([]byte("{}\n"), 3)
	f.Add([]byte(nil), 700)
	dir := memory(f)
	f.Fuzz(func(t *testing.T, noise []byte, at int) {
		at = max(0, at) % len(text)
		changed := append(append(slices.Clone(text[:at]), noise...), text[min(len(text), at+len(noise)):]...)
		for _, left := range [][]byte{changed, noise} {
			if _, err := verifyText(t, dir, left, nil); err == nil && !bytes.HasPrefix(text, left) {
				t.Errorf("accepted %q", left)
			}
		}
	})
}

// FuzzOpen: whatever a crash leaves at the end of a log is mended, so that it verifies and has lost no whole line, or refused.
func FuzzOpen(f *testing.F) {
	text, _ := sample(f)
	f.Add([]byte(nil), 0)
	f.Add([]byte("{\"seq\":7,\"ti"), len(text))
	f.Add(make([]byte, 4096), len(text)-1)
	f.Add([]byte("\n\n"), 5)
	c := config(memory(f))
	c.Sync = audit.SyncNone
	f.Fuzz(func(t *testing.T, noise []byte, at int) {
		files, err := audit.Files(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		whole := text[:max(0, at)%(len(text)+1)]
		if err := os.WriteFile(c.Path, append(slices.Clone(whole), noise...), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := audit.Open(c, audit.Options{})
		if err != nil {
			return
		}
		defer l.Close()
		_, err = verify(c)
		var broken *audit.BrokenError
		if err != nil && !(errors.As(err, &broken) && bytes.Contains(noise, []byte(`,"hash":"`))) { // whole lines among the noise: damage
			t.Errorf("%q is mended, and then: %v", noise, err)
		}
		if got := strings.Join(events(t, c), "\n"); err == nil && strings.Count(string(whole), "\n") > 2 && !strings.Contains(got, "call.intent r 1") {
			t.Errorf("a whole line is gone: %s", got)
		}
	})
}

// memory is a directory in memory, where there is one: it takes thousands of files and fsyncs a second.
func memory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sandboxd-audit-")
	if err != nil {
		return place(t)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
