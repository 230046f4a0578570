package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/server"
)

// TestWall holds doctor's wall against the nursery's, which sandboxctl does not link: it would grow by half.
func TestWall(t *testing.T) {
	if !(nursery.Layers{Namespaces: wall}).Walled() {
		t.Errorf("the nursery does not take %v for the layer", wall)
	}
	for i := range wall {
		if less := slices.Delete(slices.Clone(wall), i, i+1); (nursery.Layers{Namespaces: less}).Walled() {
			t.Errorf("%v is enough for the nursery, without %s", less, wall[i])
		}
	}
}

// TestDoctorReadsRefusals: the daemon's own words, as the server writes them.
func TestDoctorReadsRefusals(t *testing.T) {
	refusal := &server.MissingError{Profile: "default", Layer: "namespaces", Why: "start nursery: operation not permitted"}
	layer, why := lacking(errors.New("it ended: sandboxd: error: " + refusal.Error()))
	if layer != refusal.Layer || why != refusal.Why {
		t.Errorf("read %q and %q of %q", layer, why, refusal)
	}
	for _, other := range []error{nil, errors.New("it ended: it said nothing"), &server.MissingError{Layer: "walls", Why: "none"}} {
		if layer, _ := lacking(other); layer != "" {
			t.Errorf("read layer %q of %v", layer, other)
		}
	}
}
