package guard

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

const (
	maxBatch      = 64      // the protocol's
	maxBatchBytes = 1 << 20 // of checks in one request
	noBatchFor    = 10 * time.Minute
)

// native is the guard's own protocol.
type native struct {
	alone expiry // the server has no batches
}

// errNoBatch says that each check must go out alone.
var errNoBatch = errors.New("the guard takes no batches")

func (n *native) together() int {
	if n.alone.holds() {
		return 1
	}
	return maxBatch
}

func (n *native) ask(ctx context.Context, r *server, checks [][]byte) ([]ruling, error) {
	if len(checks) == 1 {
		text, err := r.post(ctx, "/v1/guard", checks[0], maxAnswer)
		if err != nil {
			return nil, err
		}
		return []ruling{readVerdict(text)}, nil
	}
	body := slices.Concat([]byte(`{"checks":[`), bytes.Join(checks, []byte(",")), []byte(`]}`))
	text, err := r.post(ctx, "/v1/guard/batch", body, maxBatchAnswer)
	if f := (*failure)(nil); errors.As(err, &f) && (f.status == http.StatusNotFound || f.status == http.StatusMethodNotAllowed) {
		n.alone.set(noBatchFor)
		return nil, errNoBatch
	}
	if err != nil {
		return nil, err
	}
	rulings, err := readBatch(text, len(checks))
	if err != nil {
		return nil, &failure{why: err.Error(), health: up}
	}
	return rulings, nil
}

// expiry is a fact that is remembered for a while.
type expiry struct{ until atomic.Pointer[time.Time] }

func (e *expiry) set(d time.Duration) {
	until := time.Now().Add(d)
	e.until.Store(&until)
}

func (e *expiry) holds() bool {
	until := e.until.Load()
	return until != nil && time.Now().Before(*until)
}
