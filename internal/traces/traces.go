// Package traces tells an OpenTelemetry collector what the time of runs goes to.
//
// A span has words of this program's, names that the configuration, the policy and a gateway gave, and numbers: what programs say, what
// tools are asked and answer, and what people write is in none.
package traces

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sandboxd/sandboxd/internal/remote"
)

// Bounds of what waits for the collector: a span takes about a kilobyte.
const (
	maxQueue  = 4096
	maxBatch  = 512 // spans of a request
	gatherFor = time.Second
)

// Traces takes spans, and sends them in Run. A nil one takes none, at no cost.
type Traces struct {
	// set by New, then read-only
	url       string
	headers   http.Header
	timeout   time.Duration
	sample    int
	version   string
	resource  []attribute
	transport *http.Transport
	log       *slog.Logger

	queue   chan *Span
	failing bool // the last batch was not taken whole; Run's own

	exported, dropped, failed, rejected atomic.Uint64
}

// Stats are counts of spans since New.
type Stats struct {
	Exported uint64 // the collector has them
	Dropped  uint64 // there was no room for them
	Failed   uint64 // the collector could not be reached, or did not take them
	Rejected uint64 // the collector took the others of their batch
}

// New reads the files that the configuration names, and connects to nothing yet. An error begins with the key of the configuration that it
// is about, such as "endpoint: ".
func New(c Config, version string, log *slog.Logger) (*Traces, error) {
	at, err := c.check()
	if err != nil {
		return nil, err
	}
	headers, err := readHeaders(c.Headers)
	if err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	transport, err := remote.Transport(remote.Server{
		Address: at, CA: c.CA, Timeout: c.Timeout, AtOnce: 1, MaxAnswer: maxAnswer, Dial: (&net.Dialer{Timeout: c.Timeout}).DialContext,
	})
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	t := &Traces{
		url: at.Base, headers: headers, timeout: c.Timeout, sample: c.Sample, version: version, transport: transport, log: log,
		queue: make(chan *Span, maxQueue),
	}
	instance := begin(0).String()[3:35] // another one for each daemon, a restarted one too
	for _, pair := range [][2]string{{"service.name", "sandboxd"}, {"service.version", version}, {"service.instance.id", instance}} {
		t.resource = append(t.resource, attribute{pair[0], attributeValue{Text: &pair[1]}})
	}
	return t, nil
}

// Begin begins the first span of ours, below the one that a traceparent names. A traceparent that is none is as if there were none, as the
// standard has it. The span is nil if the trace is not kept: by the parent's word or, without a parent, by chance. Onward is the trace
// context for others as long as there is no span of ours to put theirs below.
func (t *Traces) Begin(name, traceparent string) (s *Span, onward string) {
	above, ok := parse(traceparent)
	if !ok {
		traceparent = ""
	}
	switch {
	case t == nil, ok && above.flags&sampled == 0:
		return nil, traceparent
	case ok:
		s = &Span{place: above.next(), parent: above.span, remote: true}
	case rand.IntN(100) < t.sample:
		s = &Span{place: begin(sampled)}
	default:
		return nil, begin(0).String() // others are not to keep parts of it either
	}
	s.traces, s.name, s.kind, s.began = t, name, Server, time.Now()
	return s, s.Traceparent()
}

// put queues a span, or drops it: a run waits for no collector.
func (t *Traces) put(s *Span) {
	select {
	case t.queue <- s:
	default:
		t.dropped.Add(1)
	}
}

// Stats counts what became of spans.
func (t *Traces) Stats() Stats {
	return Stats{Exported: t.exported.Load(), Dropped: t.dropped.Load(), Failed: t.failed.Load(), Rejected: t.rejected.Load()}
}

// Run sends spans until ctx ends, and then those that are left, as far as that does not take long.
func (t *Traces) Run(ctx context.Context) {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, stop) })()
	defer t.transport.CloseIdleConnections()
	for {
		batch := t.gather(ctx)
		if len(batch) == 0 {
			return
		}
		t.deliver(ctx, sending, batch)
	}
}

// lastWords is how long a collector may keep the daemon from ending.
const lastWords = 2 * time.Second

// gather waits for spans, and a while for more; when ctx has ended it takes what is there.
func (t *Traces) gather(ctx context.Context) (batch []*Span) {
	select {
	case s := <-t.queue:
		batch = append(batch, s)
	case <-ctx.Done():
	}
	enough := time.After(gatherFor)
	for len(batch) < maxBatch {
		select {
		case s := <-t.queue:
			batch = append(batch, s)
			continue
		default:
		}
		select {
		case s := <-t.queue:
			batch = append(batch, s)
		case <-enough:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}
