package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

const version = "2.0"

type request struct {
	Version string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *Error          `json:"error"`
}

// message is a line taken apart; its values are still text.
type message struct {
	version string
	id      json.RawMessage // nil: none, or null
	method  string          // empty: a response
	params  json.RawMessage
	result  json.RawMessage
	err     json.RawMessage
	unread  bool // err is ours: the answer could not be read
}

// parse takes a line apart. On an error the id is returned where it was read before.
func parse(text []byte) (message, error) {
	var m message
	err := m.read(text)
	switch {
	case err != nil:
		return m, err
	case !utf8.Valid(text):
		return m, errors.New("invalid UTF-8")
	case rawjson.Control(text) >= 0:
		return m, fmt.Errorf("a control character at byte %d", rawjson.Control(text))
	case m.version != version:
		return m, fmt.Errorf(`"jsonrpc" must be %q`, version)
	case m.method == "" && m.result == nil && m.err == nil:
		return m, errors.New(`neither "method" nor "result" nor "error"`)
	case m.method != "" && (m.result != nil || m.err != nil):
		return m, errors.New(`both a request and a response`)
	case m.result != nil && m.err != nil:
		return m, errors.New(`both "result" and "error"`)
	}
	return m, nil
}

func (m *message) read(text []byte) error {
	c := rawjson.New(text)
	if err := c.Object(func(key string) error { return m.set(c, key) }); err != nil {
		return err
	}
	return c.End()
}

// set takes the member of that key. A result that comes last, as it does from every library that writes
// members in the order of the specification, is not walked to find its end: what is read from it, is.
func (m *message) set(c *rawjson.Cursor, key string) (err error) {
	switch key {
	case "jsonrpc":
		m.version, err = text(c, len(version))
	case "id":
		err = m.setID(c)
	case "method":
		if m.method, err = text(c, maxMethod); err == nil && m.method == "" {
			err = errors.New("empty")
		}
	case "params":
		m.params, err = c.Value()
	case "result":
		if m.id != nil && m.version != "" {
			m.result, err = c.Rest("}")
		} else {
			m.result, err = c.Value()
		}
	case "error":
		m.err, err = c.Value()
	default:
		return fmt.Errorf("unknown member %.40q", key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

const (
	maxMethod = 64
	maxID     = 64
)

func (m *message) setID(c *rawjson.Cursor) error {
	value, err := c.Value()
	switch {
	case err != nil:
		return err
	case bytes.Equal(value, []byte("null")):
		return nil
	case len(value) > maxID || value[0] != '"' && value[0] != '-' && (value[0] < '0' || value[0] > '9') || !json.Valid(value):
		return fmt.Errorf("must be a number or a string of at most %d bytes", maxID)
	}
	m.id = bytes.Clone(value) // outlives the line
	return nil
}

// text takes a short string.
func text(c *rawjson.Cursor, max int) (string, error) {
	raw, err := c.AppendString(nil)
	if err == nil && len(raw) > max {
		err = fmt.Errorf("longer than %d bytes", max)
	}
	return string(raw), err
}

// parsePrefix reads what it can of a line whose end is missing: enough to tell whom to answer.
func parsePrefix(prefix []byte) message {
	var m message
	// The error is certain, since the text is cut; what was set before it is what counts.
	_ = m.read(prefix)
	return m
}
