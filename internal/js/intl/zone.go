package intl

import (
	_ "embed" // the time zones
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// zoneData is the IANA database as Go ships it. Go's own loader looks for files first, which a worker may not.
//
//go:embed zones.bin
var zoneData string

//go:embed zones.txt
var zoneText string

// zone is a time zone with its names.
type zone struct {
	name     string // canonical, as node 20 has it
	location *time.Location
	names    []string // long in January and in July of 2024, short in both; nil: a fixed offset
	january  bool     // there was summer time in January
}

// zoneIndex gives name, place and size of a zone's data by its name in lower case.
var zoneIndex = sync.OnceValue(func() map[string][3]string {
	index, _, _ := strings.Cut(zoneData, "\n\n")
	zones := map[string][3]string{}
	for line := range strings.SplitSeq(index, "\n") {
		if f := strings.Fields(line); len(f) == 3 {
			zones[strings.ToLower(f[0])] = [3]string(f)
		}
	}
	return zones
})

var zoneNames = sync.OnceValue(func() map[string][]string { return table(zoneText) })

var offsetZone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$`) })

// known are the zones that were asked for.
var known sync.Map

// newZone finds a zone by its name, in any case, or makes that of an offset.
func newZone(name string) *zone {
	lower := strings.ToLower(name)
	if z, ok := known.Load(lower); ok {
		return z.(*zone)
	}
	z := loadZone(name, lower)
	if z.names != nil { // there are so many names, but more offsets
		known.Store(lower, z)
	}
	return z
}

func loadZone(name, lower string) *zone {
	switch lower {
	case "utc", "etc/utc", "etc/gmt", "gmt":
		return &zone{name: "UTC", location: time.UTC, names: []string{"Coordinated Universal Time", "Coordinated Universal Time", "UTC", "UTC"}}
	}
	if m := offsetZone().FindStringSubmatch(name); m != nil {
		return fixedZone(m)
	}
	entry, ok := zoneIndex()[lower]
	names := zoneNames()[entry[0]]
	if !ok || names == nil {
		fail("Invalid time zone specified: %s (use an IANA name, such as Europe/Berlin, or an offset, such as +02:00)", clip(name))
	}
	_, data, _ := strings.Cut(zoneData, "\n\n")
	at, _ := strconv.Atoi(entry[1])
	size, _ := strconv.Atoi(entry[2])
	location, err := time.LoadLocationFromTZData(entry[0], []byte(data[at:at+size]))
	if err != nil {
		fail("Invalid time zone specified: %s", clip(name))
	}
	z := &zone{name: entry[0], location: location, names: names[1:]}
	if names[0] != "" {
		z.name = names[0]
	}
	z.january = time.Date(2024, time.January, 15, 0, 0, 0, 0, location).IsDST()
	return z
}

func fixedZone(m []string) *zone {
	hours, _ := strconv.Atoi(m[2])
	minutes, _ := strconv.Atoi(m[3])
	seconds := hours*3600 + minutes*60
	if m[1] == "-" {
		seconds = -seconds
	}
	name := fmt.Sprintf("%s%02d:%02d", m[1], hours, minutes)
	return &zone{name: name, location: time.FixedZone(name, seconds)}
}

// CLDR names time zones between these.
var (
	firstNamed = time.Unix(0, 0)
	lastNamed  = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
)

// text is the name of the zone at a time, in a style of timeZoneName.
func (z *zone) text(t time.Time, style string) string {
	_, seconds := t.Zone()
	switch style {
	case "longOffset":
		return "GMT" + offset(seconds, true)
	case "shortOffset":
		return "GMT" + offset(seconds, false)
	}
	if z.names == nil || z.location != time.UTC && (t.Before(firstNamed) || !t.Before(lastNamed)) {
		if style == "long" {
			return "GMT" + offset(seconds, true)
		}
		return "GMT" + offset(seconds, false)
	}
	at := 0
	if t.IsDST() != z.january {
		at = 1
	}
	if style == "short" {
		at += 2
	}
	name := z.names[at]
	if strings.HasPrefix(name, "GMT") { // it is made of the offset, which was another at other times
		name = "GMT"
		if seconds != 0 {
			name += offset(seconds, style == "long")
		}
	}
	return name
}

func offset(seconds int, long bool) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	hours, minutes, rest := seconds/3600, seconds/60%60, seconds%60
	text := fmt.Sprintf("%s%d", sign, hours)
	if long {
		text = fmt.Sprintf("%s%02d", sign, hours)
	}
	if long || minutes > 0 || rest > 0 {
		text += fmt.Sprintf(":%02d", minutes)
	}
	if rest > 0 {
		text += fmt.Sprintf(":%02d", rest)
	}
	return text
}
