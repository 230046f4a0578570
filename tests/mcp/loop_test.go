package mcp_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

func missing(got string, wants ...string) error {
	for _, want := range wants {
		if !strings.Contains(got, want) {
			return fmt.Errorf("got %s, want %q", got, want)
		}
	}
	return nil
}

// TestLoop: no program runs programs, whichever way its servers lead back here.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		loop  func(h *home, sandboxctl, inner string) object
		call  string
		wants []string
	}{
		{"itself", func(_ *home, sandboxctl, inner string) object {
			return object{"command": sandboxctl, "args": []string{"mcp", "--mcp", inner}}
		}, "execute_code", []string{"does not say at present which tools it has"}},
		{"itself, with another environment", func(_ *home, sandboxctl, inner string) object {
			return object{"command": "env", "args": []string{"-i", sandboxctl, "mcp", "--mcp", inner}}
		}, "execute_code", []string{"does not say at present which tools it has"}},
		{"behind a server that hands its tools on", func(h *home, sandboxctl, inner string) object {
			return h.fake("proxy", "PROXY_COMMAND="+sandboxctl, "PROXY_ARGS=mcp --mcp "+inner)
		}, "execute_code", []string{"does not say at present which tools it has"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			sandboxctl := filepath.Join(daemon.Binaries(t), "sandboxctl")
			config := filepath.Join(h.dir, "mcp.json") // which has itself in it
			h.config(object{"loop": c.loop(h, sandboxctl, config), "tracker": h.tracker()})
			s := h.connect(nil, "--mcp", config, "--policy", h.open())
			s.wants("return await tools.loop."+c.call+"({code: 'return 1'})", c.wants...)
			s.wants(top3, "[117,42,203]")
			if text, _ := s.call("search_tools", object{"query": "execute_code search_tools"}); !strings.HasPrefix(text, "No tool") {
				t.Errorf("it finds %s", text)
			}
			if n := strings.Count(s.stderr.String(), "started a private one"); n != 1 {
				t.Errorf("%d daemons", n)
			}
		})
	}
}

// TestElsewhere: sandboxctl mcp that is reached otherwise than as a process of ours is known by its name, its tools by what they carry,
// and its calls by what these do.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url, token := h.serve("--mcp", h.config(object{"tracker": h.tracker()}), "--policy", h.open())
	direct := object{"url": url, "headers": object{"Authorization": "Bearer " + token}}
	s := h.connect(nil, "--mcp", h.config(object{"loop": direct, "tracker": h.tracker()}), "--policy", h.open())
	s.wants("return await tools.loop.execute_code({code: 'return 1'})", "does not say at present which tools it has")
	s.wants(top3, "[117,42,203]")
	daemon.Eventually(t, 20*time.Second, func() error {
		return missing(s.stderr.String(), `server "loop": it is sandboxctl mcp, whose tools run programs`)
	})
	out, code := h.run("run", "--mcp", h.config(object{"loop": direct}), "/dev/null")
	if code != 1 || !strings.Contains(out, "a program can't run programs") {
		t.Errorf("run: %d, %s", code, out)
	}
	for _, strips := range []string{"", "yes"} {
		proxy := h.fake("urlproxy", "PROXY_URL="+url, "PROXY_TOKEN="+token, "PROXY_STRIPS="+strips)
		s := h.connect(nil, "--mcp", h.config(object{"loop": proxy}), "--policy", h.open())
		want := "no tool"
		if strips != "" {
			want = "execute_code can't be called from a program"
		}
		s.wants("return await tools.loop.execute_code({code: 'return 1'})", want)
		s.wants("return await tools.loop.target()", "hit")
	}
}
