package guard_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/tests/skip"
)

func TestConfig(t *testing.T) {
	pem := newAuthority(t).path
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(*guard.Config)
		want   string // of the error; empty: none
	}{
		{"https", func(c *guard.Config) { c.URL = "https://guard.example" }, ""},
		{"https with a path", func(c *guard.Config) { c.URL = "https://guard.example:8443/tenants/a%2Fb/" }, ""},
		{"loopback", func(c *guard.Config) { c.URL = "http://127.9.9.9:80" }, ""},
		{"loopback of IPv6", func(c *guard.Config) { c.URL = "http://[::1]:80/x" }, ""},
		{"a socket", func(c *guard.Config) { c.URL = "unix:///run/guard.sock" }, ""},
		{"a CA", func(c *guard.Config) { c.URL, c.CA = "https://10.0.0.1", pem }, ""},
		{"chat", func(c *guard.Config) { c.API, c.Model = "chat", "qwen3:8b" }, ""},

		{"no url", func(c *guard.Config) { c.URL = "" }, "url: is empty"},
		{"no scheme", func(c *guard.Config) { c.URL = "guard.example" }, "url: is neither https://, http:// nor unix://"},
		{"an opaque one", func(c *guard.Config) { c.URL = "https:guard.example" }, "url: is no URL"},
		{"another scheme", func(c *guard.Config) { c.URL = "ftp://guard.example" }, "url: is neither"},
		{"no host", func(c *guard.Config) { c.URL = "https:///x" }, "url: names no host"},
		{"a port alone", func(c *guard.Config) { c.URL = "https://:443" }, "url: names no host"},
		{"a port that is none", func(c *guard.Config) { c.URL = "https://h:65536" }, `url: has the port "65536"`},
		{"no URL", func(c *guard.Config) { c.URL = "https://user:hunter2@h:x/" }, "url: is no URL"},
		{"a password", func(c *guard.Config) { c.URL = "https://user:hunter2@h/" }, "url: has a user or a password"},
		{"a query", func(c *guard.Config) { c.URL = "https://h/?key=hunter2" }, "url: has a query"},
		{"an empty query", func(c *guard.Config) { c.URL = "https://h/?" }, "url: has a query"},
		{"a fragment", func(c *guard.Config) { c.URL = "https://h/#x" }, "url: has a query or a fragment"},
		{"in the clear", func(c *guard.Config) { c.URL = "http://guard.example" }, "url: is http:// to guard.example: without TLS only a loopback address"},
		{"in the clear, by number", func(c *guard.Config) { c.URL = "http://10.0.0.1:80" }, "without TLS only a loopback"},
		{"any address", func(c *guard.Config) { c.URL = "http://0.0.0.0:80" }, "without TLS only a loopback"},
		{"a name for loopback", func(c *guard.Config) { c.URL = "http://localhost:80" }, "written as a number"},
		{"the version twice", func(c *guard.Config) { c.URL = "https://h/v1/" }, "url: ends in /v1"},
		{"a relative socket", func(c *guard.Config) { c.URL = "unix://run/guard.sock" }, "url: is unix:// without an absolute path"},
		{"a socket without a path", func(c *guard.Config) { c.URL = "unix://" }, "url: is unix:// without an absolute path"},
		{"a socket with dots", func(c *guard.Config) { c.URL = "unix:///run/../guard.sock" }, "is not the plain path of a socket"},
		{"an abstract socket", func(c *guard.Config) { c.URL = "unix:///%00guard" }, "is not the plain path of a socket"},
		{"a long socket", func(c *guard.Config) { c.URL = "unix:///" + strings.Repeat("x", 107) }, "a path of 108 bytes"},

		{"api", func(c *guard.Config) { c.API = "openai" }, `api: "openai" is neither guard nor chat`},
		{"no model", func(c *guard.Config) { c.API = "chat" }, "model: is empty"},
		{"a model for nothing", func(c *guard.Config) { c.Model = "x" }, "model: is for api chat only"},
		{"a model nobody can see", func(c *guard.Config) { c.API, c.Model = "chat", "a\nb" }, "model: is longer than"},
		{"short", func(c *guard.Config) { c.Timeout = time.Millisecond }, "timeout: 1ms is not within 50ms and 30s"},
		{"long", func(c *guard.Config) { c.Timeout = time.Minute }, "timeout: 1m0s is not within"},
		{"allow", func(c *guard.Config) { c.OnUnavailable = "allow" }, `on_unavailable: "allow" is neither ask nor block`},
		{"nothing", func(c *guard.Config) { c.OnUnavailable = "" }, `on_unavailable: "" is neither`},
		{"none at once", func(c *guard.Config) { c.AtOnce = 0 }, "at_once: 0 is not within 1 and 256"},
		{"args", func(c *guard.Config) { c.ArgsBytes = 2 << 20 }, "args_bytes: 2097152 is not within"},
		{"a CA for nothing", func(c *guard.Config) { c.CA = pem }, "ca: is for an https:// url only"},
		{"no CA there", func(c *guard.Config) { c.URL, c.CA = "https://h", pem+"x" }, "ca: open"},
		{"an empty CA", func(c *guard.Config) { c.URL, c.CA = "https://h", empty }, "has no certificate in PEM"},
		{"a directory for a CA", func(c *guard.Config) { c.URL, c.CA = "https://h", filepath.Dir(pem) }, "is no regular file"},
		{"the zero value", func(c *guard.Config) { *c = guard.Config{} }, "api: "},
	} {
		c := guard.Default()
		c.URL = "http://127.0.0.1:8080"
		test.change(&c)
		g, err := guard.New(c)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: a secret is in %v", test.name, err)
		}
		if g != nil {
			g.Close()
		}
	}
}

