package jail

import (
	"errors"
	"runtime"
	"sync"
)

// spareThreads is how many threads wait for work when the filter forbids clone. With GOMAXPROCS(1)
// one thread runs Go code, and up to three can be blocked: in reads, in writes, in writes to stderr.
const spareThreads = 3

// spares are goroutines that hold a thread each, until they are told to try something on it. One
// fewer than the spare threads, or the runtime would clone one as soon as a goroutine blocks.
type spares struct {
	held int
	try  chan func() error
	errs chan error
}

// startThreads makes the runtime start all threads that it will ever need: the template thread,
// too, which the first LockOSThread of a process clones.
func (e *entry) startThreads() error {
	s := &spares{spareThreads - 1, make(chan func() error), make(chan error)}
	var meet sync.WaitGroup
	meet.Add(spareThreads)
	for i := range spareThreads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			meet.Done()
			if i < s.held {
				s.errs <- (<-s.try)()
			} else {
				meet.Wait()
				s.errs <- nil
			}
		}()
	}
	e.spares = s
	return <-s.errs
}

// release runs f on each thread that is held, and gives them back to the runtime.
func (s *spares) release(f func() error) error {
	for range s.held {
		s.try <- f
	}
	var errs []error
	for range s.held {
		errs = append(errs, <-s.errs)
	}
	return errors.Join(errs...)
}
