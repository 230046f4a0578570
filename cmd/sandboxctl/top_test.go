package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/sandboxd/sandboxd"
)

// watched is a model that was given an answer of a daemon with n runs, of which the first goes on.
func watched(n int) (m *topModel, wanted *[]string) {
	wanted = new([]string)
	m = &topModel{colours: true, wanted: func(run string) { *wanted = append(*wanted, run) }}
	m.take(answered(time.Unix(1000, 0), n))
	return m, wanted
}

func answered(at time.Time, n int) topSnapshot {
	s := topSnapshot{at: at, status: sandboxd.StatusResult{
		Version: "1.2", Running: 1, Waiting: 4, Pool: []sandboxd.PoolStatus{{Profile: "default", Size: 8, Ready: 7}},
		Deciding: &sandboxd.Deciding{Approvals: 3, Guard: &sandboxd.GuardStatus{Breaker: "open", Failures: 2, Last: "down"}},
		Serving: &sandboxd.Serving{
			Gateways: 2, Leases: []sandboxd.LeaseStatus{{Profile: "default", Leased: 1, Warm: 9, Cold: 2}},
			Ended: []sandboxd.Tally{{Of: "ok", N: int64(n)}}, Calls: []sandboxd.Tally{{Of: "succeeded", N: int64(3 * n)}},
		},
	}}
	for i := range n {
		r := sandboxd.RunSummary{Run: fmt.Sprintf("RUN%03d", i), Caller: fmt.Sprintf("uid %d", 9-i%10), ElapsedMS: float64(i % 7), Calls: i % 5, Outcome: sandboxd.OutcomeOK}
		if i == 0 {
			r.Outcome, r.Doing, r.Out = "", "waiting for pay.refund", 2
		}
		s.runs.Runs = append(s.runs.Runs, r)
	}
	return s
}

