package audit

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// failure is a time in which nothing can be written: each event is refused.
type failure struct {
	cause   error
	since   time.Time
	refused int64
	wait    time.Duration // until the next try
	next    time.Time
	unsure  bool // what the file has, and has on disk, is not known
}

// The waits between tries to write again.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// drain writes what waits until nothing does.
func (l *Log) drain() {
	for {
		l.mu.Lock()
		batch := l.queue
		l.queue = nil
		if len(batch) == 0 {
			l.writing = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.commit(batch)
	}
}

// commit writes a batch: first what need not be on disk, so that it does not wait for what must be, unless it ends something of that.
func (l *Log) commit(batch []*entry) {
	var quick, durable []*entry
	for _, n := range batch {
		if n.durable || slices.ContainsFunc(durable, func(before *entry) bool { return ends(n.event, before.event) }) {
			durable = append(durable, n)
		} else {
			quick = append(quick, n)
		}
	}
	for _, part := range [][]*entry{quick, durable} {
		if len(part) == 0 {
			continue
		}
		err := l.ready()
		if err == nil {
			err = l.write(part, part[0].durable)
		}
		if err != nil {
			l.refuse(len(part))
			err = fmt.Errorf("audit: %s can't be written, and what is not written is refused: %w", l.config.Path, err)
		}
		for _, n := range part {
			n.err = err
			close(n.done)
			<-l.room
		}
	}
}

// ends reports whether an event ends what an earlier one began, whose writer did not wait for it to be written.
func ends(e, before Event) bool {
	switch e := e.(type) {
	case CallOutcome:
		intent, ok := before.(CallIntent)
		return ok && intent.Run == e.Run && intent.N == e.N
	case RunEnd:
		switch before := before.(type) {
		case CallIntent:
			return before.Run == e.Run
		case ApprovalAnswer:
			return before.Run == e.Run
		}
	}
	return false
}

func (l *Log) refuse(n int) {
	l.stats.refused.Add(int64(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure.refused += int64(n)
}

// write puts entries into the file, all or none: after an error the file ends where it did, or is known to be unsure.
func (l *Log) write(entries []*entry, durable bool) error {
	if reason := l.full(); reason != "" {
		if err := l.rotate(reason); err != nil {
			return l.fail(err, true)
		}
	}
	at := l.at
	l.buffer = l.buffer[:0]
	places := make([]place, len(entries))
	for i, n := range entries {
		l.buffer, at = appendLine(l.buffer, at, n.at, n.event.kind(), n.fields)
		places[i] = at
	}
	l.stats.writes.Add(1)
	if _, err := l.file.Write(l.buffer); err != nil {
		return l.fail(err, l.file.Truncate(l.size) != nil)
	}
	if durable {
		l.stats.syncs.Add(1)
		if err := l.sync(l.file); err != nil {
			return l.fail(err, true)
		}
		l.synced = l.size + int64(len(l.buffer))
	}
	l.size += int64(len(l.buffer))
	l.at = at
	l.stats.events.Add(int64(len(entries)))
	for i, n := range entries {
		l.calls.note(n.event)
		l.mirror.put(n.event, n.at, places[i])
	}
	if cap(l.buffer) > maxBuffer { // a burst of long lines is no reason to hold its memory
		l.buffer = nil
	}
	return nil
}

const maxBuffer = 1 << 20

// fail begins a failure, or goes on with it, and returns its cause.
func (l *Log) fail(err error, unsure bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		l.failure = &failure{since: time.Now(), wait: firstWait / 2}
	}
	f := l.failure
	f.cause, f.wait = err, min(2*f.wait, lastWait)
	f.next = time.Now().Add(f.wait)
	f.unsure = f.unsure || unsure
	return err
}

// ready tries to end a failure, when it is time to, and tells of it in the log.
func (l *Log) ready() error {
	l.mu.Lock()
	f := l.failure
	l.mu.Unlock()
	switch {
	case f == nil:
		return nil
	case time.Now().Before(f.next):
		return f.cause
	}
	if f.unsure {
		if err := l.mend(); err != nil {
			return l.fail(err, true)
		}
		f.unsure = false
	}
	if err := l.tell(recovered{Reason: f.cause.Error(), Since: f.since.UTC(), Refused: f.refused}); err != nil {
		return err
	}
	l.mu.Lock()
	l.failure = nil
	l.mu.Unlock()
	return nil
}

// tell writes events of the log's own, and puts them on disk.
func (l *Log) tell(events ...Event) error {
	var entries []*entry
	for _, e := range events {
		fields, err := encode(e)
		if err != nil {
			return err
		}
		entries = append(entries, &entry{event: e, fields: fields, at: time.Now()})
	}
	if len(entries) == 0 {
		return nil
	}
	return l.write(entries, l.config.Sync != SyncNone)
}

// mend finds out what the file has after a failure, and leaves the acknowledged lines in it and nothing else, on disk. A failed
// fsync is not made good by another one: the kernel may have dropped what it could not write, and marked it clean
// (fsync(2), "EIO"). So what was not on disk is read, compared and written again.
func (l *Log) mend() error {
	if l.file == nil { // a rotation ended between two files
		return l.begin("a rotation was interrupted")
	}
	f, err := openOwn(l.config.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	if there, err := f.Stat(); err != nil || !os.SameFile(mine, there) {
		return fmt.Errorf("%s is another file than the one that was written: start the daemon again", l.config.Path)
	}
	if err := f.Truncate(l.size); err != nil {
		return err
	}
	found, err := scan(f, l.config.Path, nil)
	if err != nil {
		return err
	}
	if found.good != l.size || found.at != l.at {
		return l.lost(found)
	}
	if _, err := io.Copy(io.NewOffsetWriter(f, l.synced), io.NewSectionReader(f, l.synced, l.size-l.synced)); err != nil {
		return err
	}
	if err := l.sync(f); err != nil {
		return err
	}
	l.synced = l.size
	return l.reopen()
}

// lost begins a new file after one that has not kept what was acknowledged: its damage stays for verify to find.
func (l *Log) lost(found scanned) error {
	damage := repaired{
		File: l.config.Path, Offset: found.good, Bytes: l.size - found.good,
		Reason: fmt.Sprintf("after a failed fsync the file has lines to number %d; %d were acknowledged", found.at.seq, l.at.seq),
	}
	if err := l.rotate(reasonDamaged); err != nil {
		return err
	}
	return l.tell(damage)
}

// reopen takes a new descriptor, as the old one may report an error once more, or never again.
func (l *Log) reopen() error {
	f, err := openOwn(l.config.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file = f
	return nil
}

// catchFileSize makes a write over RLIMIT_FSIZE an error: by default SIGXFSZ ends the process. It is caught and not
// ignored, as what this process starts would inherit the latter.
var catchFileSize = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) })
