package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	maxHeader = 16 << 10 // bytes of an answer
	idle      = 30 * time.Second
)

// Server is how one is reached.
type Server struct {
	Address
	CA        string        // file of the only certificates that may vouch for it; empty: the system's
	Timeout   time.Duration // of a TLS handshake: a dial can outlive the request that began it
	AtOnce    int           // connections that are kept
	MaxAnswer int           // bytes
	Dial      Dialer
}

// Dialer makes connections.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Transport speaks HTTP to a server, and connects to nothing yet. Above a transport stand redirects, cookies and proxies out of the
// environment: none of them is wanted, so send by RoundTrip. An error is one of the CA's file.
func Transport(s Server) (*http.Transport, error) {
	pool, err := roots(s.CA)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if s.Socket != "" {
				network, address = "unix", s.Socket
			}
			return s.Dial(ctx, network, address)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
		TLSHandshakeTimeout:    s.Timeout,
		DisableCompression:     true, // what is read is what was sent, and no bomb
		MaxIdleConns:           s.AtOnce,
		MaxIdleConnsPerHost:    s.AtOnce,
		IdleConnTimeout:        idle,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: s.MaxAnswer,
			SendPingTimeout:           idle / 2, // else a connection that died silently takes all requests with it
			PingTimeout:               s.Timeout,
		},
	}, nil
}

// RetryAfter reads the header's two forms, seconds and a date (RFC 9110, section 10.2.3). What is neither asks for nothing.
func RetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
