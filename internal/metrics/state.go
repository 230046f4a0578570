package metrics

import "time"

// State is what parts of the daemon keep account of themselves, as it is when Prometheus asks.
type State struct {
	Version          string
	Running, Waiting int // runs
	Gateways         int // connected
	Pool             []Pool
	Approvals        int           // calls that wait for one
	Oldest           time.Duration // that one of them has waited
	PolicyFailing    bool          // it could not be read again
	Guard            *Guard        // nil: there is none
	Audit            *Audit        // nil: nothing is recorded
	Traces           *Traces       // nil: nothing is traced
}

// Pool is the state of one profile's workers.
type Pool struct {
	Profile     string
	Size, Ready int
	Failing     bool // the last birth failed
}

// Guard is how it goes with the guard. Counts are since the daemon's start.
type Guard struct {
	Breaker                                 string // closed, half-open or open
	Failures, InFlight                      int
	Allow, Ask, Block, Unavailable, GivenUp uint64 // checks
	Requests, Retries, Batches              uint64
}

// Audit is how it goes with the audit log. Counts are since the daemon's start.
type Audit struct {
	Failing                  bool // nothing can be written, and so each call is refused
	Events, Refused, Dropped int64
}

// Traces are counts of spans since the daemon's start.
type Traces struct{ Exported, Dropped, Failed, Rejected uint64 }
