package broker

import (
	"sync"

	"github.com/sandboxd/sandboxd/internal/evidence"
)

// trail is what evidence knows of a run's results. A nil one knows nothing.
type trail struct {
	reading sync.RWMutex // held shared by results that the program may have and that are not read yet
	one     sync.Mutex   // held while prints are used
	prints  *evidence.Trail
}

func newTrail() *trail { return &trail{prints: evidence.NewTrail()} }

// begin is called before the program gets a result, and what it returns afterwards, with what the program got: reading takes time that the
// program need not wait for. What it asks for then waits, if evidence is wanted.
func (t *trail) begin(n int) (read func([]byte)) {
	if t == nil {
		return func([]byte) {}
	}
	t.reading.RLock()
	return func(result []byte) {
		defer t.reading.RUnlock()
		t.one.Lock()
		defer t.one.Unlock()
		t.prints.Read(n, result)
	}
}

// find is what arguments carry of what was read.
func (t *trail) find(args map[string]any) []evidence.Found {
	if t == nil {
		return nil
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	return t.prints.Find(args)
}
