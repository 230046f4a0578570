package audit_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/audit"
)

var allEvents = append(slices.Clone(audit.OwnEvents),
	audit.RunStart{}, audit.RunEnd{}, audit.CallIntent{}, audit.CallDenied{}, audit.CallOutcome{},
	audit.ApprovalRequest{}, audit.ApprovalAnswer{}, audit.PolicyLoad{}, audit.DaemonStart{}, audit.DaemonStop{})

var quoted = regexp.MustCompile("`([a-z0-9_]+)`")

// TestEveryFieldIsDocumented: docs/audit.md has a row for each event with its fields and no other.
func TestEveryFieldIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for _, e := range allEvents {
		kind := audit.Kind(e)
		_, row, found := strings.Cut(doc, "\n| `"+kind+"` |")
		if !found {
			t.Errorf("%s has no row", kind)
			continue
		}
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, "|")
		var got []string
		outside := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cells[1], "")
		for _, m := range quoted.FindAllStringSubmatch(outside, -1) {
			got = append(got, m[1])
		}
		if diff := cmp.Diff(fields(reflect.TypeOf(e)), got, cmp.Transformer("sort", func(s []string) []string { return slices.Sorted(slices.Values(s)) })); diff != "" {
			t.Errorf("%s (-code +docs):\n%s", kind, diff)
		}
	}
	for _, v := range []any{audit.Payload{}, audit.Peer{}, audit.Verdict{}, audit.Approval{}, audit.Evidence{}, audit.Seen{}, audit.Usage{}} {
		for _, field := range fields(reflect.TypeOf(v)) {
			if !strings.Contains(doc, "`"+field+"`") {
				t.Errorf("%T: %s is not documented", v, field)
			}
		}
	}
}

// fields are the names that a struct has in a line.
func fields(t reflect.Type) (all []string) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all = append(all, name)
		}
	}
	return all
}

// TestReserved: no field of an event has the name of one that each line has.
func TestReserved(t *testing.T) {
	for _, e := range allEvents {
		for _, field := range fields(reflect.TypeOf(e)) {
			if slices.Contains([]string{"seq", "time", "prev", "event", "hash"}, field) {
				t.Errorf("%T has a field %q", e, field)
			}
		}
	}
}
