package server

import (
	"strings"
	"testing"
	"time"
)

// TestZones: what a worker reads is what this machine's clocks show, at every change of two centuries and around it.
func TestZones(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca", "America/Sao_Paulo",
		"Pacific/Apia", "Etc/GMT+5", "Asia/Tehran", "Europe/Dublin", "EST5EDT"} {
		z, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(z.data) > 8<<10 {
			t.Errorf("%s has %d bytes", name, len(z.data))
		}
		got, err := time.LoadLocationFromTZData(z.name, z.data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := zoneFrom.Add(time.Hour); at.Before(zoneTo.Add(-time.Hour)); at = at.Add(499 * time.Hour) {
			compare(t, at, got, want)
			if _, end := at.In(want).ZoneBounds(); !end.IsZero() && end.Before(zoneTo) {
				compare(t, end, got, want)
				compare(t, end.Add(-time.Second), got, want)
			}
		}
	}
}

func compare(t *testing.T, at time.Time, got, want *time.Location) {
	t.Helper()
	if g, w := at.In(got), at.In(want); g.Format(time.RFC3339+" MST") != w.Format(time.RFC3339+" MST") || g.IsDST() != w.IsDST() {
		t.Fatalf("%s: %s, want %s", want, g, w)
	}
}

func TestNoZone(t *testing.T) {
	for _, name := range []string{"Local", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "europe berlin", strings.Repeat("x", 1000), "\x00"} {
		if _, err := loadZone(name); err == nil || !strings.Contains(err.Error(), "such as Europe/Berlin") || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	for _, name := range []string{"", "UTC"} {
		if z, err := loadZone(name); err != nil || z.name != "UTC" || z.data != nil {
			t.Errorf("%q: %+v, %v", name, z, err)
		}
	}
}

func BenchmarkZone(b *testing.B) {
	for b.Loop() {
		if _, err := loadZone("America/New_York"); err != nil {
			b.Fatal(err)
		}
	}
}
