package audit

import (
	"os"
	"time"
)

// FailSync has the log take its fsync from a test.
func (l *Log) FailSync(sync func(*os.File) error) { l.sync = sync }

// Sync is the real one.
func Sync(f *os.File) error { return fdatasync(f) }

// Own events, for tests of the format.
var OwnEvents = []Event{created{}, rotated{}, open{}, deleted{}, repaired{}, recovered{}}

// Encode is a line's fields.
func Encode(e Event) ([]byte, error) { return encode(e) }

const (
	MaxLine    = maxLine
	MaxWaiting = maxWaiting
)

// Waiting is how many events have not been answered.
func (l *Log) Waiting() int { return len(l.room) }

// Older makes the file that is written older.
func (l *Log) Older(by time.Duration) { l.began = l.began.Add(-by) }

// Kind is an event's.
func Kind(e Event) string { return e.kind() }
