package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/common/expfmt"
	"golang.org/x/net/netutil"
)

// Bounds of what is served: a scraper asks every few seconds, on one connection.
const (
	maxConnections = 8
	maxHeader      = 8 << 10 // bytes of a request
	readWait       = 5 * time.Second
	writeWait      = 10 * time.Second
	idleWait       = 10 * time.Second // who comes back later makes a new connection, and keeps nobody out until then
)

// Serve answers GET /metrics until ctx ends, and nothing else. It closes the listener.
func (m *Metrics) Serve(ctx context.Context, l net.Listener, state func() State, log *slog.Logger) error {
	_, local := l.Addr().(*net.TCPAddr)
	s := http.Server{
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.answer(w, r, local, state) }),
		ReadTimeout: readWait, WriteTimeout: writeWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { s.Close(); close(ended) })
	err := s.Serve(netutil.LimitListener(l, maxConnections))
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve metrics: %w", err)
}

func (m *Metrics) answer(w http.ResponseWriter, r *http.Request, tcp bool, state func() State) {
	switch {
	case tcp && !loopback(r.Host):
		http.Error(w, "the host that is asked for is not this machine's loopback address", http.StatusForbidden)
	case r.URL.Path != "/metrics":
		http.Error(w, "there is /metrics, and nothing else", http.StatusNotFound)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "there is GET, and nothing else", http.StatusMethodNotAllowed)
	default:
		m.write(w, r, state())
	}
}

// loopback says whether a request is for an address of this machine alone. A page in a browser can have a name of its own that leads
// here, and could read what it asks for under that.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// write tells everything in the form that the scraper wants. Exemplars are in OpenMetrics only.
func (m *Metrics) write(w http.ResponseWriter, r *http.Request, s State) {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	var text bytes.Buffer
	e := expfmt.NewEncoder(&text, format)
	var err error
	for _, family := range m.Gather(s) {
		err = errors.Join(err, e.Encode(family))
	}
	if end, ok := e.(expfmt.Closer); ok {
		err = errors.Join(err, end.Close())
	}
	if err != nil {
		http.Error(w, "the metrics can't be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format))
	_, _ = w.Write(text.Bytes()) // a scraper that is gone asks again
}
