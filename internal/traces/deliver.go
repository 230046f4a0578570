package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
)

const (
	maxAnswer  = 64 << 10 // a collector may not make us allocate more
	maxTries   = 5        // of a batch
	firstPause = time.Second
	longPause  = 30 * time.Second
	askedPause = 5 * time.Minute // the longest that a collector may ask for
)

// failure is a request that the collector did not take whole.
type failure struct {
	why   string
	retry bool
	after time.Duration // the least time to wait before that
}

func (f *failure) Error() string { return f.why }

// deliver sends a batch until the collector has it, or it can't be helped; when ctx has ended it tries once. It counts what became of it.
func (t *Traces) deliver(ctx, sending context.Context, batch []*Span) {
	spans := uint64(len(batch))
	body, err := t.request(batch)
	if err != nil {
		t.failed.Add(spans)
		t.tell(err)
		return
	}
	for n := 1; ; n++ {
		lost, err := t.post(sending, body)
		f := (*failure)(nil)
		if !errors.As(err, &f) {
			lost = min(lost, spans)
			t.exported.Add(spans - lost)
			t.rejected.Add(lost)
			t.tell(err)
			return
		}
		t.tell(err)
		if !f.retry || n == maxTries || ctx.Err() != nil {
			t.failed.Add(spans)
			return
		}
		select {
		case <-time.After(max(backoff(n), min(f.after, askedPause))):
		case <-ctx.Done(): // there is one more try
		}
	}
}

// backoff is the pause after the n-th try: twice as long each time, and half of it by chance, so that daemons that failed together don't come
// back together.
func backoff(n int) time.Duration {
	d := min(firstPause<<(n-1), longPause)
	return d/2 + rand.N(d/2)
}

// tell logs when batches begin to get lost, and when they get through again: not each of them.
func (t *Traces) tell(err error) {
	switch {
	case err != nil && !t.failing:
		t.log.Warn("spans get lost", "error", err)
	case err == nil && t.failing:
		t.log.Info("spans reach the collector again")
	}
	t.failing = err != nil
}

// rejection is a request that was taken, but for some of its spans.
type rejection struct{ why string }

func (r rejection) Error() string { return r.why }

// post sends one request. Of one that was taken it says how many of its spans were not, with a rejection; one that was not is a *failure.
func (t *Traces) post(ctx context.Context, body []byte) (lost uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return 0, &failure{why: err.Error()}
	}
	for name, values := range t.headers {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "sandboxd/"+t.version)
	}
	response, err := t.transport.RoundTrip(request)
	if err != nil {
		return 0, &failure{why: err.Error(), retry: true}
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // the status says it already
	if response.StatusCode/100 != 2 {
		return 0, refused(response, time.Now())
	}
	n, why := rejected(text)
	if n == 0 {
		return 0, nil
	}
	return uint64(n), rejection{fmt.Sprintf("the collector rejected %d spans of a batch: %.200q", n, hide(why, t.headers))}
}

// refused is an answer with another status than one of success. Its body is not told: it can repeat what was sent.
func refused(response *http.Response, now time.Time) error {
	f := &failure{why: fmt.Sprintf("the collector answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))}
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		f.retry, f.after = true, remote.RetryAfter(response.Header.Get("Retry-After"), now) // those alone, says OTLP
	case code/100 == 3:
		f.why += ": redirects are not followed"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		f.why += ": it does not take the headers"
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		f.why += ": it takes no traces at this path"
	case code == http.StatusUnsupportedMediaType:
		f.why += ": it does not take JSON"
	}
	return f
}
