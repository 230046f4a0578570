package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// message is a line taken apart; its values are still text.
type message struct {
	id     json.RawMessage // nil: none, or null
	method string          // empty: a response
	params json.RawMessage
	result json.RawMessage
	err    json.RawMessage
}

// parse takes a line apart. On an error the id is returned where it was read before.
func parse(text []byte) (message, error) {
	var m message
	if !utf8.Valid(text) {
		return m, errors.New("invalid UTF-8")
	}
	spoken := ""
	err := rawjson.Object(text, func(member rawjson.Member) error {
		return m.set(member, &spoken)
	})
	switch {
	case err != nil:
		return m, err
	case spoken != version:
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

func (m *message) set(member rawjson.Member, spoken *string) error {
	switch member.Key {
	case "jsonrpc":
		return text(member, spoken)
	case "id":
		return m.setID(member.Value)
	case "method":
		if err := text(member, &m.method); err != nil {
			return err
		}
		if m.method == "" || len(m.method) > maxMethod {
			return fmt.Errorf(`"method" must have 1 to %d bytes`, maxMethod)
		}
	case "params":
		m.params = member.Value
	case "result":
		m.result = member.Value
	case "error":
		m.err = member.Value
	default:
		return fmt.Errorf("unknown member %.40q", member.Key)
	}
	return nil
}

const (
	maxMethod = 64
	maxID     = 64
)

func (m *message) setID(value []byte) error {
	if bytes.Equal(value, []byte("null")) {
		return nil
	}
	if value[0] == '{' || value[0] == '[' || value[0] == 't' || value[0] == 'f' || len(value) > maxID || !json.Valid(value) {
		return fmt.Errorf(`"id" must be a number or a string of at most %d bytes`, maxID)
	}
	m.id = bytes.Clone(value) // outlives the line
	return nil
}

func text(member rawjson.Member, into *string) error {
	if json.Unmarshal(member.Value, into) != nil || member.Value[0] != '"' {
		return fmt.Errorf("%q must be a string", member.Key)
	}
	return nil
}

// parsePrefix reads what it can of a line whose end is missing: enough to tell whom to answer.
func parsePrefix(prefix []byte) message {
	var m message
	var spoken string
	// The error is certain, since the text is cut; what was set before it is what counts.
	_ = rawjson.Object(prefix, func(member rawjson.Member) error { return m.set(member, &spoken) })
	return m
}

// Decode reads params or a result strictly: an unknown member is an error, and so is one that stands twice.
func Decode(text []byte, into any) error {
	if err := rawjson.Object(text, func(rawjson.Member) error { return nil }); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
