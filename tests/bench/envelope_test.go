package bench_test

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/sandboxd/sandboxd/internal/rpc"
)

// BenchmarkEnvelope is a tools/call that is answered with 254 KB, over a Unix socket: with internal/rpc on both
// ends, and with jrpc2 on both ends (docs/dependencies.md).
func BenchmarkEnvelope(b *testing.B) {
	text, err := json.Marshal(strings.Repeat(`{"number":12,"title":"a title","comments":5},`, 5000))
	if err != nil {
		b.Fatal(err)
	}
	result := json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
	b.Run("rpc", func(b *testing.B) { benchRPC(b, result) })
	b.Run("jrpc2", func(b *testing.B) { benchJRPC2(b, result) })
}

func socketPair(b *testing.B) (net.Conn, net.Conn) {
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	return client, server
}

func benchRPC(b *testing.B, result json.RawMessage) {
	a, z := socketPair(b)
	o := rpc.Options{MaxLine: 8 << 20, MaxRequests: 8, WriteWait: time.Minute,
		Handle: func(context.Context, *rpc.Request) (any, error) { return result, nil }}
	pa, pz := rpc.New(a, o), rpc.New(z, o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- pa.Run(ctx) }()
	go func() { ended <- pz.Run(ctx) }()
	defer func() { cancel(); <-ended; <-ended }()
	b.SetBytes(int64(len(result)))
	for b.Loop() {
		r, err := pa.Call(ctx, "tools/call", struct{}{})
		if err != nil || r.Err != nil || len(r.Result) != len(result) {
			b.Fatal(err, r.Err)
		}
		r.Release()
	}
}

func benchJRPC2(b *testing.B, result json.RawMessage) {
	a, z := socketPair(b)
	server := jrpc2.NewServer(handler.Map{
		"tools/call": handler.New(func(context.Context) (json.RawMessage, error) { return result, nil }),
	}, nil).Start(channel.Line(z, z))
	client := jrpc2.NewClient(channel.Line(a, a), nil)
	defer func() { client.Close(); server.Stop(); server.Wait() }()
	b.SetBytes(int64(len(result)))
	for b.Loop() {
		r, err := client.Call(context.Background(), "tools/call", nil)
		var raw json.RawMessage
		if err != nil || r.UnmarshalResult(&raw) != nil || len(raw) != len(result) {
			b.Fatal(err)
		}
	}
}
