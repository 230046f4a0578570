//go:build linux

package escape_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/wire"
	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

// hello is what a driver says first.
type hello struct {
	Missing    string // a layer that is to be on, and is not there; or can't be switched off
	Namespaces bool
	Landlock   int
}

// result is what became of an attack.
type result struct {
	Began bool   // it was announced
	Said  string // by the victim afterwards: what attack.End says; "" if it was its last
	End   string // of the victim: a signal's name, "exit" with its code, or "lives"
	Hit   bool   // the effect was there, as the test saw it or, where it sees nothing, as the victim said
	Err   string // of the test
}

// spec is for all victims. Their cgroup, where there is one, is none of the layers that are tried here.
var spec = nursery.Spec{Jail: jail.Spec{LandlockABI: 1, MemoryBytes: 64 << 20, CPUSeconds: 30}, CPUs: 2, PIDs: 512}

// drive is the main function of a driver. It makes the attacks that it is told, one after the other, and never returns.
func drive(text string) {
	var a arm
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		fail(err)
	}
	if err := a.serve(json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)); err != nil {
		fail(err)
	}
	os.Exit(0)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "driver:", err)
	os.Exit(1)
}

func (a *arm) serve(in *json.Decoder, out *json.Encoder) error {
	if !a.on(attack.Namespaces) {
		if err := forbidNamespaces(); err != nil {
			return out.Encode(hello{Missing: "namespaces can't be switched off here: " + err.Error()})
		}
	}
	client := nursery.NewClient(nursery.Start(filepath.Join(a.Dir, "sandbox-nursery"), os.Stderr, false))
	defer client.Close()
	h, err := greet(a, client)
	if err != nil {
		return err
	}
	if err := out.Encode(h); err != nil || h.Missing != "" {
		return err
	}
	s, err := newScene(a.Dir)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		var name string
		if err := in.Decode(&name); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r, err := s.attack(client, name)
		if err != nil {
			r.Err = fmt.Sprintf("%s: %v", name, err)
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// forbidNamespaces lets this user namespace, which is its own, have none of those that a nursery makes. User namespaces are
// left: a worker may try to make one.
func forbidNamespaces() error {
	for _, kind := range []string{"mnt", "net", "ipc", "pid"} {
		if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	}
	return nil
}

// greet has a worker born, to see what it is like.
func greet(a *arm, client *nursery.Client) (hello, error) {
	w, err := client.Spawn(context.Background(), spec)
	if err != nil {
		return hello{}, err
	}
	h := hello{Namespaces: w.Layers.Walled() && slices.Contains(w.Layers.Namespaces, "pid"), Landlock: w.Report.Landlock}
	if a.on(attack.Namespaces) && !h.Namespaces {
		h.Missing = "no namespaces: " + w.Layers.Missing[nursery.LayerNamespaces]
	}
	_, err = w.Bury()
	return h, err
}

// victimWait is for one attack; they take milliseconds.
const victimWait = 20 * time.Second

// attack has a victim born, tells it what to do, and looks what comes of it.
func (s *scene) attack(client *nursery.Client, name string) (r result, failed error) {
	if x, _ := attack.Find(name); x.Effect() {
		defer func() { failed = errors.Join(failed, s.clean()) }()
		if err := s.prepare(client, name); err != nil {
			return r, err
		}
	}
	victim, err := client.Spawn(context.Background(), spec)
	if err != nil {
		return r, err
	}
	err = s.perform(victim, name, &r)
	if err == nil {
		look, sees := looks[name]
		r.Hit = r.Said == attack.OK
		if sees {
			r.Hit = s.eventually(r.Hit, look)
		}
	}
	exit, buried := victim.Bury()
	r.End = end(exit)
	return r, errors.Join(err, buried)
}

// perform sends the attack, and reads what the victim says until it is done or dead.
func (s *scene) perform(victim *nursery.Worker, name string, r *result) error {
	if err := victim.Socket.SetDeadline(time.Now().Add(victimWait)); err != nil {
		return err
	}
	target, err := json.Marshal(s.target)
	if err != nil {
		return err
	}
	conn := wire.NewConn(victim.Socket)
	if err := conn.Write(wire.Start{Type: wire.TypeStart, Source: len(name), Input: len(target)}, []byte(name), target); err != nil {
		return err
	}
	for {
		kind, line, err := conn.Header()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, unix.ECONNRESET):
			return nil
		case err != nil:
			return err
		case kind == wire.TypeConsole:
			r.Began = true
			if during := atOnce[name]; during != nil {
				if err := during(victim); err != nil {
					return err
				}
			}
		case kind == wire.TypeDone:
			return said(conn, line, r)
		default:
			return fmt.Errorf("unexpected %q", kind)
		}
	}
}

func said(conn *wire.Conn, line []byte, r *result) error {
	var m wire.Done
	if err := wire.Decode(line, &m); err != nil {
		return err
	}
	value, err := conn.Body(m.Size, 4<<10)
	if err != nil {
		return err
	}
	return json.Unmarshal(value, &r.Said)
}

// end names the way in which a victim ended.
func end(e nursery.Exit) string {
	switch {
	case e.Killed:
		return "lives"
	case e.Signal != 0:
		return unix.SignalName(unix.Signal(e.Signal))
	}
	return strings.TrimSpace(fmt.Sprint("exit ", e.Code, " ", e.Stderr))
}
