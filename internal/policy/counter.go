package policy

import "sync/atomic"

// counter counts up to a bound.
type counter struct{ n atomic.Int64 }

func (c *counter) next(most int64) bool { return c.n.Load() < most && c.n.Add(1) <= most }
