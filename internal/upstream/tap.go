package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// tap takes the result of a call as the server sent it, on its way to the SDK. The SDK would decode it into Go
// values of the types that it knows, and we would encode those again: 28 ms instead of 1.6 for a listing of 225 KB
// (BenchmarkSDK, BenchmarkCall), and a loss of what it does not know.
type tap struct {
	copy  bool // the SDK gets the result too
	taken atomic.Pointer[json.RawMessage]
}

// stub is what the SDK gets in the place of a taken result.
var stub = json.RawMessage(`{"content":[]}`)

type tapKey struct{}

func withTap(ctx context.Context, t *tap) context.Context { return context.WithValue(ctx, tapKey{}, t) }

func tapOf(ctx context.Context) *tap {
	t, _ := ctx.Value(tapKey{}).(*tap)
	return t
}

// result takes the result and returns what the SDK shall see.
func (t *tap) result(result json.RawMessage) json.RawMessage {
	// A request for input (SEP-2322) is between the server and the SDK; it calls again and the next result counts.
	// Inside of a string the quotes would be escaped, so a text about it does not match.
	if bytes.Contains(result, []byte(`"input_required"`)) {
		return result
	}
	t.taken.Store(&result)
	if t.copy {
		return result
	}
	return stub
}

// taps are the taps of the calls in flight on one connection.
type taps struct {
	mu   sync.Mutex // guards byID
	byID map[jsonrpc.ID]*tap
}

// put notes the tap in ctx until the response has come or ctx has ended, if message is a call that has one.
func (t *taps) put(ctx context.Context, message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	found := tapOf(ctx)
	if !ok || !request.IsCall() || found == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[jsonrpc.ID]*tap{}
	}
	t.byID[request.ID] = found
	context.AfterFunc(ctx, func() { t.take(request.ID) })
}

func (t *taps) take(id jsonrpc.ID) *tap {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.byID[id]
	delete(t.byID, id)
	return found
}
