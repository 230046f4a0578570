package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// overHTTP uses the SDK's transport, with the configured headers and the tap below it. Where changes are followed, it listens for them.
// Paths, queries and users of URLs can be secrets, and errors quote URLs, to programs and logs: what is above the tap knows the host alone.
func (s *session) overHTTP(follow bool) mcp.Transport {
	s.http = http.DefaultTransport.(*http.Transport).Clone()
	home, _ := url.Parse(s.server.URL) // ParseConfig has parsed it
	return &mcp.StreamableClientTransport{
		Endpoint:             front(home),
		HTTPClient:           &http.Client{Transport: &tapped{base: s.http, home: home, headers: s.server.Headers}},
		DisableStandaloneSSE: !follow,
	}
}

// front stands for a URL where others see it.
func front(u *url.URL) string { return u.Scheme + "://" + u.Host + "/" }

// tapped is an http.RoundTripper that takes results of tapped calls out of the bodies.
type tapped struct {
	base    http.RoundTripper
	home    *url.URL
	headers map[string]string
}

func (t *tapped) RoundTrip(request *http.Request) (*http.Response, error) {
	// The headers hold credentials: they don't follow a redirect to another host.
	if request.URL.Scheme == t.home.Scheme && request.URL.Host == t.home.Host {
		request = request.Clone(request.Context())
		if request.URL.String() == front(t.home) {
			t.goHome(request)
		}
		for name, value := range t.headers {
			request.Header.Set(name, value)
		}
	}
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	t.absolute(response)
	found := tapOf(request.Context())
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && found != nil:
		response.Body = &eventTap{tap: found, body: response.Body, in: newLines(response.Body)}
	case kind == "application/json":
		return response, tapBody(found, response)
	case kind != "text/event-stream": // whose events the SDK bounds; it reads any other body to its end
		response.Body = bounded{io.LimitReader(response.Body, maxMessage), response.Body}
	}
	return response, nil
}

// goHome gives a request the URL that it is for.
func (t *tapped) goHome(request *http.Request) {
	address := *t.home
	address.User = nil
	request.URL = &address
	if user := t.home.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
}

// absolute makes the target of a redirect one that does not depend on where it was answered: above, that is another URL.
func (t *tapped) absolute(response *http.Response) {
	if to, err := response.Location(); err == nil {
		response.Header.Set("Location", to.String())
	}
}

// bounded is a body of which only so much is read.
type bounded struct {
	io.Reader
	io.Closer
}

// tapBody bounds a JSON body, which the SDK would read to its end, and takes the result from it.
func tapBody(found *tap, response *http.Response) error {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage+1))
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return fmt.Errorf("server sent a message of more than %d bytes", maxMessage)
	}
	if found != nil {
		body = found.message(body)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	return nil
}

// message returns the message for the SDK, without its result if it had one. All that comes in answer to a tapped
// POST is for its one call, so the id needs no look.
func (t *tap) message(message []byte) []byte {
	id, result, ok := splitResponse(message)
	if !ok {
		return message
	}
	short, err := json.Marshal(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": id, "result": t.result(result)})
	if err != nil {
		return message
	}
	return short
}

// eventTap takes the result from a stream of server-sent events. One whose data is spread over several lines passes
// whole: the SDK decodes it then.
type eventTap struct {
	tap  *tap
	body io.Closer
	in   *lines

	rest []byte // of the line that is being read
	err  error  // after rest
}

func (e *eventTap) Close() error { return e.body.Close() }

func (e *eventTap) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.rest, e.err = e.in.next()
		if data, found := bytes.CutPrefix(e.rest, []byte("data:")); found {
			e.rest = append([]byte("data: "), append(e.tap.message(bytes.TrimSpace(data)), '\n')...)
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}
