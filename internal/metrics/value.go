package metrics

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"
	"time"
)

// label is the name of a label, and all values that it can have.
type label struct {
	name   string
	values []string
}

// other is what a value counts as that is not in its label's list. It is told of only where there was one.
const other = "other"

// labels lead from values to a place, so that counting takes no lock, and what can be counted is allocated once.
type labels []label

// places is how many combinations there are.
func (ls labels) places() int {
	n := 1
	for _, l := range ls {
		n *= len(l.values) + 1
	}
	return n
}

// place is where a combination is counted.
func (ls labels) place(values []string) int {
	if len(values) != len(ls) {
		panic(fmt.Sprintf("metrics: %d values for %d labels", len(values), len(ls))) // a mistake in this package
	}
	n := 0
	for i, l := range ls {
		at := slices.Index(l.values, values[i])
		if at < 0 {
			at = len(l.values)
		}
		n = n*(len(l.values)+1) + at
	}
	return n
}

// at is the combination that is counted at a place; listed says that none of it is other.
func (ls labels) at(place int) (values []string, listed bool) {
	values, listed = make([]string, len(ls)), true
	for i, l := range slices.Backward(ls) {
		n := place % (len(l.values) + 1)
		place /= len(l.values) + 1
		if n == len(l.values) {
			values[i], listed = other, false
			continue
		}
		values[i] = l.values[n]
	}
	return values, listed
}

// counters count events by their labels.
type counters struct {
	name, help string
	labels     labels
	counts     []atomic.Uint64 // by place
}

func newCounters(name, help string, ls ...label) *counters {
	return &counters{name: name, help: help, labels: ls, counts: make([]atomic.Uint64, labels(ls).places())}
}

func (c *counters) add(values ...string) { c.counts[c.labels.place(values)].Add(1) }

// histograms sort values into buckets, by their labels.
type histograms struct {
	name, help string
	labels     labels
	bounds     []float64   // upper ones, included
	all        []histogram // by place
}

type histogram struct {
	buckets []bucket      // one for each bound, and one for what is above all
	sum     atomic.Uint64 // bits of a float64
}

type bucket struct {
	count atomic.Uint64
	last  atomic.Pointer[exemplar]
}

// exemplar is the last run of a bucket.
type exemplar struct {
	run   string
	value float64
	at    time.Time
}

func newHistograms(name, help string, bounds []float64, ls ...label) *histograms {
	h := &histograms{name: name, help: help, labels: ls, bounds: bounds, all: make([]histogram, labels(ls).places())}
	for i := range h.all {
		h.all[i].buckets = make([]bucket, len(bounds)+1)
	}
	return h
}

// observe counts a value, with the run that had it; empty: it is of none.
func (h *histograms) observe(value float64, run string, values ...string) {
	one := &h.all[h.labels.place(values)]
	b := &one.buckets[sort.SearchFloat64s(h.bounds, value)]
	if run != "" {
		b.last.Store(&exemplar{run, value, time.Now()})
	}
	b.count.Add(1)
	for {
		before := one.sum.Load()
		if one.sum.CompareAndSwap(before, math.Float64bits(math.Float64frombits(before)+value)) {
			return
		}
	}
}
