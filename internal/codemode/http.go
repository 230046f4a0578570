package codemode

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/netutil"
)

// Path is where a server is found over HTTP.
const Path = "/mcp"

// Bounds on what is served over HTTP. A connection is held by each program that runs, and by each client that listens.
const (
	maxConnections = 128
	maxBody        = 4 << 20 // bytes of a request: a program, and what JSON makes of it
	maxHeader      = 16 << 10
	headerWait     = 5 * time.Second
	bodyWait       = 10 * time.Second
	lastWait       = time.Second // for the body of a request that has been refused
	idleWait       = 2 * time.Minute
	sessionWait    = 30 * time.Minute // without a request
	endWait        = 2 * time.Second  // for answers that are being written when all ends
)

// Listen listens for ServeHTTP at a loopback address with a port; 0 takes one that is free.
func Listen(addr string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsLoopback() || at.Addr().Zone() != "" {
		return nil, fmt.Errorf("%q is no loopback address with a port, such as 127.0.0.1:8321: others on the network must not reach what runs programs", addr)
	}
	return net.Listen("tcp", at.String())
}

// ServeHTTP serves clients over Streamable HTTP, at what Listen returned, until ctx ends; then all programs have ended too. Clients bear
// the token.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Logger: s.options.Log, SessionTimeout: sessionWait, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, inner)
	web := &http.Server{
		Handler: newDoor(l.Addr(), token, mux), ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.cancel()
		last, cancel := context.WithTimeout(context.Background(), endWait)
		defer cancel()
		if web.Shutdown(last) != nil {
			_ = web.Close() // streams of clients that listen, which have no end of their own
		}
	})
	err := web.Serve(netutil.LimitListener(l, maxConnections))
	if !stop() {
		<-stopped
	}
	s.drain()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// door lets requests through that bear the token, were sent to this server by the name that it goes by, and by no page of another site:
// a browser sends such requests for a page whose name is made to mean this machine (DNS rebinding), and says so in Host or Origin.
type door struct {
	hosts []string
	token [sha256.Size]byte
	next  http.Handler
}

func newDoor(at net.Addr, token string, next http.Handler) *door {
	port := strconv.Itoa(at.(*net.TCPAddr).Port)
	return &door{[]string{at.String(), net.JoinHostPort("localhost", port)}, sha256.Sum256([]byte(token)), next}
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origins := r.Header.Values("Origin")
	switch {
	case !slices.Contains(d.hosts, r.Host):
		refuse(w, http.StatusForbidden, fmt.Sprintf("Host must be %s", strings.Join(d.hosts, " or ")))
	case len(origins) > 1 || len(origins) == 1 && !d.ours(origins[0]):
		refuse(w, http.StatusForbidden, "Origin is another site")
	case !d.bears(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "Authorization must be: Bearer, and the token that this server was started with")
	default:
		d.enter(w, r)
	}
}

// refuse answers, and closes the connection: net/http reads what is left of a body first, for as long as it may.
func refuse(w http.ResponseWriter, status int, why string) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lastWait)) // it can't fail with HTTP/1 over TCP
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

// enter hands a request on when its body has been read: after that it may take as long as its program does.
func (d *door) enter(w http.ResponseWriter, r *http.Request) {
	wait := http.NewResponseController(w)
	_ = wait.SetReadDeadline(time.Now().Add(bodyWait))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody))
		return
	case err != nil:
		refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the body has not come whole within %v", bodyWait))
		return
	}
	_ = wait.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.next.ServeHTTP(w, r)
}

func (d *door) ours(origin string) bool {
	host, found := strings.CutPrefix(origin, "http://")
	return found && slices.Contains(d.hosts, host)
}

// bears compares hashes, which have one length whatever the texts have, in a time that tells nothing.
func (d *door) bears(authorization []string) bool {
	if len(authorization) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	hash := sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], d.token[:]) == 1
}
