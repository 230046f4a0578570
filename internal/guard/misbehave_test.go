package guard_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
)

// raw is a server that reads a request, and then does to the connection what the test says.
func raw(l net.Listener, do func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			do(conn)
		}()
	}
}

// sends is a whole HTTP answer, with lines that end in \n for short.
func sends(head, body string) func(net.Conn) {
	return func(conn net.Conn) {
		io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body)
	}
}

// answers is a right HTTP answer with that body.
func answers(body string) func(net.Conn) {
	return sends(fmt.Sprintf("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: %d", len(body)), body)
}

// drips sends text, and then the byte again and again.
func drips(text string, b string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n"))
		for err == nil {
			time.Sleep(100 * time.Millisecond)
			_, err = io.WriteString(conn, b)
		}
	}
}

const yes = `{"verdict":"allow"}`

var misbehaviours = []struct {
	name   string
	do     func(net.Conn)
	retry  bool // it is tried again, until the time is over
	reason string
}{
	{"hangs up", func(net.Conn) {}, true, "the connection ended before the answer did"},
	{"says nothing", func(conn net.Conn) { io.Copy(io.Discard, conn) }, false, "did not answer within"},
	{"half a head", func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: appl") }, true, "the connection ended before the answer did"},
	{"half a body", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 40", yes), true, "the connection ended before the answer did"},
	{"half a chunk", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nTransfer-Encoding: chunked", "13\r\n"+yes), true, "the connection ended before the answer did"},
	{"a chunk and no end", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nTransfer-Encoding: chunked", "13\r\n"+yes+"\r\n"), true, "the connection ended before the answer did"},
	{"a length that cuts the answer", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 18", yes), false, "no JSON"},
	{"two lengths", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 19\nContent-Length: 20", yes), true, ""},
	{"no HTTP", func(conn net.Conn) { io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n") }, true, "the exchange with the guard failed"},
	{"just a verdict", func(conn net.Conn) { io.WriteString(conn, yes) }, true, "the exchange with the guard failed"},
	{"drips its head", drips("HTTP/1.1 200 OK\nContent-Type: application/json\nX: ", "x"), false, "did not answer within"},
	{"drips its body", drips("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 4000\n\n"+yes, " "), false, "did not answer within"},
	{"drips early hints", drips("", "HTTP/1.1 103 Early Hints\r\n\r\n"), false, ""},
	{"drips a 503", drips("HTTP/1.1 503 Service Unavailable\nContent-Length: 900\n\n", " "), false, "did not answer within"},
	{"a huge head", sends("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 19\nX: "+strings.Repeat("x", guard.MaxHeader), yes), true, ""},
	{"a huge body", answers(yes + strings.Repeat(" ", guard.MaxAnswer)), false, "longer than 65536 bytes"},
	{"an endless body", func(conn net.Conn) {
		sends("HTTP/1.1 200 OK\nContent-Type: application/json", yes)(conn)
		for err := error(nil); err == nil; {
			_, err = conn.Write(bytes.Repeat([]byte(" "), 4096))
		}
	}, false, "longer than 65536 bytes"},
	{"switches protocols", sends("HTTP/1.1 101 Switching Protocols\nConnection: upgrade\nUpgrade: verdict", yes), false, "answered 101"},
	{"created", sends("HTTP/1.1 201 Created\nContent-Type: application/json\nContent-Length: 19", yes), false, "answered 201"},
	{"partial", sends("HTTP/1.1 206 Partial Content\nContent-Type: application/json\nContent-Length: 19", yes), false, "answered 206"},
	{"no content", sends("HTTP/1.1 204 No Content", ""), false, "answered 204"},
	{"moved", sends("HTTP/1.1 308 Permanent Redirect\nLocation: /v1/guard\nContent-Length: 0", ""), false, "redirects are not followed"},
	{"a strange status", sends("HTTP/1.1 999 Whatever\nContent-Length: 0", ""), false, "answered 999"},
	{"no type", sends("HTTP/1.1 200 OK\nContent-Length: 19", yes), false, `Content-Type is ""`},
	{"HTML", sends("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 19", yes), false, `Content-Type is "text/html"`},
	{"lines of JSON", sends("HTTP/1.1 200 OK\nContent-Type: application/jsonl\nContent-Length: 19", yes), false, `Content-Type is "application/jsonl"`},
	{"another charset", sends("HTTP/1.1 200 OK\nContent-Type: application/json; charset=utf-7\nContent-Length: 19", yes), false, `charset is "utf-7"`},
	{"gzip", func(conn net.Conn) {
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		z.Write(append([]byte(yes), bytes.Repeat([]byte(" "), 32<<20)...))
		z.Close()
		sends(fmt.Sprintf("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Encoding: gzip\nContent-Length: %d", bomb.Len()), bomb.String())(conn)
	}, false, `Content-Encoding "gzip"`},
	{"an empty answer", answers(""), false, "no JSON"},
}

// lies are bodies of right HTTP answers.
var lies = map[string]string{
	`{"verdict":"ALLOW"}`:                                    `verdict is "ALLOW"`,
	`{"verdict":"allow "}`:                                   `verdict is "allow"`,
	`{"verdict":"Allow"}`:                                    `verdict is "Allow"`,
	`{"verdict":"allow\u0000"}`:                              `verdict is "allow"`,
	`{"verdict":"аllow"}`:                                    `verdict is "аllow"`, // a Cyrillic а
	`{"verdict":""}`:                                         `verdict is ""`,
	`{"verdict":"deny"}`:                                     `verdict is "deny"`,
	`{"verdict":null}`:                                       `"verdict" is null, and no string`,
	`{"verdict":true}`:                                       `"verdict" is true, and no string`,
	`{"verdict":2}`:                                          `"verdict" is 2, and no string`,
	`{"verdict":["allow"]}`:                                  `and no string`,
	`{"verdict":{"verdict":"allow"}}`:                        `and no string`,
	`{"result":{"verdict":"allow"}}`:                         `has no member "verdict"`,
	`{}`:                                                     `has no member "verdict"`,
	`[{"verdict":"allow"}]`:                                  `where an object belongs`,
	`"allow"`:                                                `where an object belongs`,
	`allow`:                                                  `no JSON`,
	`{"verdict":"allow","verdict":"block"}`:                  `stands twice`,
	`{"verdict":"allow","verdict":"allow"}`:                  `stands twice`,
	`{"verdict":"allow","\u0076erdict":"ask"}`:               `stands twice`,
	`{"verdict":"allow","Verdict":"block"}`:                  `"Verdict" looks like another`,
	`{"VERDICT":"allow"}`:                                    `"VERDICT" looks like another`,
	`{"verdict":"allow","x":1,"x":1}`:                        `"x" stands twice`,
	`{"verdict":"allow","reason":1}`:                         `"reason" is 1, and no string`,
	`{"verdict":"allow","reason":{}}`:                        `"reason" is {}, and no string`,
	`{"verdict":"allow"}{}`:                                  `no JSON`,
	`{"verdict":"allow"} allow`:                              `no JSON`,
	`{"verdict":"allow"`:                                     `no JSON`,
	`{"verdict":"allow",}`:                                   `no JSON`,
	`{'verdict':'allow'}`:                                    `no JSON`,
	`{"verdict":"allow"} // fine`:                            `no JSON`,
	"\ufeff" + `{"verdict":"allow"}`:                         `no JSON`,
	`{"verdict":"allow","x":"` + "\xff" + `"}`:               `no JSON in UTF-8`,
	`{"verdict":"allow","reason":null` + manyMembers() + `}`: `more than 64 members`,
	strings.Repeat(`{"verdict":`, 4000) + `"allow"` + strings.Repeat(`}`, 4000): `no string`,
	`{"results":[{"verdict":"allow"}]}`:                                         `has no member "verdict"`,
}

func manyMembers() (text string) {
	for i := range 64 {
		text += fmt.Sprintf(`,"m%d":0`, i)
	}
	return text
}

// TestMisbehaves is by the bubble's clock: none gets more than the time-out, and none an allow.
func TestMisbehaves(t *testing.T) {
	all := slices.Clone(misbehaviours)
	for body, reason := range lies {
		all = append(all, struct {
			name   string
			do     func(net.Conn)
			retry  bool
			reason string
		}{"says " + body[:min(len(body), 60)], answers(body), false, reason})
	}
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				go raw(p, test.do)
				defer p.Close()
				g := at(t, p.dial)
				a := g.Check(t.Context(), call("r", "a.b"))
				if a.Verdict != guard.Ask || a.Judged || !strings.Contains(a.Reason, test.reason) {
					t.Errorf("want %q: %+v", test.reason, a)
				}
				if test.retry != (a.Attempts > 1) || a.Latency > 2*time.Second {
					t.Errorf("want tries %v: %+v", test.retry, a)
				}
				if s := g.State(); s.InFlight != 0 || s.Counts.Unavailable != 1 {
					t.Errorf("%+v", s)
				}
				g.Close()
				time.Sleep(time.Minute)
			})
		})
	}
}

// TestUnderstands is what may vary in a right answer.
func TestUnderstands(t *testing.T) {
	for body, want := range map[string]string{
		`{"verdict":"allow"}`:                  "",
		" \r\n{ \"verdict\" :\t\"allow\" } \n": "",
		`{"verdict":"allow","reason":null,"score":0.2,"tags":["a"],"x":{"a":1}}`:    "",
		`{"\u0076erdict":"\u0061llow","reason":"fine"}`:                             "fine",
		`{"verdict":"allow","reason":"two\nlines\u001b[31m, and \u202eturned"}`:     "two lines [31m, and  turned",
		`{"verdict":"allow","reason":"` + strings.Repeat("é", 600) + `"}`:           strings.Repeat("é", 512) + " …",
		`{"verdict":"allow","reason":"` + "x" + strings.Repeat("é", 600) + `"}`:     "x" + strings.Repeat("é", 511) + " …",
		`{"verdict":"allow","reason":"","inner":{"verdict":"block","verdict":"x"}}`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPipes()
			go raw(p, answers(body))
			defer p.Close()
			if a := at(t, p.dial).Check(t.Context(), call("r", "a.b")); a.Verdict != guard.Allow || !a.Judged || a.Reason != want {
				t.Errorf("%s: %+v", body, a)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		go raw(p, sends("HTTP/1.1 103 Early Hints\n\nHTTP/1.1 200 OK\nContent-Type: Application/JSON; Charset=UTF-8\nSet-Cookie: a=b\nConnection: close", yes))
		defer p.Close()
		if a := at(t, p.dial).Check(t.Context(), call("r", "a.b")); a.Verdict != guard.Allow {
			t.Errorf("%+v", a)
		}
	})
}

// TestRealSockets is a part of the above over loopback and over a Unix socket, where a reset is one.
func TestRealSockets(t *testing.T) {
	resets := func(conn net.Conn) {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	for name, do := range map[string]func(net.Conn){
		"right": answers(yes), "lies": answers(`{"verdict":"ALLOW"}`), "resets": resets, "hangs up": func(net.Conn) {},
		"half a body": sends("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 40", yes),
		"drips":       drips("HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 4000\n\n"+yes, " "),
		"silent":      func(conn net.Conn) { io.Copy(io.Discard, conn) },
	} {
		for network, listen := range map[string]func() (net.Listener, string){
			"tcp": func() (net.Listener, string) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				return l, "http://" + l.Addr().String()
			},
			"unix": func() (net.Listener, string) {
				path := filepath.Join(t.TempDir(), "guard.sock")
				l, err := net.Listen("unix", path)
				if err != nil {
					t.Fatal(err)
				}
				return l, "unix://" + path
			},
		} {
			t.Run(name+"/"+network, func(t *testing.T) {
				l, url := listen()
				defer l.Close()
				go raw(l, do)
				c := guard.Default()
				c.URL, c.Timeout = url, 300*time.Millisecond
				a := start(t, c).Check(t.Context(), call("r", "a.b"))
				if a.Judged != (name == "right") || a.Judged && a.Verdict != guard.Allow || !a.Judged && a.Verdict != guard.Ask || a.By != url {
					t.Errorf("%+v", a)
				}
				if strings.Contains(a.Reason, "127.0.0.1") || strings.Contains(a.Reason, ".sock") {
					t.Errorf("the reason has an address in it: %s", a.Reason)
				}
			})
		}
	}
}

// TestNobodyListens over real sockets: refused, and no socket at all.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for url, want := range map[string]string{
		"http://" + l.Addr().String():                           "could not be connected to: connection refused",
		"unix://" + filepath.Join(t.TempDir(), "there-is-none"): "could not be connected to: no such file or directory",
	} {
		c := guard.Default()
		c.URL, c.Timeout = url, 200*time.Millisecond
		g := start(t, c)
		if a := g.Check(t.Context(), call("r", "a.b")); a.Verdict != guard.Ask || a.Attempts < 2 || !strings.Contains(a.Reason, want) {
			t.Errorf("%+v", a)
		}
		if s := g.State(); s.Last == "" || s.Failures != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// TestNoAddressInReasons: a reason can reach a program, which need not know how the guard is reached.
func TestNoAddressInReasons(t *testing.T) {
	for _, err := range []error{
		&net.DNSError{Name: "guard.internal.example", Err: "no such host", Server: "10.0.0.53:53", IsNotFound: true},
		&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}, Err: errors.New("network is unreachable")},
		&net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}, Err: errors.New("connection reset by peer")},
		fmt.Errorf("some error about %s", "10.1.2.3"),
	} {
		synctest.Test(t, func(t *testing.T) {
			g := at(t, func(context.Context, string, string) (net.Conn, error) { return nil, err })
			a := g.Check(t.Context(), call("r", "a.b"))
			if a.Judged || strings.Contains(a.Reason, "10.") || strings.Contains(a.Reason, "internal") {
				t.Errorf("%+v", a)
			}
			if last := g.State().Last; !strings.Contains(last, err.Error()) {
				t.Errorf("operators are told %q of %q", last, err)
			}
		})
	}
}
