package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/guard"
)

// TestStatusTellsWhatFails: administrators see the policy, a guard whose breaker is open and the log, gateways none of
// that, and the service manager's line what fails.
func TestStatusTellsWhatFails(t *testing.T) {
	s := asking(t)
	admin := administrator(t, s.administered(t))
	_, gateway := s.gateway(t, nil)

	c := guard.Default()
	c.URL, c.Timeout = "unix://"+filepath.Join(t.TempDir(), "none.sock"), 50*time.Millisecond
	judge, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(judge.Close)
	a := audit.Default()
	a.Path = filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(a, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s.guard, s.audit = judge, log
	s.config.Audit.Path = a.Path

	var status sandboxd.StatusResult
	ask(t, admin, "status", struct{}{}, &status)
	if status.Deciding.Guard.Breaker != guard.Closed || status.Deciding.Audit.Failing != "" || status.Deciding.Policy.Hash != s.policy.Load().Hash() ||
		status.Deciding.Policy.File != s.config.Policy || time.Since(status.Deciding.Policy.Since) > time.Hour || strings.Contains(s.Line(), "guard") {
		t.Errorf("all is well: %+v; %s", status.Deciding, s.Line())
	}

	for range 3 {
		judge.Check(context.Background(), guard.Check{Run: "r", Tool: "s.t", Trigger: guard.UserRequest, Args: []byte("{}")})
	}
	ask(t, admin, "status", struct{}{}, &status)
	if g := status.Deciding.Guard; g.Breaker != guard.Open || g.Failures != 3 || g.Counts.Unavailable != 3 || g.NextTry.IsZero() ||
		g.Last == "" || !strings.Contains(s.Line(), "; the guard fails: ") {
		t.Errorf("the guard is down: %+v; %s", g, s.Line())
	}
	var theirs sandboxd.StatusResult
	ask(t, gateway, "status", struct{}{}, &theirs)
	if theirs.Deciding != nil || theirs.Serving != nil {
		t.Errorf("gateways are told %+v, %+v", theirs.Deciding, theirs.Serving)
	}
}
