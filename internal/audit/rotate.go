package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// full says why a new file is to be begun; empty: it is not.
func (l *Log) full() string {
	switch {
	case l.size >= l.config.MaxBytes:
		return "size"
	case time.Since(l.began) >= l.config.MaxAge:
		return "age"
	}
	return ""
}

// reasonDamaged is that of a rotation that leaves a file behind as it was found.
const reasonDamaged = "damaged"

// rotate ends the file and begins another one. A crash at any step leaves either the file under its own name, or no file under
// that name, or one without a whole line: Open goes on from each.
func (l *Log) rotate(reason string) error {
	if reason != reasonDamaged {
		if err := l.toDisk(l.file); err != nil {
			return err
		}
	}
	name := olderName(l.config.Path, l.first, l.began)
	to := filepath.Join(l.dir(), name)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin a new file: the name for the old one, %s, is taken (%w)", to, errors.Join(err, fs.ErrExist))
	}
	if err := os.Rename(l.config.Path, to); err != nil {
		return fmt.Errorf("begin a new file: %w", err)
	}
	l.file.Close() // all of it is on disk
	l.file, l.previous = nil, name
	if err := l.begin(reason); err != nil {
		return err
	}
	if err := l.tell(l.calls.carried()...); err != nil {
		return err
	}
	return l.prune()
}

// begin makes the file, and writes its first line.
func (l *Log) begin(reason string) error {
	f, err := openOwn(l.config.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := l.beginIn(f, reason); err != nil {
		f.Close()
		return fmt.Errorf("begin %s: %w", l.config.Path, err)
	}
	l.file = f
	return nil
}

func (l *Log) beginIn(f *os.File, reason string) error {
	if err := f.Truncate(0); err != nil { // an earlier try may have left a part of the line
		return err
	}
	if err := l.share(f); err != nil {
		return err
	}
	var e Event = created{Format: format, Key: keyID(l.key)}
	if l.at.seq > 0 {
		e = rotated{Format: format, Key: keyID(l.key), Previous: l.previous, Reason: reason}
	}
	fields, err := encode(e)
	if err != nil {
		return err
	}
	now := time.Now()
	line, at := appendLine(nil, l.at, now, e.kind(), fields)
	if _, err := f.Write(line); err != nil {
		return err
	}
	if err := l.toDisk(f); err != nil {
		return err
	}
	if err := syncDir(l.dir()); err != nil {
		return err
	}
	l.mirror.put(e, now, at)
	l.stats.events.Add(1)
	l.at, l.first, l.began = at, at.seq, now
	l.size, l.synced = int64(len(line)), int64(len(line))
	return nil
}

// share lets the group read a file, where there is one.
func (l *Log) share(f *os.File) error {
	if l.group < 0 {
		return f.Chmod(0o600)
	}
	if err := f.Chown(-1, l.group); err != nil {
		return fmt.Errorf("audit.group: %w: is the daemon's user in the group?", err)
	}
	return f.Chmod(0o640)
}

// toDisk puts a file on disk, if anything is to be there.
func (l *Log) toDisk(f *os.File) error {
	if l.config.Sync == SyncNone {
		return nil
	}
	l.stats.syncs.Add(1)
	return l.sync(f)
}

// prune deletes the oldest files, as long as there is more than Keep allows. Each is told before it goes, so that a file that is
// missing and was not told was taken by somebody else.
func (l *Log) prune() error {
	all, err := list(l.config.Path)
	if err != nil {
		return err
	}
	sizes := make([]int64, len(all))
	total := l.size
	for i, o := range all {
		if info, err := os.Lstat(o.path); err == nil {
			sizes[i] = info.Size()
			total += sizes[i]
		}
	}
	k := l.config.Keep
	for i, o := range all {
		ended := l.began // when its last line was written: before the next file was begun
		if i+1 < len(all) {
			ended = all[i+1].began
		}
		tooMany := k.Files > 0 && len(all)-i > k.Files
		tooMuch := k.Bytes > 0 && total > k.Bytes
		tooOld := k.Age > 0 && time.Since(ended) > k.Age
		if !tooMany && !tooMuch && !tooOld {
			return nil
		}
		e := deleted{File: filepath.Base(o.path), First: o.first, Bytes: sizes[i]}
		if err := l.tell(e); err != nil {
			return err
		}
		if err := os.Remove(o.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.Error = err.Error() // a file too many is no reason to refuse calls: a full disk is
			return l.tell(e)
		}
		total -= sizes[i]
	}
	return nil
}
