package guard_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// authority signs certificates for servers.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	path string // its certificate, in PEM
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return authority{key, cert, path}
}

// certificate is for a server at 127.0.0.1, changed as the test wants.
func (a authority) certificate(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	asIs := func(*x509.Certificate) {}
	const untrusted = "the guard's certificate is not to be trusted"
	for _, test := range []struct {
		name   string
		signer authority
		change func(*x509.Certificate)
		config *tls.Config
		http2  bool
		ca     string
		want   guard.Verdict
		reason string
	}{
		{"http/2", ours, asIs, &tls.Config{}, true, ours.path, guard.Allow, ""},
		{"http/1.1", ours, asIs, &tls.Config{}, false, ours.path, guard.Allow, ""},
		{"TLS 1.2", ours, asIs, &tls.Config{MaxVersion: tls.VersionTLS12}, true, ours.path, guard.Allow, ""},
		{"TLS 1.1", ours, asIs, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false, ours.path, guard.Ask, "the connection to the guard broke"},
		{"another authority", theirs, asIs, &tls.Config{}, true, ours.path, guard.Ask, untrusted},
		{"unknown to the system", ours, asIs, &tls.Config{}, true, "", guard.Ask, untrusted},
		{"another name", ours, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"guard.example"} }, &tls.Config{}, true, ours.path, guard.Ask, untrusted},
		{"expired", ours, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, &tls.Config{}, true, ours.path, guard.Ask, untrusted},
		{"not valid yet", ours, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }, &tls.Config{}, true, ours.path, guard.Ask, untrusted},
		{"not for servers", ours, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, &tls.Config{}, true, ours.path, guard.Ask, untrusted},
	} {
		t.Run(test.name, func(t *testing.T) {
			var major atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				major.Store(int32(r.ProtoMajor))
				writeJSON(w, yes)
			}))
			server.TLS = test.config.Clone()
			server.TLS.Certificates = []tls.Certificate{test.signer.certificate(t, test.change)}
			server.EnableHTTP2 = test.http2
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			defer server.Close()
			c := guard.Default()
			c.URL, c.CA = server.URL, test.ca
			a := start(t, c).Check(t.Context(), call("r", "a.b"))
			if a.Verdict != test.want || a.Judged != (test.want == guard.Allow) || a.Attempts != 1 || !strings.Contains(a.Reason, test.reason) {
				t.Errorf("%+v", a)
			}
			if a.Judged && (major.Load() == 2) != test.http2 {
				t.Errorf("by HTTP/%d", major.Load())
			}
		})
	}
}

// TestNoTLSThere is a server that speaks plain HTTP where TLS was configured.
func TestNoTLSThere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeJSON(w, yes) }))
	defer server.Close()
	c := guard.Default()
	c.URL = "https" + strings.TrimPrefix(server.URL, "http")
	if a := start(t, c).Check(t.Context(), call("r", "a.b")); a.Judged || a.Attempts != 1 {
		t.Errorf("%+v", a)
	}
}

// TestHTTP2Misbehaves: streams that are reset are tried again, those that hang end by the time, and the next one is fine.
func TestHTTP2Misbehaves(t *testing.T) {
	ca := newAuthority(t)
	var n atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 3:
			<-r.Context().Done()
		case 4:
			w.Header().Set("X", strings.Repeat("x", 2*guard.MaxHeader))
			writeJSON(w, yes)
		default:
			writeJSON(w, yes)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.certificate(t, func(*x509.Certificate) {})}}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	c := guard.Default()
	c.URL, c.CA, c.Timeout = server.URL, ca.path, 500*time.Millisecond
	g := start(t, c)
	for i, want := range []struct {
		judged   bool
		attempts int
	}{{true, 2}, {false, 1}, {true, 2}, {true, 1}} {
		if a := g.Check(t.Context(), call("r", "a.b")); a.Judged != want.judged || a.Attempts != want.attempts {
			t.Errorf("check %d: %+v, want %+v", i, a, want)
		}
	}
}
