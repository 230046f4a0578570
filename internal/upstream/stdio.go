package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is an mcp.Connection with a process. It is here, and not the SDK's own, because that scans each message
// five times; this one scans it once, and hands results of tapped calls past the SDK.
type stdio struct {
	// set by connect, then read-only
	process *process
	in      *lines
	outbox  chan outgoing
	closed  chan struct{}

	queue     []jsonrpc.Message // of a batch; only Read uses it
	taps      taps
	asked     atomic.Int64 // requests of the server that are not answered yet
	closeOnce sync.Once
	writer    sync.WaitGroup
}

type outgoing struct {
	line    []byte
	written chan error
}

// transport is an mcp.Transport made of a function.
type transport func(context.Context) (mcp.Connection, error)

func (t transport) Connect(ctx context.Context) (mcp.Connection, error) { return t(ctx) }

func (s *session) overStdio(stderr io.Writer) mcp.Transport {
	return transport(func(context.Context) (mcp.Connection, error) {
		var err error
		if s.process, err = startProcess(s.server, stderr); err != nil {
			return nil, err
		}
		c := &stdio{
			process: s.process, in: newLines(s.process.stdout),
			outbox: make(chan outgoing), closed: make(chan struct{}),
		}
		c.writer.Go(c.write)
		return c, nil
	})
}

func (c *stdio) SessionID() string { return "" }

// Close ends the process. It unblocks Read and Write.
func (c *stdio) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	err := c.process.end()
	c.writer.Wait()
	return err
}

func (c *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		line, err := c.in.next()
		if err != nil {
			return nil, err
		}
		if c.queue, err = c.decode(bytes.TrimSpace(line)); err != nil {
			return nil, err
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	if r, ok := next.(*jsonrpc.Request); ok && r.IsCall() && c.asked.Add(1) > maxAsked {
		c.closeOnce.Do(func() { close(c.closed) }) // the SDK waits for answers that are being written before it closes anything
		return nil, fmt.Errorf("server sent more than %d requests without reading the answers", maxAsked)
	}
	return next, nil
}

// maxAsked bounds what the SDK keeps of a server that asks, and does not read.
const maxAsked = 256

func (c *stdio) decode(line []byte) ([]jsonrpc.Message, error) {
	switch {
	case len(line) == 0:
		return nil, nil
	case line[0] == '[': // a batch, which versions before 2025-06-18 allow
		var batch []json.RawMessage
		if err := json.Unmarshal(line, &batch); err != nil {
			return nil, fmt.Errorf("server sent a broken batch: %w", err)
		}
		var messages []jsonrpc.Message
		for _, one := range batch {
			message, err := c.message(one)
			if err != nil {
				return nil, err
			}
			messages = append(messages, message)
		}
		return messages, nil
	case line[0] != '{': // many a server prints a greeting to the wrong stream
		c.process.stderr.Write(append(line, '\n'))
		return nil, nil
	}
	message, err := c.message(line)
	return []jsonrpc.Message{message}, err
}

func (c *stdio) message(data []byte) (jsonrpc.Message, error) {
	id, result, ok := splitResponse(data)
	if !ok {
		return jsonrpc.DecodeMessage(data)
	}
	number, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return jsonrpc.DecodeMessage(data)
	}
	known, err := jsonrpc.MakeID(float64(number))
	if found := c.taps.take(known); found != nil {
		result = found.result(result)
	}
	return &jsonrpc.Response{ID: known, Result: result}, err
}

// Write hands the message to the writer, and waits until it is written: a server that does not read must not keep a
// caller whose ctx has ended. Its message may still be written then.
func (c *stdio) Write(ctx context.Context, message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if _, isAnswer := message.(*jsonrpc.Response); isAnswer {
		defer c.asked.Add(-1)
	}
	c.taps.put(ctx, message)
	out := outgoing{line: append(line, '\n'), written: make(chan error, 1)}
	select {
	case c.outbox <- out:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return mcp.ErrConnectionClosed
	}
	select {
	case err := <-out.written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return mcp.ErrConnectionClosed
	}
}

func (c *stdio) write() {
	for {
		select {
		case out := <-c.outbox:
			_, err := c.process.stdin.Write(out.line)
			out.written <- err
		case <-c.closed:
			return
		}
	}
}
