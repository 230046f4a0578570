package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// session is one connected gateway.
type session struct {
	*Server
	caller Caller
	peer   *rpc.Peer

	mu        sync.Mutex            // guards the fields below
	catalog   *catalog.Catalog      // what the gateway announced; nil before initialize
	client    string                // what it calls itself
	approvals bool                  // it announced that it answers approvals/request
	runs      map[string]*activeRun // by ULID
}

const (
	maxLine     = 8 << 20 // bytes of one message of a gateway
	maxRequests = 128     // unanswered ones of one connection
)

func (s *Server) newSession(conn net.Conn) *session {
	x := &session{Server: s, runs: make(map[string]*activeRun)}
	x.peer = rpc.New(conn, rpc.Options{
		Handle: x.handle, First: "initialize", MaxLine: maxLine, MaxRequests: maxRequests,
		Memory: s.memory, WriteWait: s.config.Gateways.WriteWait,
	})
	return x
}

// session serves one connection from its first byte to its last.
func (s *Server) session(ctx context.Context, conn *net.UnixConn) {
	x := s.newSession(conn)
	caller, err := identify(conn)
	if err == nil {
		err = caller.permit(s.allowed, "callers")
	}
	if err == nil && !s.connected(1) {
		err = fmt.Errorf("%d gateways are connected, the most that the configuration allows", s.config.Gateways.Connections)
	}
	if err != nil {
		s.log.Warn("gateway refused", "uid", caller.UID, "pid", caller.PID, "error", err)
		s.refuse(x.peer, err)
		return
	}
	defer s.connected(-1)
	x.caller = caller
	if err := x.peer.Run(ctx); err != nil {
		s.log.Info("gateway's connection broke", "uid", caller.UID, "pid", caller.PID, "error", err)
	}
}

func (x *session) handle(ctx context.Context, r *rpc.Request) (any, error) {
	if r.Method == "initialize" {
		return x.initialize(r.Params)
	}
	if x.announced() == nil {
		return nil, rpc.Errorf(rpc.CodeRefused, "%q before initialize: call that first", r.Method)
	}
	switch r.Method {
	case "execute":
		return x.execute(ctx, r)
	case "cancel":
		return x.cancel(r.Params)
	case "status":
		return x.status(r.Params)
	case "tools/describe":
		return x.describe(r.Params)
	case "approvals/list":
		return x.list(r.Params, x.ofMine)
	case "approvals/decide":
		return x.decide(r.Params, x.caller, x.signature(), x.ofMine)
	}
	return nil, rpc.Errorf(rpc.CodeUnknownMethod, "unknown method %q; there are: initialize, execute, cancel, status, tools/describe, approvals/list, approvals/decide", r.Method)
}

// decode reads params strictly.
func decode(params json.RawMessage, into any) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if err := rpc.Decode(params, into); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "params: %v", err)
	}
	return nil
}

func (x *session) initialize(params json.RawMessage) (any, error) {
	var p sandboxd.InitializeParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if p.ProtocolVersion != sandboxd.ProtocolVersion {
		e := rpc.Errorf(rpc.CodeVersion, "protocol version %.40q is not spoken here, %q is", p.ProtocolVersion, sandboxd.ProtocolVersion)
		e.Data = json.RawMessage(`{"spoken":["` + sandboxd.ProtocolVersion + `"]}`)
		return nil, e
	}
	if len(p.Client.Name) > maxToken || catalog.Unprintable(p.Client.Name) >= 0 {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "client.name: at most %d bytes, and no character that can't be seen", maxToken)
	}
	announced, err := catalog.New(p.Servers, p.Tools)
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%s", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.catalog != nil {
		return nil, rpc.Errorf(rpc.CodeRefused, "initialize was called already")
	}
	x.catalog, x.client, x.approvals = announced, p.Client.Name, p.Approvals
	r := sandboxd.InitializeResult{ProtocolVersion: sandboxd.ProtocolVersion}
	r.Server.Name, r.Server.Version = "sandboxd", x.version
	for _, name := range profile.Names(x.profiles) {
		p := x.profiles[name]
		r.Profiles = append(r.Profiles, sandboxd.ProfileInfo{
			Name: name, Description: p.Description, Limits: p.Limits, Isolation: x.proved[name],
		})
	}
	return r, nil
}

// announced is the gateway's catalog; nil before initialize.
func (x *session) announced() *catalog.Catalog {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.catalog
}

// cancel ends a run of this session, by its ULID or by the token that the gateway gave it.
func (x *session) cancel(params json.RawMessage) (any, error) {
	var p sandboxd.CancelParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if (p.Run == "") == (p.Token == "") {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, `params: give either "run" or "token"`)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for id, r := range x.runs {
		if id == p.Run || p.Token != "" && r.token == p.Token {
			r.cancel(errCancelled)
			n++
		}
	}
	return sandboxd.CancelResult{Cancelled: n}, nil
}

// activeRun is what cancel needs of a run.
type activeRun struct {
	token  string
	cancel context.CancelCauseFunc
}

// enroll makes a run known to cancel until the returned function is called.
func (x *session) enroll(id, token string, cancel context.CancelCauseFunc) func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs[id] = &activeRun{token, cancel}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.runs, id)
	}
}

// notifyWait bounds how long a notification may wait for a gateway that does not read.
const notifyWait = time.Second

func (x *session) notify(ctx context.Context, method string, params any) {
	ctx, cancel := context.WithTimeout(ctx, notifyWait)
	defer cancel()
	// A connection that fails ends the run by itself.
	_ = x.peer.Notify(ctx, method, params)
}
