package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sync/semaphore"
)

// lineReader reads lines of bounded length. Long ones are paid for from the common memory while they
// grow, so that no number of peers can make the process allocate more than that.
type lineReader struct {
	conn   net.Conn
	in     *bufio.Reader
	max    int
	memory *semaphore.Weighted
}

func newLineReader(conn net.Conn, max int, memory *semaphore.Weighted) *lineReader {
	return &lineReader{conn, bufio.NewReaderSize(conn, smallLine), max, memory}
}

// lineWait is how long a long line may take from its first 64 KiB to its end: it holds memory that others
// wait for, and half as long as they do.
const lineWait = payWait / 2

// line is the text of one line and the memory that it holds until it is released.
type line struct {
	text   []byte
	memory *semaphore.Weighted
	paid   int64
	began  time.Time // that memory was paid
}

func (l *line) release() {
	if l != nil && l.paid > 0 {
		l.memory.Release(l.paid)
		l.paid = 0
	}
}

// longLineError is about a line over the cap: it was read to its end and thrown away.
type longLineError struct {
	prefix []byte
	max    int
}

func (e *longLineError) Error() string {
	return fmt.Sprintf("a line is longer than %d bytes", e.max)
}

// maxSkip bounds how much of an overlong line is read past in search of its end.
const maxSkip = 64 << 20

var errEndless = fmt.Errorf("a line without end: gave up after %d bytes", maxSkip)

// read returns the next line that is not empty. An overlong one is a *longLineError, after which
// reading can go on; any other error is the connection's end.
func (r *lineReader) read(ctx context.Context) (*line, error) {
	for {
		part, err := r.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return r.readLong(ctx, part)
		case errors.Is(err, io.EOF) && len(part) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		part = bytes.TrimRight(part, "\r\n")
		if len(part) > r.max {
			return nil, &longLineError{bytes.Clone(part), r.max}
		}
		if len(part) > 0 {
			return &line{text: bytes.Clone(part)}, nil
		}
	}
}

func (r *lineReader) readLong(ctx context.Context, part []byte) (*line, error) {
	l := &line{memory: r.memory}
	defer r.conn.SetReadDeadline(time.Time{}) // of a connection that is closed: no matter
	for more := true; ; {
		if err := l.grow(ctx, part); err != nil {
			l.release()
			return nil, err
		}
		if l.began.IsZero() { // paid for: the waiting is over
			l.began = time.Now()
			if err := r.conn.SetReadDeadline(l.began.Add(lineWait)); err != nil {
				l.release()
				return nil, err
			}
		}
		if !more {
			return l, nil
		}
		var err error
		part, err = r.in.ReadSlice('\n')
		switch {
		case err == nil:
			part, more = bytes.TrimRight(part, "\r\n"), false
		case !errors.Is(err, bufio.ErrBufferFull):
			l.release()
			return nil, unexpected(err)
		}
		if len(l.text)+len(part) > r.max {
			l.release()
			return nil, r.skip(l.text[:smallLine], err)
		}
	}
}

// grow appends to the line, after paying for the room.
func (l *line) grow(ctx context.Context, part []byte) error {
	if len(l.text)+len(part) > cap(l.text) {
		room := max(2*cap(l.text), 4*smallLine)
		if err := l.pay(ctx, int64(room-cap(l.text))); err != nil {
			return err
		}
		l.text = append(make([]byte, 0, room), l.text...)
	}
	l.text = append(l.text, part...)
	return nil
}

// payWait is how long a line may wait for memory that other lines hold. All of those could wait for
// each other, so that it must end.
const payWait = 10 * time.Second

func (l *line) pay(ctx context.Context, n int64) error {
	if l.memory == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, payWait)
	defer cancel()
	if err := l.memory.Acquire(ctx, n); err != nil {
		return fmt.Errorf("no memory for a long line in %s: other long messages hold it all", payWait)
	}
	l.paid += n
	return nil
}

// skip reads past the rest of an overlong line; last is what its newest part came with.
func (r *lineReader) skip(prefix []byte, last error) error {
	long := &longLineError{bytes.Clone(prefix), r.max}
	for skipped := 0; last != nil; skipped += smallLine {
		if skipped > maxSkip {
			return errEndless
		}
		_, last = r.in.ReadSlice('\n')
		if last != nil && !errors.Is(last, bufio.ErrBufferFull) {
			return unexpected(last)
		}
	}
	return long
}

func unexpected(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("a long line did not end within %s", lineWait)
	}
	return err
}
