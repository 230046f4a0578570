package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
	_ "time/tzdata" // for machines without one

	"github.com/sandboxd/sandboxd/internal/rpc"
)

// zone is a time zone for a worker, which has no file to read it from: its name, and its rules as time.LoadLocationFromTZData
// takes them (RFC 8536).
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
		return zone{}, rpc.Errorf(rpc.CodeInvalidParams, "time_zone: there is no %.80q: want a name of the IANA time zone database, such as Europe/Berlin", name)
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
	type kind struct {
		offset int32
		summer bool
		letter byte // where its abbreviation begins
	}
	var kinds []kind
	var letters, times, which bytes.Buffer
	at := func(t time.Time) (byte, error) {
		name, offset := t.Zone()
		letter := bytes.Index(letters.Bytes(), append([]byte(name), 0))
		if letter < 0 {
			letter = letters.Len()
			letters.WriteString(name + "\x00")
		}
		k := kind{int32(offset), t.IsDST(), byte(letter)}
		for i := range kinds {
			if kinds[i] == k {
				return byte(i), nil
			}
		}
		kinds = append(kinds, k)
		if letter > 255 || len(kinds) > 256 {
			return 0, fmt.Errorf("%d kinds of time are more than its format holds", len(kinds))
		}
		return byte(len(kinds) - 1), nil
	}
	put := func(to *bytes.Buffer, values ...any) {
		for _, v := range values {
			binary.Write(to, binary.BigEndian, v) // a buffer takes everything
		}
	}
	for t := zoneFrom.In(location); t.Before(zoneTo); {
		i, err := at(t)
		if err != nil {
			return nil, err
		}
		if last := len(which.Bytes()) - 1; !t.Equal(zoneFrom) && (last < 0 || which.Bytes()[last] != i) {
			put(&times, t.Unix())
			which.WriteByte(i)
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
	header := func(to *bytes.Buffer, counts ...int) {
		to.WriteString("TZif2")
		to.Write(make([]byte, 15))
		for _, n := range counts {
			put(to, uint32(n))
		}
	}
	var out bytes.Buffer
	header(&out, 0, 0, 0, 0, 0, 0) // the first part, with times of 32 bits, is for readers of version 1
	header(&out, 0, 0, 0, which.Len(), len(kinds), letters.Len())
	out.Write(times.Bytes())
	out.Write(which.Bytes())
	for _, k := range kinds {
		put(&out, k.offset, k.summer, k.letter)
	}
	out.Write(letters.Bytes())
	out.WriteString("\n\n") // no rule for what comes after
	return out.Bytes(), nil
}
