// Command guard is a small judge of tool calls that goes by three rules, to try the guard's protocol with (docs/guard.md):
//
//	go run ./examples/guard --listen unix:///tmp/guard.sock
//	curl --unix-socket /tmp/guard.sock localhost/v1/guard --json '{"action":{"tool":"db.execute","args":{"sql":"DELETE FROM invoices"}}}'
//
// It blocks SQL that changes or drops a whole table, and what goes to many people; it wants a person to be asked before something
// is sent out by a run that has read what others wrote; it allows all else. The rules show what a guard can look at, and protect nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8939", "`address`: loopback with a port, or unix:///path; port 0 picks one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintf(os.Stderr, "guard: error: %v\n", err)
		os.Exit(1)
	}
}

// serve answers until ctx ends, and says on stderr where. It asks for no key, and so listens to nothing but this machine.
func serve(ctx context.Context, address string) error {
	network, scheme, where := "unix", "unix", strings.TrimPrefix(address, "unix://")
	if where == address {
		network, scheme = "tcp", "http"
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("--listen %q: want a loopback address with a port, such as 127.0.0.1:8939, or unix:///path", address)
		}
	}
	listener, err := net.Listen(network, where)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "guard: listening on %s://%s\n", scheme, listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/guard", answer[check])
	mux.HandleFunc("POST /v1/guard/batch", answer[batch])
	web := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	return web.Serve(listener)
}

// answer reads a body, of 2 MiB at most, and writes what is to be said about it.
func answer[T interface{ judge() any }](w http.ResponseWriter, r *http.Request) {
	var asked T
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2<<20)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(asked.judge())
}
