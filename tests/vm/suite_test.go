package vm_test

import (
	"regexp"
	"strings"
	"testing"
)

// replay makes a subtest of each test that a guest has run, from what its test binary wrote under -test.v. Skipped ones are
// logged only: the guests run with SANDBOXD_STRICT=1, and what they may leave out is said where they are started.
func replay(t *testing.T, log string) {
	t.Helper()
	passed := 0
	for _, test := range guestTests(log) {
		t.Run(test.name, func(t *testing.T) {
			switch test.end {
			case "PASS":
				t.Logf("took %s in the guest", test.took)
				passed++
			case "SKIP":
				t.Logf("skipped:\n%s", test.log)
			default:
				t.Errorf("in the guest:\n%s", test.log)
			}
		})
	}
	if t.Logf("%d tests passed in the guest", passed); passed == 0 {
		t.Error("no test passed")
	}
	if lines := strings.Fields(log); len(lines) == 0 || lines[len(lines)-1] != "PASS" {
		t.Errorf("the tests did not pass; the end of what they wrote:\n%s", end(log))
	}
}

// guestTest is a test, its subtests included.
type guestTest struct {
	name string
	end  string // PASS, FAIL, SKIP; "" if the test binary died in it
	took string
	log  string // what was written from its start to the next one's
}

var (
	testStart = regexp.MustCompile(`(?m)^=== RUN   ([^/\s]+)$`)
	testEnd   = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): ([^/\s]+) \((.+)\)$`)
)

func guestTests(log string) []guestTest {
	ends := make(map[string][]string)
	for _, m := range testEnd.FindAllStringSubmatch(log, -1) {
		ends[m[2]] = m
	}
	var all []guestTest
	starts := testStart.FindAllStringSubmatchIndex(log, -1)
	for i, m := range starts {
		next := len(log)
		if i+1 < len(starts) {
			next = starts[i+1][0]
		}
		test := guestTest{name: log[m[2]:m[3]], log: end(log[m[0]:next])}
		if m := ends[test.name]; m != nil {
			test.end, test.took = m[1], m[3]
		}
		all = append(all, test)
	}
	return all
}

// end is the last part of a log, as much as a person reads.
func end(log string) string {
	const most = 16 << 10
	return log[max(0, len(log)-most):]
}

func TestReplayReads(t *testing.T) {
	const log = `=== RUN   TestGood
=== RUN   TestGood/part
--- PASS: TestGood (0.01s)
    --- PASS: TestGood/part (0.00s)
=== RUN   TestBad
    bad_test.go:7: why
--- FAIL: TestBad (0.00s)
=== RUN   TestLeft
    left_test.go:7: no feature
--- SKIP: TestLeft (0.00s)
=== RUN   TestDied
panic: oh
`
	want := map[string]string{"TestGood": "PASS", "TestBad": "FAIL", "TestLeft": "SKIP", "TestDied": ""}
	got := guestTests(log)
	for _, test := range got {
		if end, ok := want[test.name]; !ok || end != test.end {
			t.Errorf("%s ended with %q, want %q", test.name, test.end, end)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d tests, want %d", len(got), len(want))
	}
	if got[0].took != "0.01s" {
		t.Errorf("TestGood took %q", got[0].took)
	}
	if !strings.Contains(got[1].log, "bad_test.go:7: why") || strings.Contains(got[1].log, "TestLeft") {
		t.Errorf("of TestBad was written: %q", got[1].log)
	}
}
