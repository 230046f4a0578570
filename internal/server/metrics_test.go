package server

import (
	"context"
	"errors"
	"testing"

	"github.com/sandboxd/sandboxd/internal/approval"
)

// TestApprovalsAreCounted: each way in which a call can get an answer, or none, has a word.
func TestApprovalsAreCounted(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	somebody := &approval.Peer{UID: 7}
	for _, c := range []struct {
		want   string
		ctx    context.Context
		answer approval.Answer
		asked  bool
		err    error
	}{
		{"approved", t.Context(), approval.Answer{ID: "a", Approved: true, Peer: somebody}, true, nil},
		{"denied", t.Context(), approval.Answer{ID: "a", Peer: somebody}, true, nil},
		{"expired", t.Context(), approval.Answer{ID: "a"}, true, nil},
		{"granted", t.Context(), approval.Answer{ID: "a", Approved: true, Peer: somebody}, false, nil},
		{"granted", t.Context(), approval.Answer{ID: "a", Peer: somebody}, false, nil},
		{"full", t.Context(), approval.Answer{By: "sandboxd"}, false, nil},
		{"failed", t.Context(), approval.Answer{}, true, errors.New("not recorded")},
		{"run_ended", ended, approval.Answer{}, true, context.Canceled},
	} {
		if got := got(c.ctx, c.answer, c.asked, c.err); got != c.want {
			t.Errorf("%+v: %s, want %s", c.answer, got, c.want)
		}
	}
}
