package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// admin is one connected administrator.
type admin struct {
	*Server
	caller Caller
}

// Bounds of the admin socket: its peers are people and their tools, and what they ask fits one packet.
const (
	maxAdmins        = 64 // connections
	maxAdminLine     = 64 << 10
	maxAdminRequests = 8 // unanswered ones of one connection
)

// ServeAdmin accepts administrators until ctx ends, and returns when all sessions have: after Serve, whose last runs may wait for an
// approval.
func (s *Server) ServeAdmin(ctx context.Context, listener net.Listener) error {
	allowed, err := s.config.Admins.Resolve()
	if err != nil {
		return err
	}
	ctx, hangUp := context.WithCancel(ctx)
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer hangUp()
	places := make(chan struct{}, maxAdmins)
	return s.accept(ctx, listener, &sessions, func(conn *net.UnixConn) {
		a := &admin{Server: s}
		a.session(ctx, conn, allowed, places)
	})
}

// session serves one connection from its first byte to its last.
func (a *admin) session(ctx context.Context, conn *net.UnixConn, allowed config.Allowed, places chan struct{}) {
	peer := rpc.New(conn, rpc.Options{
		Handle: a.handle, MaxLine: maxAdminLine, MaxRequests: maxAdminRequests, WriteWait: a.config.Gateways.WriteWait,
	})
	caller, err := identify(conn)
	if err == nil {
		err = caller.permit(allowed, "admins")
	}
	if err == nil {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			err = fmt.Errorf("%d administrators are connected, the most that may be", cap(places))
		}
	}
	if err != nil {
		a.log.Warn("administrator refused", "uid", caller.UID, "pid", caller.PID, "error", err)
		a.refuse(peer, err)
		return
	}
	a.caller = caller
	if err := peer.Run(ctx); err != nil {
		a.log.Info("administrator's connection broke", "uid", caller.UID, "pid", caller.PID, "error", err)
	}
}

func (a *admin) handle(ctx context.Context, r *rpc.Request) (any, error) {
	all := func(string) (token string, may bool) { return "", true }
	switch r.Method {
	case "approvals/list":
		return a.list(r.Params, all)
	case "approvals/show":
		return a.show(r.Params)
	case "approvals/decide":
		return a.decide(r.Params, a.caller, a.caller.String()+", by the admin socket", all)
	case "policy/reload":
		return a.reloadPolicy(ctx, r.Params)
	case "runs/list":
		return a.listRuns(r.Params)
	case "runs/show":
		return a.showRun(r.Params)
	case "status":
		return a.status(r.Params)
	}
	return nil, rpc.Errorf(rpc.CodeUnknownMethod,
		"unknown method %q; there are: approvals/list, approvals/show, approvals/decide, policy/reload, runs/list, runs/show, status", r.Method)
}

// show is one request that waits, whole.
func (a *admin) show(params json.RawMessage) (any, error) {
	var p sandboxd.ShowParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	q, err := a.desk.Find(p.ID)
	if err != nil {
		return nil, refused(err)
	}
	return shown(q), nil
}

func (a *admin) reloadPolicy(ctx context.Context, params json.RawMessage) (any, error) {
	if err := decode(params, &struct{}{}); err != nil {
		return nil, err
	}
	by := a.caller.peer()
	if err := a.Reload(ctx, &by); err != nil {
		return nil, rpc.Errorf(rpc.CodeRefused, "%s", err)
	}
	return struct{}{}, nil
}
