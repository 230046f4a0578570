package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/config"
)

// FuzzFile is any text as a configuration. What is accepted is within the bounds that docs/configuration.md names, and means the
// same when it is written down anew; what is refused is refused with the file's name and a line that it has.
func FuzzFile(f *testing.F) {
	text, err := os.ReadFile(packaged)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, text := range []string{
		"", "# nothing\n", "---\n...\n", "drain: 1h\nidle_exit: 24h\n", "runs: {at_once: 1000, per_caller: 1, queue: 100000, queue_wait: 100ms}\n",
		"gateways:\n  connections: 1\n  memory_bytes: 16777216\n  write_wait: 1ms\n", "callers: {uids: [0, root], gids: [4294967295]}\n",
		"pool: {default: 0, other: 512}\n", "isolation: {allow_missing: [landlock, rlimits]}\nlog: {level: debug}\n", "profiles: /x\n",
		"runs: &r {at_once: 1}\npool: *r\n", "<<: {drain: 1s}\n", "drain: 1s\ndrain: 1s\n", "runs:\n\tat_once: 1\n", "? [a]\n: b\n", "drain: !!int 1\n",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	reread := func(t *testing.T, text []byte) (config.Config, string, error) {
		path := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path)
		return c, path, err
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, path, err := reread(t, text)
		if err != nil {
			placed(t, path, 1+len(breaks.FindAll(text, -1)), err)
			return
		}
		bounded(t, c)
		again, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := reread(t, again)
		if diff := cmp.Diff(c, second, cmpopts.IgnoreUnexported(config.Config{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("written down anew it is refused, or another one: %v\n%s\n%s", err, again, diff)
		}
		second, _, err = reread(t, []byte(c.YAML()))
		if diff := cmp.Diff(c, second, cmpopts.IgnoreUnexported(config.Config{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("what is shown is refused, or another one: %v\n%s\n%s", err, c.YAML(), diff)
		}
	})
}

// breaks are what YAML 1.1 ends a line with.
var breaks = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// placed fails the test unless each line of an error begins with the file, and, if it names a line, one that there is.
func placed(t *testing.T, path string, lines int, err error) {
	t.Helper()
	rest, named := strings.CutPrefix(err.Error(), path+":")
	if !named {
		t.Fatalf("the error does not begin with the file: %v", err)
	}
	number, _, _ := strings.Cut(rest, ":")
	if n, err := strconv.Atoi(number); err == nil && (n < 1 || n > lines+1) {
		t.Errorf("line %d of %d: %v", n, lines, err)
	}
}

func bounded(t *testing.T, c config.Config) {
	t.Helper()
	in := func(key string, value, least, most int64) {
		if value < least || value > most {
			t.Errorf("%s %d was accepted", key, value)
		}
	}
	in("runs.at_once", int64(c.Runs.AtOnce), 1, 1000)
	in("runs.per_caller", int64(c.Runs.PerCaller), 1, 1000)
	in("runs.queue", int64(c.Runs.Queue), 0, 100_000)
	in("runs.queue_wait", int64(c.Runs.QueueWait), int64(100*time.Millisecond), int64(time.Hour))
	in("gateways.connections", int64(c.Gateways.Connections), 1, 10_000)
	in("gateways.memory_bytes", c.Gateways.Memory, 16<<20, 1<<40)
	in("gateways.write_wait", int64(c.Gateways.WriteWait), int64(time.Millisecond), int64(time.Hour))
	in("approvals.wait", int64(c.Approvals.Wait), int64(time.Second), int64(24*time.Hour))
	in("approvals.pending", int64(c.Approvals.Pending), 1, 10_000)
	in("approvals.per_caller", int64(c.Approvals.PerCaller), 1, 10_000)
	in("drain", int64(c.Drain), 0, int64(time.Hour))
	in("idle_exit", int64(c.IdleExit), 0, int64(24*time.Hour))
	for name, size := range c.Pool {
		in("pool."+name, int64(size), 0, 512)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		t.Errorf("the level %q was accepted", c.Log.Level)
	}
	allowed, err := c.Callers.Resolve()
	if err != nil || len(allowed.UIDs)+len(allowed.GIDs) == 0 {
		t.Errorf("nobody may call: %+v, %v", allowed, err)
	}
	if admins, err := c.Admins.Resolve(); err != nil || len(admins.UIDs)+len(admins.GIDs) == 0 {
		t.Errorf("nobody may administer: %+v, %v", admins, err)
	}
}
