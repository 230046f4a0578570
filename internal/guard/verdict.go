package guard

import (
	"strings"
	"time"
	"unicode"

	"github.com/sandboxd/sandboxd/internal/clip"
)

// Verdict is what should become of a call. The zero value blocks it.
type Verdict uint8

const (
	Block Verdict = iota
	Ask           // a person
	Allow
)

var words = [...]string{Block: "block", Ask: "ask", Allow: "allow"}

func (v Verdict) String() string {
	if int(v) < len(words) {
		return words[v]
	}
	return words[Block]
}

// Answer is the outcome of a check, for the broker, the audit and people. The zero value blocks.
type Answer struct {
	Verdict  Verdict
	Judged   bool          // the guard said so; if not, it is Config.OnUnavailable
	Reason   string        // the guard's own words, or none; or why there is no verdict. One bounded line, without address or key
	By       string        // who was asked: the address without secrets, and the model
	Attempts int           // requests that were made for it
	Together int           // checks that the last of them carried
	Latency  time.Duration // waiting and retries included
}

// ruling is what a judge said on one check, or why that is no verdict.
type ruling struct {
	verdict  Verdict
	reason   string
	err      error
	attempts int
	together int
}

// maxReason bounds the words of others that reach a log, a terminal or a program.
const maxReason = 1 << 10

// printable is text on one line with nothing in it that a terminal or a reader could take for something else.
func printable(text string, most int) string {
	cut := len(text) > most
	text = clip.To(text, most)
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text))
	if cut {
		text += " …"
	}
	return text
}
