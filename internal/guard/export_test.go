package guard

import (
	"context"
	"net"
)

// NewOver is New with a network of the test's own.
func NewOver(c Config, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*Guard, error) {
	return over(c, dial)
}

const (
	MaxAnswer      = maxAnswer
	MaxBatchAnswer = maxBatchAnswer
	MaxHeader      = 16 << 10 // of internal/remote
	MaxAbout       = maxAbout
	NoBatchFor     = noBatchFor
	Window         = window
)

// Inert is inert.
var Inert = inert

// ReadAs is what each reader makes of a text: the first verdict that a batch of n has.
func ReadAs(reader string, text []byte, n int) (Verdict, string, error) {
	var r ruling
	switch reader {
	case "single":
		r = readVerdict(text)
	case "chat":
		r = readChat(text)
	case "batch":
		rulings, err := readBatch(text, n)
		if err != nil {
			return Block, "", err
		}
		r = rulings[0]
	}
	return r.verdict, r.reason, r.err
}
