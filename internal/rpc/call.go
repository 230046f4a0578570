package rpc

import (
	"context"
	"encoding/json"
	"fmt"
)

// Response is the answer to a call.
type Response struct {
	Result json.RawMessage // lies in memory that Release gives back
	Err    *Error          // what the other end refused with
	Unread bool            // there was an answer, and Err says why it could not be read
	line   *line
}

// Release gives the memory of Result back; the caller must not touch Result afterwards.
func (r Response) Release() { r.line.release() }

// Call asks the other end and waits for its answer. The error is about the connection or ctx;
// a refusal by the other end is in the response.
func (p *Peer) Call(ctx context.Context, method string, params any) (Response, error) {
	pending, err := p.Begin(ctx, method, params)
	if err != nil {
		return Response{}, err
	}
	return pending.Wait(ctx)
}

// Pending is a call that was sent.
type Pending struct {
	peer   *Peer
	id     int64
	answer chan Response
}

// Begin sends a call, and returns when it is on its way. The caller must Wait.
func (p *Peer) Begin(ctx context.Context, method string, params any) (*Pending, error) {
	raw, err := marshal(params)
	if err != nil {
		return nil, fmt.Errorf("marshal params of %s: %w", method, err)
	}
	c := &Pending{peer: p, answer: make(chan Response, 1)} // deliver never waits for us
	p.mu.Lock()
	if p.closed != nil {
		p.mu.Unlock()
		return nil, p.closed
	}
	p.next++
	c.id = p.next
	p.pending[c.id] = c.answer
	p.mu.Unlock()
	err = p.write(ctx, func(line []byte) ([]byte, error) {
		return appendJSON(line, request{Version: version, ID: c.id, Method: method, Params: raw})
	})
	if err != nil {
		p.forget(c.id, c.answer)
		return nil, err
	}
	return c, nil
}

// Wait returns the answer. It is called once.
func (c *Pending) Wait(ctx context.Context) (Response, error) {
	defer c.peer.forget(c.id, c.answer)
	select {
	case r, ok := <-c.answer:
		if !ok {
			return Response{}, ErrClosed
		}
		return r, nil
	case <-ctx.Done():
		return Response{}, context.Cause(ctx)
	}
}

// forget ends a call's wait. An answer that came too late gives its memory back.
func (p *Peer) forget(id int64, answer chan Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
	select {
	case late := <-answer:
		late.Release()
	default: // taken by Call, or closed by fail
	}
}

// fail ends every call that waits, and those to come.
func (p *Peer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = err
	for id, waiting := range p.pending {
		close(waiting)
		delete(p.pending, id)
	}
}
