package broker

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Quotas are what each caller may still do in this minute.
type Quotas struct {
	mu       sync.Mutex
	byCaller map[uint32]*Quota // of those who may connect: few
}

// NewQuotas returns those of callers that have done nothing.
func NewQuotas() *Quotas { return &Quotas{byCaller: make(map[uint32]*Quota)} }

// Of is the quota that all runs of a user share.
func (q *Quotas) Of(uid uint32) *Quota {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byCaller[uid] == nil {
		q.byCaller[uid] = &Quota{}
	}
	return q.byCaller[uid]
}

// Quota counts what policies limit for one caller. Each of its buckets holds what a minute gives, so that a caller that rested may do
// that much at once.
type Quota struct {
	mu              sync.Mutex
	runs, mutations bucket
}

// Run takes one run of so many a minute, or says how soon there is one; 0 is no limit.
func (q *Quota) Run(perMinute int64) (wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.runs.take(perMinute)
}

// mutation takes one call that changes something of so many a minute; 0 is no limit. A nil quota has none to give.
func (q *Quota) mutation(perMinute int64) bool {
	if perMinute == 0 {
		return true
	}
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mutations.take(perMinute) == 0
}

// bucket is a token bucket whose size is that of the policy that asks: a reload may change it.
type bucket struct {
	limiter *rate.Limiter
	most    int64
}

func (b *bucket) take(perMinute int64) (wait time.Duration) {
	if perMinute == 0 {
		return 0
	}
	each := rate.Limit(float64(perMinute) / time.Minute.Seconds())
	switch {
	case b.limiter == nil:
		b.limiter = rate.NewLimiter(each, int(perMinute))
	case b.most != perMinute:
		b.limiter.SetLimit(each)
		b.limiter.SetBurst(int(perMinute))
	}
	b.most = perMinute
	r := b.limiter.Reserve()
	if wait = r.Delay(); wait > 0 {
		r.Cancel()
	}
	return wait
}
