// Package rpc is JSON-RPC 2.0 with one object a line, on a connection whose two ends may both call.
//
// It exists because of size and trust. Lines are capped while they are read, a reader of one connection
// can't take the memory of others, and a result of megabytes is found in its line without being decoded
// (docs/dependencies.md has the comparison with a JSON-RPC library).
package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

// Peer is one end of a connection. Its methods may be called from several goroutines.
type Peer struct {
	conn     net.Conn
	options  Options
	lines    *lineReader
	writing  chan struct{} // holds one token; whoever has it writes
	scratch  []byte        // of the last line written; owned by the token
	deadline time.Time     // of the connection's writes; owned by the token
	serving  sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	next    int64
	pending map[int64]chan Response
	served  int
	closed  error  // why no more calls can be answered; nil while they can
	refusal *Error // what the other end said of the connection, not of a request
	stalled error  // why we hung up on an end that did not read
}

// Options are what a peer does with the other end's calls, and its bounds. Handle must be set.
type Options struct {
	// Handle answers a request; a result is marshalled, an error that is an *Error goes out as it is,
	// any other as an internal one. It runs on a goroutine of its own; ctx ends with the connection.
	Handle func(ctx context.Context, r *Request) (any, error)
	// Notified takes a notification. It runs on the reader's goroutine, in order, and must not block.
	Notified func(method string, params json.RawMessage)

	First       string              // a method that is answered before anything behind it is read
	MaxLine     int                 // bytes of a line, its end not counted
	MaxSent     int                 // likewise, of a line of ours; 0: no bound
	MaxRequests int                 // unanswered requests of the other end
	Memory      *semaphore.Weighted // bytes of long lines, shared between peers; nil: no common bound
	WriteWait   time.Duration       // how long, up to twice, the other end may stop reading
}

// smallLine is the length up to which a line costs nothing of the common memory.
const smallLine = 64 << 10

// New makes a peer of conn. Nothing is read before Run.
func New(conn net.Conn, o Options) *Peer {
	p := &Peer{
		conn:    conn,
		options: o,
		lines:   newLineReader(conn, o.MaxLine, o.Memory),
		writing: make(chan struct{}, 1),
		pending: make(map[int64]chan Response),
	}
	p.writing <- struct{}{}
	return p
}

// ErrClosed is the cause of a call that the connection's end left without an answer.
var ErrClosed = errors.New("the connection is closed")

// Run reads until the connection or ctx ends, and returns when every handler has. It returns nil
// when the other end hung up between two lines, or this one did, unless that was because the other end did not read.
func (p *Peer) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { p.conn.Close() })
	err := p.read(ctx)
	p.fail(ErrClosed)
	cancel()
	stop()
	p.conn.Close()
	p.serving.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stalled != nil:
		return p.stalled
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		return nil // a reset is a hang-up with messages of ours unread
	}
	return err
}

// stall notes why this end is about to hang up.
func (p *Peer) stall(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = err
}

func (p *Peer) read(ctx context.Context) error {
	for {
		line, err := p.lines.read(ctx)
		var long *longLineError
		switch {
		case errors.As(err, &long):
			p.refuseLong(ctx, long)
			continue
		case err != nil:
			return err
		}
		if !p.take(ctx, line) {
			line.release()
		}
	}
}

// take handles one line; it reports whether somebody else will release it.
func (p *Peer) take(ctx context.Context, line *line) bool {
	m, err := parse(line.text)
	switch {
	case err != nil:
		p.refuseBad(ctx, m, &Error{Code: CodeParse, Message: "not a JSON-RPC 2.0 message: " + err.Error()})
	case m.method == "":
		return p.deliver(m, line)
	case m.id == nil:
		if p.options.Notified != nil {
			p.options.Notified(m.method, m.params)
		}
	case !p.begin():
		p.answer(ctx, m.id, nil, &Error{Code: CodeBusy, Message: fmt.Sprintf(
			"more than %d unanswered requests on one connection: wait for answers, or open another", p.options.MaxRequests)})
	case m.method == p.options.First:
		p.serve(ctx, m, line)
		return true
	default:
		go p.serve(ctx, m, line)
		return true
	}
	return false
}

// refuseBad answers a message that can't be read as far as it should. One that was to answer a call of ours ends
// that call; nobody else would.
func (p *Peer) refuseBad(ctx context.Context, m message, e *Error) {
	if m.method == "" && m.id != nil && p.deliver(message{id: m.id, err: e.json(), unread: true}, nil) {
		return
	}
	p.answer(ctx, m.id, nil, e)
}

// begin counts a request in, if there is room.
func (p *Peer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.served >= p.options.MaxRequests {
		return false
	}
	p.served++
	p.serving.Add(1)
	return true
}

