package js

import "time"

// clock is the time that a program sees. Started by a run that is to be repeatable it stands still, but for two things: a
// timer that fires sets it to when that was due, and each reading moves it on, so that a loop that waits for a time ends.
// It tells nothing of how fast this machine is or a tool answers.
type clock struct {
	start  time.Time // what it shows first
	began  time.Time // in the process's time
	still  bool
	passed time.Duration // while it stands still
}

// reading is how far one reading moves a clock that stands still: more than it takes in truth, so that a loop that waits for a
// time ends no later than it would have, and too little for a hundred dates to differ.
const reading = 10 * time.Microsecond

func (c *clock) set(start time.Time, still bool) {
	c.began = time.Now()
	if start.IsZero() {
		start = c.began
	}
	c.start, c.still = start, still
}

// now reads the clock.
func (c *clock) now() time.Time {
	t := c.time()
	if c.still {
		c.passed += reading
	}
	return t
}

// time is what now would read.
func (c *clock) time() time.Time {
	if c.still {
		return c.start.Add(c.passed)
	}
	return c.start.Add(time.Since(c.began))
}

// reach moves a clock that stands still on to a time.
func (c *clock) reach(t time.Time) {
	if c.still {
		c.passed = max(c.passed, t.Sub(c.start))
	}
}
