package pool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/rawjson"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// Worker is a lease: the sole use of one worker for one run. What it sends is hostile from the first
// byte of the program on, and is checked here.
type Worker struct {
	Warm bool

	pool    *Pool
	process *nursery.Worker
	conn    *wire.Conn
	limits  wire.Limits // set by Start
	calls   int         // seen by Next
	printed int64       // seen by Next
	hushed  atomic.Bool // no more answers
	close   sync.Once
	exit    nursery.Exit
	err     error
}

// PID is its number as this process sees it.
func (w *Worker) PID() int { return w.process.PID }

// Report says how the worker is jailed.
func (w *Worker) Report() jail.Report { return w.process.Report }

// Layers says what is around it.
func (w *Worker) Layers() nursery.Layers { return w.process.Layers }

// CPU is the CPU time that the worker has used since its birth.
func (w *Worker) CPU() (time.Duration, error) { return w.process.CPU() }

// PeakMemory is the most that it had resident; it must live.
func (w *Worker) PeakMemory() (int64, error) { return w.process.PeakMemory() }

// Memory is what it has resident now; it must live.
func (w *Worker) Memory() (int64, error) { return w.process.Memory() }

// Start sends the program: m without its type and sizes, and the texts.
func (w *Worker) Start(m wire.Start, source string, input, names, zone []byte) error {
	w.limits = m.Limits
	m.Type, m.Source, m.Input, m.Names, m.Zone = wire.TypeStart, len(source), len(input), len(names), len(zone)
	return w.conn.Write(m, []byte(source), input, names, zone)
}

// answerWait is how long a worker may leave an answer unread. An honest one reads at once, and what it does not read
// is held by the daemon, in memory that other gateways wait for (internal/rpc, payWait, is twice as long).
const answerWait = 5 * time.Second

// Answer sends the result of a call. A worker that does not take it has broken its protocol: the error wraps
// wire.ErrProtocol, and the run must end.
func (w *Worker) Answer(r wire.Result, body []byte) error {
	if w.hushed.Load() {
		return os.ErrClosed
	}
	if err := w.process.Socket.SetWriteDeadline(time.Now().Add(answerWait)); err != nil {
		return err
	}
	r.Type, r.Size = wire.TypeResult, len(body)
	err := w.conn.Write(r, body)
	if errors.Is(err, os.ErrDeadlineExceeded) && !w.hushed.Load() {
		return fmt.Errorf("%w: an answer was not read within %s", wire.ErrProtocol, answerWait)
	}
	return err
}

// Stop asks the worker to end its run, with a done of that kind. Who must be obeyed calls Close.
func (w *Worker) Stop(kind, message string) error {
	w.hushed.Store(true) // its time is up: it gets no more answers
	if err := w.process.Socket.SetWriteDeadline(time.Now().Add(stopWait)); err != nil {
		return err
	}
	return w.conn.Write(wire.Stop{Type: wire.TypeStop, Kind: kind, Message: message})
}

// stopWait bounds how long a worker that does not read can keep Stop.
const stopWait = 50 * time.Millisecond

// Next returns what the worker says next: []wire.Call, []wire.Line, Unsent or *wire.Done. io.EOF means that
// it is gone; an error that wraps wire.ErrProtocol, that it must be.
func (w *Worker) Next(ctx context.Context) (any, error) {
	stop := context.AfterFunc(ctx, func() { w.process.Socket.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	kind, line, err := w.conn.Header()
	if err != nil {
		return nil, w.reading(ctx, err)
	}
	switch kind {
	case wire.TypeCalls:
		return w.nextCalls(ctx, line)
	case wire.TypeConsole:
		return w.nextConsole(ctx, line)
	case wire.TypeUnsent:
		return w.nextUnsent(line)
	case wire.TypeDone:
		return w.nextDone(ctx, line)
	}
	return nil, fmt.Errorf("%w: an unexpected message of type %.40q", wire.ErrProtocol, kind)
}

// reading words the end of a stream. A worker that dies in the middle of a message is as dead as one
// that dies between two.
func (w *Worker) reading(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed), isReset(err):
		return io.EOF
	}
	return err
}

// isReset reports an error of the socket itself: its other end is gone.
func isReset(err error) bool {
	var path *os.PathError
	var op *net.OpError
	return errors.As(err, &path) || errors.As(err, &op)
}

func (w *Worker) nextCalls(ctx context.Context, line []byte) (any, error) {
	var m wire.Calls
	if err := wire.Decode(line, &m); err != nil {
		return nil, err
	}
	if n := len(m.Calls); n == 0 || n > wire.MaxCalls || w.calls+n > w.limits.Calls {
		return nil, fmt.Errorf("%w: %d calls after %d, of %d", wire.ErrProtocol, n, w.calls, w.limits.Calls)
	}
	size := 0
	for i := range m.Calls {
		c := &m.Calls[i]
		if err := w.count(c); err != nil {
			return nil, err
		}
		if size += c.Size; i > 0 && size > wire.MaxArgs {
			return nil, fmt.Errorf("%w: arguments of %d bytes in one message", wire.ErrProtocol, size)
		}
		body, err := w.conn.Body(c.Size, w.limits.ArgumentBytes)
		if err != nil {
			return nil, w.reading(ctx, err)
		}
		if c.Args, err = compact(body, '{'); err != nil {
			return nil, fmt.Errorf("%w: arguments of call %d: %v", wire.ErrProtocol, c.ID, err)
		}
	}
	return m.Calls, nil
}