func (p *Peer) serve(ctx context.Context, m message, line *line) {
	defer p.serving.Done()
	r := &Request{Method: m.method, Params: m.params, line: line}
	result, err := p.options.Handle(ctx, r)
	p.mu.Lock()
	p.served--
	p.mu.Unlock()
	then, _ := result.(Then)
	if then.Do != nil {
		result = then.Result
	}
	p.answer(ctx, m.id, result, err)
	r.Release()
	if then.Do != nil {
		then.Do()
	}
}

// Request is a request of the other end.
type Request struct {
	Method string
	Params json.RawMessage // lies in memory that Release gives back, at the latest when it was answered
	line   *line
}

// Release gives the memory of Params back: for a handler that has read them and stays for long.
func (r *Request) Release() {
	r.line.release()
	r.Params = nil
}

// Then is a result of Handle with something to do once it was sent, or could not be.
type Then struct {
	Result any
	Do     func()
}

// answer writes a response; id nil stands for a request whose id could not be read.
func (p *Peer) answer(ctx context.Context, id json.RawMessage, result any, err error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	var text json.RawMessage
	if err == nil {
		text, err = resultText(result)
	}
	if err == nil {
		err = p.write(ctx, func(line []byte) ([]byte, error) {
			line = append(append(line, `{"jsonrpc":"2.0","id":`...), id...)
			line = append(append(line, `,"result":`...), text...)
			return append(line, '}'), nil
		})
		if !errors.As(err, new(*Error)) {
			return // any other error of write means a dead connection, and the reader tells that
		}
		err = Errorf(CodeInvalidRequest, "it was carried out, but its answer can't be sent: %v", err)
	}
	_ = p.write(ctx, func(line []byte) ([]byte, error) {
		return appendJSON(line, response{Version: version, ID: id, Error: asError(err)})
	})
}

// resultText is a result as JSON on one line. A text that is JSON already, such as a tool's result of
// megabytes, is not decoded: its brackets are paired, which keeps it from breaking out of the message.
func resultText(result any) (json.RawMessage, error) {
	text, isText := result.(json.RawMessage)
	if !isText {
		text, err := marshal(result)
		if err != nil {
			return nil, fmt.Errorf("marshal result: %w", err)
		}
		return text, nil
	}
	if bytes.ContainsAny(text, "\r\n") {
		var out bytes.Buffer
		if err := json.Compact(&out, text); err != nil {
			return nil, fmt.Errorf("result is not JSON: %w", err)
		}
		return out.Bytes(), nil
	}
	c := rawjson.New(text)
	if err := c.Skip(); err != nil {
		return nil, fmt.Errorf("result is not JSON: %w", err)
	}
	return text, c.End()
}

func appendJSON(line []byte, message any) ([]byte, error) {
	text, err := marshal(message)
	if err != nil {
		return nil, fmt.Errorf("marshal message: %w", err)
	}
	return append(line, text...), nil
}

// marshal is json.Marshal without escapes for HTML, which make six bytes of one.
func marshal(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// deliver hands a response to the call that waits for it.
func (p *Peer) deliver(m message, line *line) bool {
	var id int64
	if m.id == nil && m.err != nil {
		p.refused(parseError(m.err))
		return false
	}
	if json.Unmarshal(m.id, &id) != nil {
		return false // not an id of ours
	}
	r := Response{Result: m.result, Unread: m.unread, line: line}
	if m.err != nil {
		r.Err = parseError(m.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, ok := p.pending[id]
	if !ok {
		return false // answered twice, late, or never asked
	}
	delete(p.pending, id)
	waiting <- r // has room: see Call
	return true
}

// refuseLong answers for a line that was too long to be kept, if its beginning tells what it was.
func (p *Peer) refuseLong(ctx context.Context, long *longLineError) {
	p.refuseBad(ctx, parsePrefix(long.prefix), asError(long))
}

func (p *Peer) refused(e *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusal = e
}

// Refusal is the last error that the other end sent without naming a request, such as why it hung up.
func (p *Peer) Refusal() *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusal
}

// Close hangs up; Run returns then.
func (p *Peer) Close() { p.conn.Close() }

// Refuse tells the other end why it is not served, and hangs up. It is called instead of Run. The other end gets as long as wait to hang up first: one
// that writes to a closed connection may see nothing but that, and never read why.
func (p *Peer) Refuse(e *Error, wait time.Duration) {
	defer p.conn.Close()
	p.answer(context.Background(), nil, nil, e)
	half, ok := p.conn.(interface{ CloseWrite() error })
	if !ok || wait == 0 || half.CloseWrite() != nil || p.conn.SetReadDeadline(time.Now().Add(wait)) != nil {
		return
	}
	// An error is the hang-up, or the end of the wait.
	_, _ = io.CopyN(io.Discard, p.conn, smallLine)
}
