package jail

import (
	"runtime"
	"sync"
	"time"
)

// spareThreads is how many threads lie idle when the filter forbids to start more. With GOMAXPROCS(1) one thread
// runs Go code, and up to three can be blocked: in reads, in writes, in writes to stderr. The rest is for the
// moments in which a thread is between work and idleness: one that is needed then would be cloned, and the
// worker killed for it. With three, that happened to one worker in 300 on a starved machine (tests/hostile,
// TestStarvedMachine); with six, once in a day of tests on a machine with nine times as much to do as it could.
const spareThreads = 8

// settle is how long all threads get to become idle, several times over: each is a turn of the scheduler.
const settle = 20 * time.Microsecond

// startThreads makes the runtime start all threads that it will ever need: the template thread,
// too, which the first LockOSThread of a process clones. They are idle when it returns.
func (e *entry) startThreads() error {
	var meet, left sync.WaitGroup
	meet.Add(spareThreads)
	for range spareThreads {
		left.Go(func() {
			runtime.LockOSThread()
			meet.Done()
			meet.Wait() // with all others: each has a thread of its own
			runtime.UnlockOSThread()
		})
	}
	left.Wait()
	for range 3 {
		time.Sleep(settle)
	}
	return nil
}