// count checks the number and the names of a call.
func (w *Worker) count(c *wire.Call) error {
	w.calls++
	if c.ID != w.calls {
		return fmt.Errorf("%w: call %d where %d was due", wire.ErrProtocol, c.ID, w.calls)
	}
	for _, name := range []string{c.Server, c.Tool} {
		if name == "" || len(name) > wire.MaxName {
			return fmt.Errorf("%w: a name of %d bytes", wire.ErrProtocol, len(name))
		}
	}
	return nil
}

// Unsent are calls that the program made and that are not to be performed.
type Unsent []wire.Call

func (w *Worker) nextUnsent(line []byte) (any, error) {
	var m wire.Calls
	if err := wire.Decode(line, &m); err != nil {
		return nil, err
	}
	// One more than the limit: that is how a program goes over it.
	if n := len(m.Calls); n == 0 || n > wire.MaxCalls || w.calls+n > w.limits.Calls+1 {
		return nil, fmt.Errorf("%w: %d unsent calls after %d, of %d", wire.ErrProtocol, n, w.calls, w.limits.Calls)
	}
	for i := range m.Calls {
		if err := w.count(&m.Calls[i]); err != nil {
			return nil, err
		}
	}
	return Unsent(m.Calls), nil
}

// compact checks that text is one JSON value that begins with first (0: any), and makes it fit one line. What is
// judged must be what is sent, so that a key that stands twice, which readers take differently, is refused.
func compact(text []byte, first byte) ([]byte, error) {
	if first != 0 && (len(text) == 0 || text[0] != first) {
		return nil, fmt.Errorf("not JSON that begins with %q", first)
	}
	if !utf8.Valid(text) { // to mend it would make it longer than it may be, and keys equal that were not
		return nil, errNotUTF8
	}
	var out bytes.Buffer
	out.Grow(len(text))
	if err := json.Compact(&out, text); err != nil {
		return nil, err
	}
	if err := rawjson.Check(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// errNotUTF8 is for texts that no honest worker sends.
var errNotUTF8 = errors.New("not UTF-8")

func (w *Worker) nextConsole(ctx context.Context, line []byte) (any, error) {
	var m wire.Console
	if err := wire.Decode(line, &m); err != nil {
		return nil, err
	}
	if len(m.Lines) == 0 || len(m.Lines) > wire.MaxLines {
		return nil, fmt.Errorf("%w: %d console lines in one message", wire.ErrProtocol, len(m.Lines))
	}
	for i := range m.Lines {
		l := &m.Lines[i]
		switch l.Level {
		case "log", "info", "warn", "error", "debug":
		default:
			return nil, fmt.Errorf("%w: console level %.40q", wire.ErrProtocol, l.Level)
		}
		w.printed++ // the end of the line counts, as for the worker
		text, err := w.conn.Body(l.Size, w.limits.ConsoleBytes-w.printed)
		if err != nil {
			return nil, w.reading(ctx, err)
		}
		w.printed += int64(l.Size)
		if !utf8.Valid(text) {
			return nil, fmt.Errorf("%w: a console line: %w", wire.ErrProtocol, errNotUTF8)
		}
		l.Text = string(text)
	}
	return m.Lines, nil
}

func (w *Worker) nextDone(ctx context.Context, line []byte) (any, error) {
	var m wire.Done
	if err := wire.Decode(line, &m); err != nil {
		return nil, err
	}
	if m.DroppedLines < 0 || m.DroppedBytes < 0 || m.Error != nil && (m.Error.Line < 0 || m.Error.Column < 0) {
		return nil, fmt.Errorf("%w: a number below 0 at the end", wire.ErrProtocol)
	}
	body, err := w.conn.Body(m.Size, w.limits.OutputBytes)
	if err != nil {
		return nil, w.reading(ctx, err)
	}
	if m.Kind != "ok" {
		return &m, nil
	}
	if m.Value, err = compact(body, 0); err != nil {
		return nil, fmt.Errorf("%w: returned value: %v", wire.ErrProtocol, err)
	}
	return &m, nil
}

// Close kills the worker and says how it ended. It may be called more than once.
func (w *Worker) Close() (nursery.Exit, error) {
	w.close.Do(func() {
		w.pool.end()
		w.exit, w.err = w.process.Bury()
	})
	return w.exit, w.err
}

// Hush ends writes that wait for a worker that does not read. It is for when the run has ended.
func (w *Worker) Hush() {
	w.hushed.Store(true)
	// An error means that the socket is closed, which ends writes as well.
	_ = w.process.Socket.SetWriteDeadline(time.Unix(1, 0))
}
