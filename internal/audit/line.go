package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A line is
//
//	{"seq":7,"time":"…","prev":"…","event":"…", the event's own fields ,"hash":"…"}
//
// hash is the SHA-256 of all before `,"hash"`, and prev the hash of the line before: the first says that a line is
// whole, the second that it is in its place.
const (
	format  = 1
	maxLine = 512 << 10 // what the bounds of event.go come to when each byte is escaped is less

	timeLayout = "2006-01-02T15:04:05.000000000Z"
	hashMark   = `,"hash":"`
	tailLength = len(hashMark) + 2*sha256.Size + len(`"}`)
)

// Hash is the hash of a line.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads a hash as lines have it.
func ParseHash(text string) (h Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || copy(h[:], raw) != len(h) || len(raw) != len(h) {
		return h, fmt.Errorf("%q is no hash: that has %d hex digits", text, 2*len(h))
	}
	return h, nil
}

// place is where in a chain the last line stands: the next one continues it. The zero value is the beginning.
type place struct {
	seq  uint64
	hash Hash
}

// encode writes the fields of an event without their braces, so that they can be put into a line.
func encode(e Event) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e.bounded()); err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.kind(), err)
	}
	fields := escape(b.Bytes()[1 : b.Len()-2]) // {…}\n
	if len(fields) > maxLine-1024 {
		return nil, fmt.Errorf("encode %s: %d bytes do not fit a line", e.kind(), len(fields))
	}
	return fields, nil
}

// escape keeps characters that can't be seen, or that turn text around, out of a log: in JSON they stand in strings only.
func escape(text []byte) []byte {
	clean := true
	for _, c := range text {
		clean = clean && c < 0x7f
	}
	if clean {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < 0x7f, r != utf8.RuneError && unicode.IsPrint(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// appendHead writes what each line begins with.
func appendHead(dst []byte, seq uint64, at time.Time, prev Hash, kind string) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"time":"`...)
	dst = at.UTC().AppendFormat(dst, timeLayout)
	dst = append(dst, `","prev":"`...)
	dst = hex.AppendEncode(dst, prev[:])
	dst = append(dst, `","event":"`...)
	dst = append(dst, kind...)
	return append(dst, '"')
}

// appendLine writes the line after a place, with its line break, and returns its own.
func appendLine(dst []byte, after place, at time.Time, kind string, fields []byte) ([]byte, place) {
	start := len(dst)
	dst = appendHead(dst, after.seq+1, at, after.hash, kind)
	if len(fields) > 0 {
		dst = append(dst, ',')
		dst = append(dst, fields...)
	}
	sum := sha256.Sum256(dst[start:])
	dst = append(dst, hashMark...)
	dst = hex.AppendEncode(dst, sum[:])
	return append(dst, '"', '}', '\n'), place{after.seq + 1, sum}
}

// Record is one line of a log.
type Record struct {
	Seq  uint64
	Time time.Time
	Prev Hash
	Kind string
	Hash Hash
	Raw  []byte // the line without its break; the reader's, until its next line

	File string
	Line int // in it, from 1

	fields []byte // of the event, in Raw
}

// Decode reads the event's fields into a struct of this package, or one with some of its fields.
func (r Record) Decode(into any) error {
	if err := json.Unmarshal(r.Raw, into); err != nil {
		return fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
	}
	return nil
}

// continues says whether the line is the one after a place.
func (r Record) continues(after place) error {
	switch {
	case r.Seq != after.seq+1:
		return fmt.Errorf("it is number %d, and should be %d: lines were dropped, inserted or moved", r.Seq, after.seq+1)
	case r.Prev != after.hash:
		return fmt.Errorf("it does not continue the line before, whose hash is %s", after.hash)
	}
	return nil
}

func (r Record) place() place { return place{r.Seq, r.Hash} }

// parse reads a line, and only as this package writes it: it is whole, and nothing in it was changed. That what is between
// its beginning and its hash is JSON is not looked at.
func parse(line []byte) (Record, error) {
	r := Record{Raw: line}
	if len(line) > maxLine || len(line) < tailLength {
		return r, errors.New("it has not the form of a line")
	}
	body, tail := line[:len(line)-tailLength], line[len(line)-tailLength:]
	r.Hash = sha256.Sum256(body)
	want := append(hex.AppendEncode(append(make([]byte, 0, tailLength), hashMark...), r.Hash[:]), '"', '}')
	if !bytes.Equal(tail, want) {
		return r, errors.New("it was changed, or is not whole: its hash is not that of what it says")
	}
	return r, r.head(body)
}

// head reads the beginning.
func (r *Record) head(body []byte) error {
	body, begins := bytes.CutPrefix(body, []byte(`{"seq":`))
	seq, body, hasSeq := bytes.Cut(body, []byte(`,"time":"`))
	at, body, hasTime := bytes.Cut(body, []byte(`","prev":"`))
	prev, body, hasPrev := bytes.Cut(body, []byte(`","event":"`))
	kind, fields, hasKind := bytes.Cut(body, []byte(`"`))
	if !begins || !hasSeq || !hasTime || !hasPrev || !hasKind || len(prev) != hex.EncodedLen(len(r.Prev)) {
		return errors.New("it does not begin as a line does")
	}
	var errs [3]error
	r.Seq, errs[0] = strconv.ParseUint(string(seq), 10, 64)
	r.Time, errs[1] = time.Parse(time.RFC3339Nano, string(at))
	_, errs[2] = hex.Decode(r.Prev[:], prev)
	r.Kind, r.fields = string(kind), fields
	return errors.Join(errs[:]...)
}

// call reads which call the line is about, as the events of calls begin.
func (r Record) call() (run string, n int, ok bool) {
	fields, begins := bytes.CutPrefix(r.fields, []byte(`,"run":"`))
	quoted, fields, hasRun := bytes.Cut(fields, []byte(`","n":`))
	number, _, _ := bytes.Cut(fields, []byte(`,`))
	n, err := strconv.Atoi(string(number))
	if !begins || !hasRun || err != nil || bytes.ContainsAny(quoted, `"\\`) {
		return "", 0, false
	}
	return string(quoted), n, true
}
