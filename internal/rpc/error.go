package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Error is a JSON-RPC error object.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// The codes in use: JSON-RPC's own, and the daemon's from -32000 downwards.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeRefused        = -32000 // not an allowed caller, or not in this state
	CodeBusy           = -32001
	CodeVersion        = -32002 // no common protocol version
)

func (e *Error) Error() string { return e.Message }

func (e *Error) json() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // only Data can fail, and it was read from a message
	}
	return text
}

// Errorf makes an Error with a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var long *longLineError
	if errors.As(err, &long) {
		return &Error{Code: CodeInvalidRequest, Message: long.Error()}
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

// parseError reads the other end's error object; one that can't be read is an error all the same.
func parseError(raw json.RawMessage) *Error {
	var e Error
	if err := json.Unmarshal(raw, &e); err != nil || e.Message == "" {
		return Errorf(CodeInternal, "an error object that can't be read: %.200s", raw)
	}
	return &e
}
