// Package audit is the daemon's record of what it let programs do: a chain of lines, each with the hash of the one before.
package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Log is an open log. One process writes it.
type Log struct {
	// set by Open, then read-only
	config Config
	redact func([]byte) []byte
	key    []byte
	lock   *os.File
	group  int // that may read the files; -1: none
	sync   func(*os.File) error

	room   chan struct{} // has an item for each event that waits
	mirror *mirror       // nil: no journal
	writer sync.WaitGroup
	stats  counters

	mu      sync.Mutex // guards the fields below
	queue   []*entry
	writing bool
	closed  bool
	failure *failure // nil: the log can be written

	// The writer's alone: there is at most one at a time.
	at       place
	file     *os.File // nil: a new one is to be begun
	first    uint64   // line of the file
	previous string   // file; empty: there was none
	began    time.Time
	size     int64 // of the lines that were acknowledged
	synced   int64 // of those on disk
	calls    unanswered
	buffer   []byte
}

// Options are what a log takes from the rest of the daemon.
type Options struct {
	// Redact takes secrets out of a payload. Without it, payloads: redacted is refused.
	Redact func([]byte) []byte
	// Journal sends one entry to the system's journal; nil: there is none. See Run.
	Journal func(message string, fields map[string]string) error
	// Synced is told how long each fdatasync of the file took, failed ones included; nil: nobody is.
	Synced func(time.Duration)
}

// entry is an event that waits to be written.
type entry struct {
	event   Event
	fields  []byte
	at      time.Time
	durable bool
	done    chan struct{} // closed when err is set
	err     error
}

// maxWaiting bounds the events that wait to be written, and so those of one write.
const maxWaiting = 256

// Open continues the log at c.Path, or begins it; the caller must Close it. What a crash left is mended and told: a torn line is
// kept aside, and a call that was sent and has no outcome gets one, unknown. No event of the caller's is written yet.
func Open(c Config, o Options) (*Log, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Payloads == PayloadsRedacted && o.Redact == nil {
		return nil, errors.New("audit.payloads: redacted, and nothing is set up to redact")
	}
	group, err := lookGroup(c.Group)
	if err != nil {
		return nil, err
	}
	l := &Log{
		config: c, redact: o.Redact, group: group, sync: timed(fdatasync, o.Synced), mirror: newMirror(o.Journal),
		room: make(chan struct{}, maxWaiting),
	}
	catchFileSize()
	if err := l.open(); err != nil {
		l.release()
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return l, nil
}

// timed is a sync that tells how long it took.
func timed(sync func(*os.File) error, tell func(time.Duration)) func(*os.File) error {
	if tell == nil {
		return sync
	}
	return func(f *os.File) error {
		began := time.Now()
		defer func() { tell(time.Since(began)) }()
		return sync(f)
	}
}

// Append writes an event. It returns when the line is in the file, and on disk if the event must be; several that wait share one
// write and one fsync. On any error the caller must not do what the event tells of. An error because ctx ended
// leaves open whether the line is written.
func (l *Log) Append(ctx context.Context, e Event) error {
	fields, err := encode(e)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("audit: %s not written: %w", e.kind(), context.Cause(ctx))
	}
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("audit: %s not written: %w", e.kind(), context.Cause(ctx))
	}
	n := &entry{event: e, fields: fields, durable: l.durable(e), done: make(chan struct{})}
	if err := l.enqueue(n); err != nil {
		<-l.room
		return err
	}
	select {
	case <-n.done:
		return n.err
	case <-ctx.Done():
		return fmt.Errorf("audit: %s not known to be written: %w", e.kind(), context.Cause(ctx))
	}
}

// lateWrite bounds how long AppendLate may keep its caller: what it tells of is over by then.
const lateWrite = 5 * time.Second

// AppendLate writes an event that has happened, and that nothing can undo: also when ctx has ended.
func (l *Log) AppendLate(ctx context.Context, e Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateWrite)
	defer cancel()
	return l.Append(ctx, e)
}

func (l *Log) durable(e Event) bool {
	return l.config.Sync == SyncAll || l.config.Sync == SyncMutations && durable(e)
}

var errClosed = errors.New("audit: the log is closed")

func (l *Log) enqueue(n *entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	n.at = time.Now()
	l.queue = append(l.queue, n)
	if !l.writing {
		l.writing = true
		l.writer.Go(l.drain)
	}
	return nil
}

// Failure is why nothing can be written at present; nil: it can.
func (l *Log) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		return nil
	}
	return l.failure.cause
}

// Stats counts since Open.
type Stats struct {
	Events  int64 // written
	Refused int64 // that could not be
	Writes  int64
	Syncs   int64
	Dropped int64 // by the journal; the file has them
}

type counters struct{ events, refused, writes, syncs atomic.Int64 }

// Stats returns the counts.
func (l *Log) Stats() Stats {
	s := Stats{Events: l.stats.events.Load(), Refused: l.stats.refused.Load(), Writes: l.stats.writes.Load(), Syncs: l.stats.syncs.Load()}
	if l.mirror != nil {
		s.Dropped = l.mirror.dropped.Load()
	}
	return s
}

// Close waits for the events that were appended, puts all on disk, and lets another daemon have the log.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.writer.Wait()
	var err error
	if l.file != nil && l.config.Sync != SyncNone {
		err = l.sync(l.file)
	}
	return errors.Join(err, l.release())
}

func (l *Log) release() error {
	var errs []error
	for _, f := range []*os.File{l.file, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	l.file, l.lock = nil, nil
	return errors.Join(errs...)
}

func (l *Log) dir() string { return filepath.Dir(l.config.Path) }
