package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"
	_ "time/tzdata" // for machines without one

	"github.com/sandboxd/sandboxd/internal/rpc"
)

// zone is a time zone for a worker, which has no file to read it from: its name, and its rules as
// time.LoadLocationFromTZData takes them (RFC 8536).
type zone struct {
	name string
	data []byte // nil: UTC
}

const maxZoneName = 64

func loadZone(name string) (zone, error) {
	if name == "" || name == "UTC" {
		return zone{name: "UTC"}, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > maxZoneName {
		return zone{}, rpc.Errorf(rpc.CodeInvalidParams,
			"time_zone: there is no %.80q: want a name of the IANA time zone database, such as Europe/Berlin", name)
	}
	data, err := rules(location)
	if err != nil {
		return zone{}, rpc.Errorf(rpc.CodeInternal, "time_zone %q: %v", name, err)
	}
	return zone{name: name, data: data}, nil
}

// The years between which a program sees what the zone's clocks show; before and after them they stay as they are there.
var zoneFrom, zoneTo = time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// rules writes a location down. The package time does not give away what it read.
func rules(location *time.Location) ([]byte, error) {
	var w zoneWriter
	for t := zoneFrom.In(location); t.Before(zoneTo); {
		if err := w.change(t); err != nil {
			return nil, err
		}
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) { // as on the last day of some leap years (Go 1.26)
			end = t.Add(24 * time.Hour)
		}
		t = end
	}
	return w.file(), nil
}

// zoneWriter collects the parts of a file.
type zoneWriter struct {
	kinds   []zoneKind
	letters bytes.Buffer // of their abbreviations, each with a zero behind it
	times   []int64      // of changes, in seconds
	which   []byte       // kind from then on; one more than times, which is the first kind
}

// zoneKind is what clocks show for a while, in the form of the file.
type zoneKind struct {
	Offset int32
	Summer bool
	Letter uint8 // where its abbreviation begins
}

// change notes what clocks show from a time on.
func (w *zoneWriter) change(t time.Time) error {
	name, offset := t.Zone()
	letter := bytes.Index(w.letters.Bytes(), append([]byte(name), 0))
	if letter < 0 {
		letter = w.letters.Len()
		w.letters.WriteString(name + "\x00")
	}
	kind := zoneKind{int32(offset), t.IsDST(), uint8(letter)}
	i := slices.Index(w.kinds, kind)
	if i < 0 {
		i = len(w.kinds)
		w.kinds = append(w.kinds, kind)
	}
	switch {
	case letter > 255 || i > 255:
		return errors.New("its clocks have shown more kinds of time than the format holds")
	case len(w.which) == 0:
		w.which = []byte{byte(i)}
	case w.which[len(w.which)-1] != byte(i):
		w.times = append(w.times, t.Unix())
		w.which = append(w.which, byte(i))
	}
	return nil
}

func (w *zoneWriter) file() []byte {
	var out bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&out, binary.BigEndian, v) // a buffer takes everything
		}
	}
	header := func(counts ...uint32) {
		put([]byte("TZif2"), make([]byte, 15), counts)
	}
	header(0, 0, 0, 0, 0, 0) // of the part for readers of version 1, with times of 32 bits
	header(0, 0, 0, uint32(len(w.times)), uint32(len(w.kinds)), uint32(w.letters.Len()))
	put(w.times, w.which[1:], w.kinds, w.letters.Bytes())
	put([]byte("\n\n")) // no rule for what comes after
	return out.Bytes()
}
