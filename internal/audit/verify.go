package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Report is what a verification found, up to where it ended.
type Report struct {
	Files int       `json:"files"`
	Lines int       `json:"lines"`
	First uint64    `json:"first"` // number of the first line
	Last  uint64    `json:"last"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Head  Hash      `json:"-"`               // of the last line
	After uint64    `json:"after,omitempty"` // lines after the head that was asked for
	Notes []Note    `json:"notes"`
}

// Note is what an auditor should know of, though the chain holds.
type Note struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

const maxNotes = 1000

// MarshalJSON writes the head as lines have it.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(struct {
		plain
		Head string `json:"head"`
	}{plain(r), r.Head.String()})
}

// Verify reads a log to its end, or to its first bad line, which is a *BrokenError. With a head, a line of that hash must be
// there. tornWait is how long a line may be being written.
func Verify(ctx context.Context, r *Reader, head *Hash, tornWait time.Duration) (Report, error) {
	v := verification{Report: Report{Notes: []Note{}}, head: head}
	waited := time.Duration(0)
	for {
		if err := ctx.Err(); err != nil {
			return v.Report, err
		}
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && r.Torn() != nil && waited < tornWait:
			time.Sleep(tornPause)
			waited += tornPause
		case errors.Is(err, io.EOF):
			return v.Report, v.end(r)
		case err != nil:
			return v.Report, err
		default:
			if err := v.take(record, r); err != nil {
				return v.Report, err
			}
			waited = 0
		}
	}
}

const tornPause = 20 * time.Millisecond

type verification struct {
	Report
	head  *Hash
	found bool
	open  bool // the daemon has started, and not stopped
	file  string

	// Of a log whose first files are not there:
	missing string // the last one of them
	told    bool   // the log says that the daemon deleted it
	begin   BrokenError
}

func (v *verification) take(r Record, from *Reader) error {
	if r.File != v.file {
		v.file = r.File
		v.Files++
		if r.Line != 1 || r.Kind != KindCreate && r.Kind != KindRotate || (r.Kind == KindCreate) != (r.Seq == 1) {
			return &BrokenError{r.File, r.Line, from.file.start, "it is not the first line of a file"}
		}
	} else if r.Kind == KindCreate || r.Kind == KindRotate {
		return &BrokenError{r.File, r.Line, from.file.start, "it is the first line of another file"}
	}
	if !json.Valid(r.Raw) {
		return &BrokenError{r.File, r.Line, from.file.start, "it is no JSON: its hash is right, so it was not the daemon that wrote it"}
	}
	if v.Lines == 0 {
		v.First, v.From = r.Seq, r.Time
	}
	v.Lines++
	v.Last, v.To, v.Head = r.Seq, r.Time, r.Hash
	if v.head != nil && *v.head == r.Hash {
		v.found, v.After = true, 0
	} else if v.found {
		v.After++
	}
	return v.look(r)
}

// look notes what is not as it should be.
func (v *verification) look(r Record) error {
	var e struct {
		deleted
		Offset   int64
		Kept     string
		Reason   string
		Since    time.Time
		Refused  int64
		Previous string
	}
	switch r.Kind {
	case KindDaemonStart:
		if v.open {
			v.note(r, "the daemon starts, and had not stopped: it was killed, or lines at the end of its time are missing")
		}
		v.open = true
		return nil
	case KindDaemonStop:
		v.open = false
		return nil
	case KindRepair, KindRecovered, KindDelete, KindRotate:
	default:
		return nil
	}
	if err := r.Decode(&e); err != nil {
		return &BrokenError{r.File, r.Line, 0, "its fields are not those of " + r.Kind}
	}
	switch r.Kind {
	case KindRepair:
		text := fmt.Sprintf("%d bytes at %d of %s were no whole lines (%s)", e.Bytes, e.Offset, e.File, e.Reason)
		if e.Kept != "" {
			text += "; they are in " + e.Kept
		}
		v.note(r, text)
	case KindRecovered:
		v.note(r, fmt.Sprintf("since %s nothing could be written, and %d events were refused: %s",
			e.Since.Format(time.RFC3339), e.Refused, e.Reason))
	case KindDelete:
		v.told = v.told || e.File == v.missing
		v.note(r, fmt.Sprintf("the daemon deleted %s, as it was told to keep no more (first line %d)", e.File, e.First))
	case KindRotate:
		if v.Lines == 1 {
			v.missing, v.begin = e.Previous, BrokenError{r.File, 1, 0,
				fmt.Sprintf("lines 1 to %d are not there, and the log does not say that the daemon deleted %s", r.Seq-1, e.Previous)}
			v.note(r, "what is before this line is not there: the file before was "+e.Previous)
		}
	}
	return nil
}

func (v *verification) note(r Record, text string) {
	if len(v.Notes) < maxNotes {
		v.Notes = append(v.Notes, Note{r.Seq, r.Time, text})
	}
}

// end is for what shows only when all was read.
func (v *verification) end(r *Reader) error {
	if torn := r.Torn(); torn != nil {
		return torn
	}
	if v.Lines == 0 {
		return &BrokenError{r.path, 1, 0, "there is no line"}
	}
	if v.missing != "" && r.path != "" && !v.told {
		return &v.begin
	}
	if v.head != nil && !v.found {
		return &BrokenError{v.file, v.Lines, 0, "no line has the hash " + v.head.String() + ": it was cut off, or changed"}
	}
	return nil
}
