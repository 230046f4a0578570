package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// open finds the end of the log, mends it, and tells of what it found.
func (l *Log) open() error {
	dir, err := os.Open(l.dir())
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := own(dir); err != nil {
		return fmt.Errorf("%s: %w", l.dir(), err)
	}
	if l.lock, l.key, err = lock(KeyPath(l.config.Path)); err != nil {
		return err
	}
	if err := l.look(); err != nil {
		return err
	}
	found, err := l.attach()
	if err != nil {
		return err
	}
	if err := l.tell(found...); err != nil {
		return err
	}
	if err := l.keep(found); err != nil {
		return err
	}
	for part := range slices.Chunk(l.calls.unknown(), maxWaiting) {
		if err := l.tell(part...); err != nil {
			return err
		}
	}
	return nil
}

// look reads the newest of the older files: the log goes on from its end where a crash left no file after it.
func (l *Log) look() error {
	all, err := list(l.config.Path)
	if err != nil || len(all) == 0 {
		return err
	}
	path := newest(all).path
	f, err := openOwn(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := scan(f, path, l.calls.take)
	l.at, l.previous = found.last, filepath.Base(path)
	return err
}

// attach takes the file that is to be written, or begins it, and returns what there is to tell of its state.
func (l *Log) attach() ([]Event, error) {
	f, err := openOwn(l.config.Path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		told, err := l.torn()
		if err != nil {
			return nil, err
		}
		return told, l.begin("the file was missing")
	}
	if err != nil {
		return nil, err
	}
	l.file = f
	found, err := scan(f, l.config.Path, l.calls.take)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if found.lines > 0 {
		l.at, l.first, l.began = found.last, found.first, found.began
	}
	l.size, l.synced = found.good, found.good
	if found.damaged { // whole lines after others that are not: killing a daemon does not do that
		damage := repaired{File: filepath.Base(l.config.Path), Offset: found.good, Bytes: info.Size() - found.good, Reason: found.why.Error()}
		return []Event{damage}, l.rotate(reasonDamaged)
	}
	if info.Size() > found.good {
		if err := l.cutTorn(f, found, info.Size()); err != nil {
			return nil, err
		}
	}
	told, err := l.torn()
	if err != nil {
		return nil, err
	}
	if found.lines == 0 {
		f.Close()
		l.file = nil
		return told, l.begin("the file was empty")
	}
	if err := l.share(f); err != nil {
		return nil, err
	}
	if err := l.toDisk(f); err != nil { // lines that were written before a crash, and not synced
		return nil, err
	}
	if found.key != keyID(l.key) {
		return told, l.rotate("another key")
	}
	return told, nil
}

// The bytes of a torn line are kept: first under one name, so that a crash can't make that untold, then, when the log tells of
// them, under another.
func (l *Log) tornPath() string {
	stem, _ := split(l.config.Path)
	return filepath.Join(l.dir(), stem+".torn")
}

// cutTorn moves what is after the last whole line out of the file.
func (l *Log) cutTorn(f *os.File, found scanned, size int64) error {
	if found.lines == 0 {
		start := make([]byte, min(size, int64(len(lineStart))))
		if _, err := f.ReadAt(start, 0); err != nil {
			return err
		}
		if !bytes.HasPrefix(lineStart, start) && len(bytes.Trim(start, "\x00")) > 0 {
			return fmt.Errorf("%s is no audit log: move it away, or name another file in audit.path", l.config.Path)
		}
	}
	aside, err := openOwn(l.tornPath(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer aside.Close()
	if _, err := io.Copy(aside, io.NewSectionReader(f, found.good, size-found.good)); err != nil {
		return fmt.Errorf("keep a torn line: %w", err)
	}
	if err := errors.Join(aside.Sync(), syncDir(l.dir())); err != nil {
		return fmt.Errorf("keep a torn line: %w", err)
	}
	if err := f.Truncate(found.good); err != nil {
		return fmt.Errorf("cut a torn line: %w", err)
	}
	return f.Sync()
}

var lineStart = []byte(`{"seq":`)

// torn tells of a torn line that was cut, at this start or at one that did not come to telling.
func (l *Log) torn() ([]Event, error) {
	f, err := openOwn(l.tornPath(), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	stem, ext := split(l.tornPath())
	e := repaired{
		File: filepath.Base(l.config.Path), Offset: l.size, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil)),
		Kept: fmt.Sprintf("%s-%0*d%s", stem, seqDigits, l.at.seq, ext), Reason: "a line was not whole",
	}
	if kept, err := filepath.Glob(filepath.Join(l.dir(), stem+"-*"+ext)); err != nil || len(kept) >= maxTorn {
		e.Kept = ""
		return []Event{e}, os.Remove(l.tornPath())
	}
	return []Event{e}, nil
}

const maxTorn = 64 // files of them

// keep gives the bytes of a torn line the name under which the log has told of them.
func (l *Log) keep(told []Event) error {
	for _, e := range told {
		if r := e.(repaired); r.Kept != "" {
			if err := os.Rename(l.tornPath(), filepath.Join(l.dir(), r.Kept)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanned is what a file has.
type scanned struct {
	lines   int   // whole ones
	good    int64 // bytes of those before the first that is not right
	at      place // of the last of them
	why     error // what is not right there
	damaged bool  // there are whole lines after it
	last    place // of the last whole line, wherever it is

	first uint64 // line
	began time.Time
	key   string
}

// scan reads a file to its end. Each whole line is given to each, if that is not nil.
func scan(f *os.File, path string, each func(Record)) (scanned, error) {
	var s scanned
	all := &lines{file: f, name: path}
	for {
		line, err := all.next()
		if errors.Is(err, io.EOF) {
			if n := all.partial(); n > 0 && s.why == nil {
				s.why = fmt.Errorf("%d bytes without a line break", n)
			}
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("read %s: %w", path, err)
		}
		s.take(line, all.offset, each)
	}
}

func (s *scanned) take(line []byte, end int64, each func(Record)) {
	r, why := parse(line)
	whole := why == nil
	if whole && s.lines > 0 {
		why = r.continues(s.last)
	}
	if s.why == nil {
		s.why = why
	}
	if !whole {
		return
	}
	if s.lines++; s.lines == 1 {
		s.first, s.began, s.key = r.Seq, r.Time, r.key()
	}
	s.last = r.place()
	s.damaged = s.why != nil
	if !s.damaged {
		s.good, s.at = end, s.last
	}
	if each != nil {
		each(r)
	}
}

// key names the key of a file, by its first line.
func (r Record) key() string {
	var e rotated
	if r.Decode(&e) != nil {
		return ""
	}
	return e.Key
}
