package sandboxd

import "github.com/sandboxd/sandboxd/internal/rpc"

// RefusedError is a request that the daemon did not take. Its Code is one of those below.
type RefusedError = rpc.Error

// The codes of a RefusedError (docs/protocol.md).
const (
	CodeParse          = rpc.CodeParse
	CodeInvalidRequest = rpc.CodeInvalidRequest // a line is too long
	CodeUnknownMethod  = rpc.CodeUnknownMethod
	CodeInvalidParams  = rpc.CodeInvalidParams
	CodeInternal       = rpc.CodeInternal
	CodeRefused        = rpc.CodeRefused // not an allowed caller, or not in this state
	CodeBusy           = rpc.CodeBusy    // too many unanswered requests
	CodeVersion        = rpc.CodeVersion // the protocol version is not spoken
)

// ClosedError says that the connection ended before there was an answer.
type ClosedError struct {
	// Sent is whether the daemon may have got the request. If it is true of an execute, calls of the program may have been made.
	Sent    bool
	Refusal *RefusedError // why the daemon hung up, if it said so
}

func (e *ClosedError) Error() string {
	if e.Refusal != nil {
		return e.Refusal.Error()
	}
	return rpc.ErrClosed.Error()
}

// Unwrap lets errors.As find the refusal.
func (e *ClosedError) Unwrap() error {
	if e.Refusal == nil {
		return nil
	}
	return e.Refusal
}
