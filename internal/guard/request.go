package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
)

const (
	maxAnswer      = 64 << 10 // a judge may not make us allocate more
	maxBatchAnswer = 1 << 20
)

// server is how a judge is reached.
type server struct {
	base        string
	key         string
	traceparent string // of what is asked for; empty: none
	transport   *http.Transport
}

// under is the same server, for what is asked for as a part of a trace.
func (r *server) under(traceparent string) *server {
	part := *r
	part.traceparent = traceparent
	return &part
}

// connect reads what the configuration names, and dials nothing.
func connect(c Config, at remote.Address, dial remote.Dialer) (*server, error) {
	r := &server{base: at.Base}
	if c.Key != "" {
		key, err := readKey(c.Key)
		if err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		r.key = key
	}
	var err error
	r.transport, err = remote.Transport(remote.Server{
		Address: at, CA: c.CA, Timeout: c.Timeout, AtOnce: c.AtOnce, MaxAnswer: maxBatchAnswer, Dial: dial,
	})
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	return r, nil
}

// failure is a request that brought no verdict on any check.
type failure struct {
	why       string // for people and programs: without an address
	detail    string // for operators
	health    health
	retry     bool
	after     time.Duration // the least time to wait before that
	status    int           // of the answer; 0: there was none
	cancelled bool
}

func (f *failure) Error() string { return f.why }

// post sends one request, and returns the body of an answer that is JSON with the status 200.
func (r *server) post(ctx context.Context, path string, body []byte, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{why: "the request could not be made", detail: err.Error()}
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "sandboxd")
	if r.key != "" {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	if r.traceparent != "" {
		request.Header.Set("Traceparent", r.traceparent)
	}
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return nil, broken(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		if 0 < response.ContentLength && response.ContentLength < 1<<10 {
			io.CopyN(io.Discard, response.Body, response.ContentLength) // keeps the connection for the next try
		}
		return nil, refused(response, time.Now())
	}
	if err := plainJSON(response.Header); err != nil {
		return nil, &failure{why: err.Error(), health: up}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, broken(err)
	}
	if int64(len(text)) > most {
		return nil, &failure{why: fmt.Sprintf("the answer is longer than %d bytes", most), health: up}
	}
	return text, nil
}

// alert is how crypto/tls marks what the other side refused, such as all of our versions.
const alert = "remote error"

// broken is an exchange that came to no end. It is tried again unless the other side is the wrong one.
func broken(err error) error {
	f := &failure{why: brief(err), detail: err.Error(), health: down, retry: true}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	if errors.As(err, &certificate) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, &op) && op.Op == alert {
		f.retry = false
	}
	return f
}

// brief says what went wrong without where: the text can reach a program.
func brief(err error) string {
	var name *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		return "the guard's name could not be looked up"
	case errors.As(err, &certificate):
		return "the guard's certificate is not to be trusted"
	case errors.As(err, &op) && op.Op == "dial":
		return "the guard could not be connected to: " + cause(op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer did"
	case errors.As(err, &op):
		return "the connection to the guard broke: " + cause(op.Err)
	}
	return "the exchange with the guard failed"
}

// cause is the system's own words, which name nothing.
func cause(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// refused is an answer with another status than 200. Its body is not told: it can repeat what was asked.
func refused(response *http.Response, now time.Time) error {
	f := &failure{
		why:    fmt.Sprintf("the guard answered %d %s", response.StatusCode, http.StatusText(response.StatusCode)),
		status: response.StatusCode, health: down,
	}
	switch code := response.StatusCode; {
	case code == http.StatusServiceUnavailable:
		f.retry, f.after = true, remote.RetryAfter(response.Header.Get("Retry-After"), now)
	case code/100 == 3:
		f.why += ": redirects are not followed"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		f.why += ": it does not take the key"
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		f.why += ": it does not speak this protocol at this address"
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
	case code/100 == 4, code == http.StatusInternalServerError:
		f.health = up // it can be about this check alone, and takes nobody's time
	}
	return f
}

func plainJSON(h http.Header) error {
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(parameters["charset"])
	switch {
	case err != nil || kind != "application/json":
		return fmt.Errorf("the answer's Content-Type is %q, and not application/json", printable(h.Get("Content-Type"), 60))
	case charset != "" && charset != "utf-8":
		return fmt.Errorf("the answer's charset is %q, and not utf-8", printable(charset, 60))
	case h.Get("Content-Encoding") != "":
		return fmt.Errorf("the answer has the Content-Encoding %q, which was not asked for", printable(h.Get("Content-Encoding"), 60))
	}
	return nil
}

func (r *server) redact(text string) string {
	if r.key == "" {
		return text
	}
	return strings.ReplaceAll(text, r.key, "(key)")
}