// TestPaths is where requests go for a url with a path.
func TestPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(0, allow)}
		g := serve(t, j, func(c *guard.Config) { c.URL = "http://127.0.0.1:1/tenants/a/" })
		g.Check(t.Context(), call("r", "a.b"))
		if got := j.got()[0].path; got != "/tenants/a/v1/guard" {
			t.Error(got)
		}
	})
}

func TestKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(write("open", "hunter2", 0o644), link); err != nil {
		t.Fatal(err)
	}
	write("credential", "hunter2", 0o440) // as systemd has it where an ACL names the unit's user
	write("public", "hunter2", 0o444)
	for _, test := range []struct {
		name, key   string
		credentials string
		want        string // of the error; empty: none
	}{
		{"a file", write("file", "hunter2\n", 0o600), "", ""},
		{"read-only", write("read-only", "hunter2", 0o400), "", ""},
		{"from Windows", write("windows", "hunter2\r\n", 0o600), "", ""},
		{"a credential", "credential", dir, ""},

		{"none there", filepath.Join(dir, "none"), "", "no such file"},
		{"open to others", filepath.Join(dir, "open"), "", "has the mode 0644, so that others can read or change it: chmod 0600"},
		{"a link to one", link, "", "has the mode 0644"},
		{"open to a group", write("group", "hunter2", 0o640), "", "has the mode 0640"},
		{"a FIFO", fifo, "", "is no regular file"},
		{"a directory", dir, "", "is no regular file"},
		{"relative", "./file", "", "is a relative path"},
		{"no credentials", "file", "", "names no credential that there is: give the unit LoadCredential=file:FILE"},
		{"no such credential", "other", dir, "no such file"},
		{"a credential of everybody", "public", dir, "has the mode 0444"},
		{"the directory", ".", dir, "names no credential"},
		{"above it", "..", dir, "names no credential"},
		{"empty", write("empty", "\n", 0o600), "", "is empty"},
		{"two lines", write("two", "hunter2\nhunter3\n", 0o600), "", "more than one line"},
		{"spaces", write("spaces", "hunter 2", 0o600), "", "a space"},
		{"no ASCII", write("unicode", "hüter", 0o600), "", "not ASCII"},
		{"a header of its own", write("header", "x\r\nX-Other: hunter2", 0o600), "", "more than one line"},
		{"long", write("long", strings.Repeat("x", 4097), 0o600), "", "longer than 4096 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("CREDENTIALS_DIRECTORY", test.credentials)
			c := guard.Default()
			c.URL, c.Key = "unix:///run/guard.sock", test.key
			g, err := guard.New(c)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "key: ") || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			case err != nil && strings.Contains(err.Error(), "hunter"):
				t.Errorf("the key is in %v", err)
			}
			if g == nil {
				return
			}
			defer g.Close()
			if text := fmt.Sprintf("%v %+v %#v %+v", g, g, g, g.State()); strings.Contains(text, "hunter") {
				t.Errorf("the key is in what a log can print: %s", text)
			}
		})
	}
}

func TestKeyOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		skip.Because(t, "giving a file away takes CAP_CHOWN: %v", err)
	}
	c := guard.Default()
	c.URL, c.Key = "unix:///run/guard.sock", path
	if _, err := guard.New(c); err == nil || !strings.Contains(err.Error(), "belongs to user 12345: chown it") {
		t.Error(err)
	}
}

// TestReload takes a new key, or keeps the old one.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	synctest.Test(t, func(t *testing.T) {
		j := &judge{answer: says(0, allow)}
		g := serve(t, j, func(c *guard.Config) { c.Key = path })
		sent := func() string {
			g.Check(t.Context(), call("r", "a.b"))
			all := j.got()
			return all[len(all)-1].header.Get("Authorization")
		}
		if got := sent(); got != "Bearer first" {
			t.Error(got)
		}
		write("second")
		if got := sent(); got != "Bearer first" {
			t.Error(got)
		}
		if err := g.Reload(); err != nil {
			t.Fatal(err)
		}
		if got := sent(); got != "Bearer second" {
			t.Error(got)
		}
		// What opened the breaker may be what was mended.
		right := j.answer
		j.answer = status(401)
		for range 4 {
			sent()
		}
		if s := g.State(); s.Breaker != guard.Open {
			t.Fatalf("%+v", s)
		}
		j.answer = right
		if err := g.Reload(); err != nil {
			t.Fatal(err)
		}
		if a := g.Check(t.Context(), call("r", "a.b")); a.Verdict != guard.Allow {
			t.Errorf("%+v", a)
		}
		write("two words")
		if err := g.Reload(); err == nil || !strings.HasPrefix(err.Error(), "key: ") {
			t.Error(err)
		}
		if got := sent(); got != "Bearer second" {
			t.Error(got)
		}
	})
}

// TestKeyIsNotTold, not even by a judge that repeats it.
func TestKeyIsNotTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []func(http.ResponseWriter, asked){
		says(0, func(check, int) string { return `{"verdict":"block","reason":"Bearer hunter2 asked"}` }),
		says(0, func(check, int) string { return `{"verdict":"hunter2"}` }),
		says(0, func(check, int) string { return `{"verdict":"allow","reason":["hunter2"]}` }),
		func(w http.ResponseWriter, _ asked) { w.Header().Set("Content-Type", "hunter2") },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := serve(t, &judge{answer: answer}, func(c *guard.Config) { c.Key = path })
			a := g.Check(t.Context(), call("r", "a.b"))
			if text := fmt.Sprintf("%+v %+v", a, g.State()); strings.Contains(text, "hunter2") || !strings.Contains(text, "(key)") {
				t.Error(text)
			}
		})
	}
}