// screenful is what a terminal shows of the model.
func screenful(t *testing.T, m *topModel, width, height int) []string {
	t.Helper()
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	defer s.Fini()
	s.SetSize(width, height)
	m.draw(s)
	cells, w, h := s.GetContents()
	if w != width || h != height {
		t.Fatalf("the screen is %d by %d", w, h)
	}
	lines := make([]string, h)
	for i, c := range cells {
		lines[i/w] += string(c.Runes)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func press(m *topModel, keys ...any) (quit bool) {
	for _, k := range keys {
		switch k := k.(type) {
		case tcell.Key:
			quit = m.key(tcell.NewEventKey(k, 0, tcell.ModNone))
		case rune:
			quit = m.key(tcell.NewEventKey(tcell.KeyRune, k, tcell.ModNone))
		}
	}
	return quit
}

func shows(t *testing.T, lines []string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(strings.Join(lines, "\n"), text) {
			t.Errorf("no %q in\n%s", text, strings.Join(lines, "\n"))
		}
	}
}

func TestTopShows(t *testing.T) {
	m, _ := watched(30)
	m.take(answered(time.Unix(1002, 0), 40)) // two seconds later
	shows(t, screenful(t, m, 120, 24), "sandboxd 1.2   00:16:42 UTC", "1 running, 4 waiting, 5.0/s ended   calls 2 out, 15.0/s   gateways 2",
		"default: 7 of 8 ready, 1 leased; 9 warm, 2 cold", "guard breaker open, 0 in flight   approvals 3 waiting", "failing    the guard, 2 times in a row",
		"RUN000", "waiting for pay.refund", "s sort: time")
	m.take(answered(time.Unix(1003, 0), 2)) // another daemon
	shows(t, screenful(t, m, 120, 24), "0.0/s ended", "0.0/s   gateways")
	for _, size := range [][2]int{{1, 1}, {7, 2}, {40, 3}, {300, 100}} { // a terminal may be of any size
		screenful(t, m, size[0], size[1])
	}
}

func TestTopChooses(t *testing.T) {
	m, wanted := watched(60)
	if lines := screenful(t, m, 100, 20); strings.Contains(strings.Join(lines, ""), "RUN040") {
		t.Error("all fit")
	}
	press(m, tcell.KeyDown, 'j', 'j', tcell.KeyUp, tcell.KeyPgDn, tcell.KeyPgDn, tcell.KeyPgDn)
	before := m.selected
	shows(t, screenful(t, m, 100, 20), before)
	press(m, 's')
	shows(t, screenful(t, m, 100, 20), before, "s sort: duration")
	if m.selected != before {
		t.Errorf("another run is chosen by sorting: %s, not %s", m.selected, before)
	}
	if runs := m.runs(); runs[0].Run != "RUN000" || runs[1].ElapsedMS != 6 {
		t.Errorf("by duration: %+v", runs[:2])
	}
	press(m, 's')
	if runs := m.runs(); runs[1].Calls != 4 {
		t.Errorf("by calls: %+v", runs[1])
	}
	press(m, 's')
	if runs := m.runs(); runs[1].Caller != "uid 0" {
		t.Errorf("by caller: %+v", runs[1])
	}
	press(m, 's', tcell.KeyPgUp, tcell.KeyPgUp, tcell.KeyPgUp, tcell.KeyPgUp, tcell.KeyPgUp, tcell.KeyUp)
	if m.selected != "RUN000" {
		t.Errorf("the first is not %s", m.selected)
	}

	press(m, tcell.KeyEnter)
	shows(t, screenful(t, m, 100, 20), "run RUN000 …", "Esc back")
	s := answered(time.Unix(1001, 0), 60)
	s.report = &sandboxd.RunReport{RunSummary: s.runs.Runs[0]}
	for i := range 50 {
		s.report.Timeline = append(s.report.Timeline, sandboxd.CallReport{N: i + 1, Server: "db", Tool: "read", State: "succeeded"})
	}
	m.take(s)
	shows(t, screenful(t, m, 100, 20), "   1  db.read")
	press(m, tcell.KeyPgDn, tcell.KeyPgDn, tcell.KeyPgDn, tcell.KeyPgDn, tcell.KeyPgDn, tcell.KeyPgDn)
	shows(t, screenful(t, m, 100, 20), "  50  db.read")
	press(m, tcell.KeyUp)
	if lines := strings.Join(screenful(t, m, 100, 20), "\n"); strings.Contains(lines, "  50  db.read") {
		t.Error("up does not scroll from the end")
	}
	m.take(topSnapshot{at: time.Unix(1002, 0), status: s.status, gone: errors.New("it is gone")})
	shows(t, screenful(t, m, 100, 20), "it is gone")
	if press(m, tcell.KeyEscape) || fmt.Sprint(*wanted) != "[RUN000 ]" {
		t.Errorf("Esc; wanted were %q", *wanted)
	}
	for _, quits := range []any{tcell.KeyEscape, 'q', tcell.KeyCtrlC} {
		if !press(m, quits) {
			t.Errorf("%v does not end it", quits)
		}
	}
	none := &topModel{wanted: func(string) {}}
	press(none, tcell.KeyEnter, tcell.KeyDown, tcell.KeyPgUp, 's') // before the first answer
	screenful(t, none, 80, 24)
}

// TestTopPauses: what was shown stays, and that the daemon is gone is told all the same.
func TestTopPauses(t *testing.T) {
	m, _ := watched(3)
	press(m, 'p')
	m.take(answered(time.Unix(2000, 0), 9))
	shows(t, screenful(t, m, 120, 24), "00:16:40 UTC   paused")
	m.take(topSnapshot{err: errors.New("connect to sandboxd: no such file\nhint")})
	shows(t, screenful(t, m, 120, 24), "does not answer, and is tried again: connect to sandboxd: no such file", "RUN000")
	press(m, ' ')
	m.take(answered(time.Unix(2001, 0), 9))
	if lines := strings.Join(screenful(t, m, 120, 24), "\n"); strings.Contains(lines, "paused") || strings.Contains(lines, "does not answer") || !strings.Contains(lines, "RUN008") {
		t.Errorf("it does not go on:\n%s", lines)
	}
}

// TestTopSteersNoTerminal: no cell has what others chose to steer it, and without colours there are none.
func TestTopSteersNoTerminal(t *testing.T) {
	m, _ := watched(0)
	m.colours = false
	r := hostileRun()
	s := answered(time.Unix(1001, 0), 0)
	s.status.Version, s.status.Pool[0].Profile, s.status.Pool[0].Failing, s.status.Deciding.Guard.Last = r.Run, r.Run, r.Run, r.Run
	s.status.Deciding.Guard.Breaker = r.Run
	s.runs.Runs, s.report = []sandboxd.RunSummary{r.RunSummary, r.RunSummary}, &r
	for _, shown := range []string{"", r.Run} {
		m.take(s)
		m.shown = shown
		for _, line := range m.lines(40) {
			if strings.ContainsFunc(line.text, hidden) {
				t.Errorf("%q", line.text)
			}
			if fg, bg, _ := m.style(line.look).Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				t.Errorf("a colour: %q", line.text)
			}
		}
	}
	m.take(topSnapshot{err: errors.New(r.Run)})
	shows(t, screenful(t, m, 120, 24), `\u001b[2J`)
}
