package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/traces"
)

const maxPool = 512 // workers of a profile

// check lists what is wrong. Each error begins with a key.
func (c Config) check() (wrong []error) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	duration := func(n int64) string { return time.Duration(n).String() }
	for _, b := range []struct {
		key         string
		value       int64
		least, most int64
		text        func(int64) string
	}{
		{"runs.at_once", int64(c.Runs.AtOnce), 1, 1000, number},
		{"runs.per_caller", int64(c.Runs.PerCaller), 1, 1000, number},
		{"runs.queue", int64(c.Runs.Queue), 0, 100_000, number},
		{"runs.queue_wait", int64(c.Runs.QueueWait), int64(100 * time.Millisecond), int64(time.Hour), duration},
		{"gateways.connections", int64(c.Gateways.Connections), 1, 10_000, number},
		{"gateways.memory_bytes", c.Gateways.Memory, 16 << 20, 1 << 40, number},
		{"gateways.write_wait", int64(c.Gateways.WriteWait), int64(time.Millisecond), int64(time.Hour), duration},
		{"approvals.wait", int64(c.Approvals.Wait), int64(time.Second), int64(24 * time.Hour), duration},
		{"approvals.pending", int64(c.Approvals.Pending), 1, 10_000, number},
		{"approvals.per_caller", int64(c.Approvals.PerCaller), 1, 10_000, number},
		{"drain", int64(c.Drain), 0, int64(time.Hour), duration},
		{"idle_exit", int64(c.IdleExit), 0, int64(24 * time.Hour), duration},
	} {
		if b.value < b.least || b.value > b.most {
			add("%s: %s is not within %s and %s", b.key, b.text(b.value), b.text(b.least), b.text(b.most))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Pool)) {
		if size := c.Pool[name]; size < 0 || size > maxPool {
			add("pool.%s: %d is not within 0 and %d", name, size, maxPool)
		}
	}
	for _, layer := range c.Isolation.AllowMissing {
		if !slices.Contains(profile.Layers, layer) {
			add("isolation.allow_missing: no layer %q; there are: %s", layer, strings.Join(profile.Layers, ", "))
		}
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		add("log.level: %q is none of debug, info, warn, error", c.Log.Level)
	}
	if c.Policy == "" {
		add("policy: is empty: without one, no call is allowed; name a file, or a directory of them")
	}
	return append(wrong, c.checkSections()...)
}

// checkSections asks those who know more of a section than its bounds.
func (c Config) checkSections() (wrong []error) {
	_, callers := c.Callers.Resolve()
	_, admins := c.Admins.Resolve()
	_, _, metrics := c.Metrics.Address()
	wrong = append(wrong, callers, admins, metrics)
	switch {
	case c.Guard.URL == "" && c.Guard != guard.Default():
		wrong = append(wrong, errors.New("guard: has no url, and so asks nobody: give it one, or leave the section out"))
	case c.Guard.URL != "":
		if err := c.Guard.Check(); err != nil {
			wrong = append(wrong, fmt.Errorf("guard.%w", err))
		}
	}
	switch {
	case c.Traces.Endpoint == "" && c.Traces != traces.Default():
		wrong = append(wrong, errors.New("traces: has no endpoint, and so tells nobody: give it one, or leave the section out"))
	case c.Traces.Endpoint != "":
		if err := c.Traces.Check(); err != nil {
			wrong = append(wrong, fmt.Errorf("traces.%w", err))
		}
	}
	if c.Audit.Path != NoAudit {
		wrong = append(wrong, c.Audit.Check())
	}
	return slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
}

// CheckPool says which of the profiles that have workers kept ready there are not.
func (c Config) CheckPool(profiles map[string]profile.Profile) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(c.Pool)) {
		if _, ok := profiles[name]; !ok {
			wrong = append(wrong, c.Wrong(fmt.Errorf("pool.%s: no such profile; there are: %s",
				name, strings.Join(profile.Names(profiles), ", "))).Error())
		}
	}
	if wrong != nil {
		return &InvalidError{wrong}
	}
	return nil
}
