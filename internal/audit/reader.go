package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Reader reads a log line by line, across its files and in their order, and holds each line against the one before it.
// Its memory is bounded, whatever the files have in them.
type Reader struct {
	path string // of the log; empty: of one file alone
	last place
	any  bool   // there was a line
	file *lines // that is being read; nil: the next one is to be opened
	done uint64 // the first line of the file that was read last
	gone bool   // the file is written no more: what is left in it ends it
	none bool   // there is no file that is written
}

// NewReader reads all files of the log at path. It takes no lock: a daemon may write, rotate and delete meanwhile.
func NewReader(path string) *Reader { return &Reader{path: path} }

// NewFileReader reads one file alone, which may be one of the middle of a log.
func NewFileReader(file string) (*Reader, error) {
	l, err := openLines(file)
	if err != nil {
		return nil, err
	}
	return &Reader{file: l, gone: true}, nil
}

// SkipTo leaves out files that were full before a time.
func (r *Reader) SkipTo(since time.Time) error {
	all, err := list(r.path)
	if err != nil {
		return err
	}
	for i, o := range all {
		if i > 0 && o.began.Before(since) {
			r.done = all[i-1].first
		}
	}
	return nil
}

// SkipOlder leaves out all but the newest files, and says whether that were some.
func (r *Reader) SkipOlder(keep int) (bool, error) {
	all, err := list(r.path)
	if err != nil || len(all) <= keep {
		return false, err
	}
	r.done = all[len(all)-keep-1].first
	return true, nil
}

// A BrokenError is a line that is not what the daemon wrote there.
type BrokenError struct {
	File   string
	Line   int
	Offset int64
	Why    string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s:%d (byte %d): the chain is broken: %s", e.File, e.Line, e.Offset, e.Why)
}

// Next returns the next line. io.EOF means that there is no more for now: Next may be called again later, and goes on where
// lines are added and across rotations. After a *BrokenError it goes on with the line after that; the Record of one is
// of use only if it has a Kind.
func (r *Reader) Next() (Record, error) {
	for {
		if r.file == nil {
			if err := r.open(); err != nil {
				return Record{}, err
			}
		}
		line, err := r.file.next()
		switch {
		case err == nil:
			return r.take(line)
		case !errors.Is(err, io.EOF):
			return Record{}, err
		case !r.gone:
			if r.gone = r.rotated(); !r.gone {
				return Record{}, io.EOF
			}
			continue // it may have been written between the two looks
		case r.path == "":
			return Record{}, io.EOF
		}
		if torn := r.Torn(); torn != nil {
			r.close()
			return Record{}, torn
		}
		r.close()
	}
}

// Torn is a *BrokenError if what was read ends in a part of a line, or without the file that is written. In a log that is open
// the one may be being written, and the other being made.
func (r *Reader) Torn() error {
	if r.none {
		return &BrokenError{r.path, 0, 0, "the file that is written is not there"}
	}
	if r.file == nil || r.file.partial() == 0 {
		return nil
	}
	return r.file.broken(fmt.Sprintf("it ends after %d bytes, without a line break", r.file.partial()), 1)
}

// Close ends reading.
func (r *Reader) Close() { r.close() }

func (r *Reader) close() {
	if r.file != nil {
		r.file.file.Close()
		r.file = nil
	}
}

// take holds a line against the one before it.
func (r *Reader) take(line []byte) (Record, error) {
	f := r.file
	if line == nil {
		return Record{}, f.broken(fmt.Sprintf("it is longer than %d bytes", maxLine), 0)
	}
	record, err := parse(line)
	record.File, record.Line = f.name, f.line
	if err != nil {
		record.Kind = ""
		return record, f.broken(err.Error(), 0)
	}
	if r.any || record.Seq == 1 {
		err = record.continues(r.last)
	}
	if f.line == 1 && r.done < record.Seq {
		r.done = record.Seq
	}
	r.last, r.any = record.place(), true
	if err != nil {
		return record, f.broken(err.Error(), 0)
	}
	return record, nil
}

// rotated says whether the file that is being read is not the one any more that is written.
func (r *Reader) rotated() bool {
	mine, err := r.file.file.Stat()
	if err != nil {
		return true
	}
	current, err := os.Stat(r.path)
	return err != nil || !os.SameFile(mine, current)
}

// open opens the file after the one that was read last.
func (r *Reader) open() error {
	for range maxTries {
		all, err := list(r.path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(o older) bool { return o.first > r.done })
		path := r.path
		if r.gone = i >= 0; r.gone {
			path = all[i].path
		}
		file, err := openLines(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && r.gone:
			continue // deleted, as the oldest are
		case errors.Is(err, fs.ErrNotExist) && len(all) == 0 && !r.any:
			return fmt.Errorf("read the audit log: %w", err)
		case errors.Is(err, fs.ErrNotExist):
			r.none = true // between two steps of a rotation, or somebody took it
			return io.EOF
		case err != nil:
			return err
		}
		r.file, r.none = file, false
		if r.gone {
			r.done = all[i].first
			return nil
		}
		// Between the list and the opening there may have been a rotation.
		if again, err := list(r.path); err == nil && newest(again).first == newest(all).first {
			return nil
		}
		r.close()
	}
	return fmt.Errorf("read the audit log: files come and go faster than they can be opened")
}

const maxTries = 100

// lines reads a file line by line, and can go on when it has grown.
type lines struct {
	file   *os.File
	name   string
	line   int   // number of the last one
	start  int64 // offset of the last one
	offset int64 // after the last one
	buffer []byte
	from   int  // in buffer: what was not returned
	skip   bool // the rest of a line that is too long
}

func openLines(path string) (*lines, error) {
	// Not blocking, as something else than a file may have the name.
	f, err := os.OpenFile(path, os.O_RDONLY|oNonblock, 0)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("read the audit log: %s is no regular file", path)
	}
	return &lines{file: f, name: path}, nil
}

// next returns a line without its break, which is valid until the next call; nil for one that is too long.
func (l *lines) next() ([]byte, error) {
	searched := l.from
	for {
		if i := bytes.IndexByte(l.buffer[searched:], '\n'); i >= 0 {
			line := l.buffer[l.from : searched+i]
			l.from = searched + i + 1
			l.line++
			l.start, l.offset = l.offset, l.offset+int64(len(line))+1
			if l.skip || len(line) > maxLine {
				l.skip, line = false, nil
			}
			return line, nil
		}
		if len(l.buffer)-l.from > maxLine { // it can only be skipped
			l.offset += int64(len(l.buffer) - l.from)
			l.buffer, l.skip = l.buffer[:l.from], true
		}
		l.buffer, l.from = append(l.buffer[:0], l.buffer[l.from:]...), 0
		searched = len(l.buffer)
		l.buffer = slices.Grow(l.buffer, readSize)
		n, err := l.file.Read(l.buffer[searched : searched+readSize])
		l.buffer = l.buffer[:searched+n]
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

const readSize = 64 << 10

// partial is how much there is after the last line break.
func (l *lines) partial() int { return len(l.buffer) - l.from }

// broken is about the last line, or one after it.
func (l *lines) broken(why string, ahead int) error {
	at := l.start
	if ahead > 0 {
		at = l.offset
	}
	return &BrokenError{l.name, l.line + ahead, at, why}
}
