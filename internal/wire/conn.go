package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Conn is one end of the socket. One goroutine reads; any number may write.
type Conn struct {
	in      *bufio.Reader
	mu      sync.Mutex // guards the fields below
	out     io.Writer
	scratch []byte // of the last write, used again
}

// NewConn makes a Conn of a stream.
func NewConn(stream io.ReadWriter) *Conn {
	return &Conn{in: bufio.NewReaderSize(stream, 4<<10), out: stream}
}

// maxScratch is the size from which a write's memory is given back.
const maxScratch = 64 << 10

// Write sends a header and the bodies that it announces, in one write if they are short.
func (c *Conn) Write(header any, bodies ...[]byte) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // ends the line, too
	encoder.SetEscapeHTML(false)      // which makes six bytes of one
	if err := encoder.Encode(header); err != nil {
		return fmt.Errorf("marshal %T: %w", header, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scratch = append(c.scratch[:0], line.Bytes()...)
	for _, body := range bodies {
		if len(c.scratch)+len(body) <= maxScratch {
			c.scratch = append(c.scratch, body...)
			continue
		}
		if err := c.flush(); err != nil {
			return err
		}
		if _, err := c.out.Write(body); err != nil {
			return fmt.Errorf("write to socket: %w", err)
		}
	}
	return c.flush()
}

func (c *Conn) flush() error {
	if len(c.scratch) == 0 {
		return nil
	}
	_, err := c.out.Write(c.scratch)
	c.scratch = c.scratch[:0]
	if err != nil {
		return fmt.Errorf("write to socket: %w", err)
	}
	return nil
}

// Header reads the next line and its type. The bytes are valid until the next read.
func (c *Conn) Header() (kind string, line []byte, err error) {
	line, err = c.line()
	if err != nil {
		return "", nil, err
	}
	var typed struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &typed); err != nil {
		return "", nil, fmt.Errorf("%w: header: %v", ErrProtocol, err)
	}
	return typed.Type, line, nil
}

// ErrProtocol is the cause of every error about what the other end sent.
var ErrProtocol = errors.New("broke the worker protocol")

// line reads up to a newline, which is cut off. Lines over the reader's buffer are rare.
func (c *Conn) line() ([]byte, error) {
	part, err := c.in.ReadSlice('\n')
	if err == nil {
		return part[:len(part)-1], nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, ended(err, len(part))
	}
	long := bytes.Clone(part)
	for {
		part, err = c.in.ReadSlice('\n')
		if len(long)+len(part) > MaxHeader {
			return nil, fmt.Errorf("%w: a header is longer than %d bytes", ErrProtocol, MaxHeader)
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return long[:len(long)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, ended(err, len(long))
		}
	}
}

// ended is io.EOF only between two messages.
func ended(err error, read int) error {
	if errors.Is(err, io.EOF) && read > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Decode reads a header strictly: an unknown member, or anything behind the object, is an error.
func Decode(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	if decoder.InputOffset() != int64(len(line)) {
		return fmt.Errorf("%w: text behind a header", ErrProtocol)
	}
	return nil
}

// Body reads the n bytes that a header announced, if n is within max.
func (c *Conn) Body(n int, max int64) ([]byte, error) {
	if n < 0 || int64(n) > max {
		return nil, fmt.Errorf("%w: a body of %d bytes, where %d are allowed", ErrProtocol, n, max)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, fmt.Errorf("read body: %w", unexpected(err))
	}
	return body, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Buffered reports whether bytes of a next message were read already.
func (c *Conn) Buffered() bool { return c.in.Buffered() > 0 }
