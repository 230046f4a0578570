package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestDispatchOrder reads the connection itself: a client may begin two handlers in any order. Calls made at once
// leave in their order, and are answered one by one, the newest first.
func TestDispatchOrder(t *testing.T) {
	t.Parallel()
	d := daemon.Start(t, daemon.Options{})
	for range 5 {
		order := dispatched(t, d, "await Promise.all(Array.from({length: 23}, (_, i) => tools.t.echo({i})))")
		if !slices.IsSorted(order) || len(order) != 23 {
			t.Errorf("calls were dispatched in the order %v", order)
		}
	}
}

// dispatched runs a program, and returns the numbers of its calls as they come.
func dispatched(t *testing.T, d *daemon.Daemon, source string) (order []int) {
	t.Helper()
	conn, err := net.Dial("unix", d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	params, err := json.Marshal(sandboxd.Program{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1","client":{"name":"raw"},"servers":["t"]}}`)
	in := bufio.NewScanner(conn)
	for waiting := []json.RawMessage(nil); in.Scan(); {
		var m struct {
			ID     json.RawMessage   `json:"id"`
			Method string            `json:"method"`
			Params sandboxd.ToolCall `json:"params"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, in.Bytes())
		}
		switch {
		case m.Method == "" && string(m.ID) == "1":
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":2,"method":"execute","params":%s}`+"\n", params)
		case m.Method == "":
			if len(order) == 0 {
				t.Errorf("no call: %s", in.Bytes())
			}
			return order
		default:
			order = append(order, m.Params.N)
			waiting = append(waiting, m.ID)
			if len(order) < 4 {
				continue // until there are as many as may be
			}
		}
		for len(waiting) > 0 {
			last := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", last)
		}
	}
	t.Fatalf("the connection ended: %v, after %v", in.Err(), order)
	return nil
}
