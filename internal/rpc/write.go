package rpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Notify tells the other end something that needs no answer.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	return p.write(ctx, func(line []byte) ([]byte, error) {
		return appendJSON(line, notification{Version: version, Method: method, Params: params})
	})
}

// write sends the message that build appends to an empty line. Who waits for its turn obeys ctx; a write that
// has begun is bounded by twice WriteWait, after which the connection is closed, as half a line can't be taken back.
func (p *Peer) write(ctx context.Context, build func(line []byte) ([]byte, error)) error {
	select {
	case <-p.writing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { p.writing <- struct{}{} }()
	line, err := build(p.scratch[:0])
	if err != nil {
		return err
	}
	if max := p.options.MaxSent; max > 0 && len(line) > max {
		return asError(&longLineError{max: max})
	}
	line = append(line, '\n')
	if cap(line) <= maxScratch {
		p.scratch = line
	}
	if err := p.bound(time.Now()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if _, err := p.conn.Write(line); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.stall(fmt.Errorf("the other end did not read for %v: %w", p.options.WriteWait, err))
		}
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			p.conn.Close() // else the other end did, and the reader has its last words to read
		}
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// bound gives a write from WriteWait to twice that: setting the timer anew for each message costs more than writing it.
func (p *Peer) bound(now time.Time) error {
	if p.deadline.Sub(now) >= p.options.WriteWait {
		return nil
	}
	p.deadline = now.Add(2 * p.options.WriteWait)
	return p.conn.SetWriteDeadline(p.deadline)
}

// maxScratch is the size from which a line's memory is not kept for the next.
const maxScratch = 1 << 20
