package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd"
)

// TestStatusRows: what fails has a line of its own, and nothing else has.
func TestStatusRows(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	well := sandboxd.StatusResult{
		Version: "1.0", Running: 2, Pool: []sandboxd.PoolStatus{{Profile: "default", Size: 8, Ready: 7}},
		Deciding: &sandboxd.Deciding{
			Approvals: 1,
			Policy:    sandboxd.PolicyStatus{File: "/p.yaml", Hash: "sha256:ab", Rules: 3, Since: now.Add(-90 * time.Second)},
			Guard:     &sandboxd.GuardStatus{By: "unix:///g", Breaker: "closed", Counts: sandboxd.GuardCounts{Checks: 6, Allow: 3, Ask: 2, Block: 1}},
			Audit:     &sandboxd.AuditStatus{File: "/a.log", Events: 9},
		},
	}
	ill := well
	ill.Pool = []sandboxd.PoolStatus{{Profile: "default", Size: 8, Failing: "no memory"}}
	ill.Deciding = &sandboxd.Deciding{
		Policy: well.Deciding.Policy,
		Guard:  &sandboxd.GuardStatus{By: "unix:///g", Breaker: "open", Failures: 4, Since: now.Add(-time.Minute), Last: "no such file"},
		Audit:  &sandboxd.AuditStatus{File: "/a.log", Failing: "no space left on device", Refused: 5},
	}
	ill.Deciding.Policy.Failing = "/p.yaml:3: x\n/p.yaml:4: y"
	bare := well
	bare.Deciding = &sandboxd.Deciding{Policy: well.Deciding.Policy}
	for _, c := range []struct {
		name    string
		status  sandboxd.StatusResult
		rows    string // of them, those about guard and audit
		failing []row
	}{
		{"well", well, "unix:///g: breaker closed; 6 checks: allow 3, ask 2, block 1, unavailable 0, given up 0|/a.log: 9 events; refused 0, not in the journal 0", nil},
		{"ill", ill, "unix:///g: breaker open; 0 checks: allow 0, ask 0, block 0, unavailable 0, given up 0|/a.log: 0 events; refused 5, not in the journal 0", []row{
			{"failing", "workers of default are not born: no memory"},
			{"failing", "the policy was not read again, and the old one is in force: /p.yaml:3: x"},
			{"failing", "the policy was not read again, and the old one is in force: /p.yaml:4: y"},
			{"failing", "the guard, 4 times in a row within 1m0s, last with: no such file"},
			{"failing", "the audit log, and so every call is refused: no space left on device"},
		}},
		{"neither guard nor log", bare, "none|none: nothing is recorded", nil},
	} {
		rows, failing := statusRows(c.status, now)
		if diff := cmp.Diff(c.failing, failing); diff != "" {
			t.Errorf("%s: failing (-want +got):\n%s", c.name, diff)
		}
		var all []string
		for _, r := range rows {
			all = append(all, r[1])
		}
		if got := strings.Join(all[len(all)-2:], "|"); got != c.rows {
			t.Errorf("%s: %s", c.name, got)
		}
		if want := "/p.yaml: 3 rules and flows, in force for 1m30s, sha256:ab"; all[len(all)-3] != want {
			t.Errorf("%s: policy %s", c.name, all[len(all)-3])
		}
	}
}
