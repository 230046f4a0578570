package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/sandboxd/sandboxd"
)

// topModel is what top shows, and what keys do to it. It knows no daemon.
type topModel struct {
	colours bool
	wanted  func(run string) // the report of a run is asked for; empty: of none

	last   topSnapshot // that came without an error
	lost   error       // why the newest came with one
	paused bool

	runsRate, callsRate float64 // a second

	order    int    // of topOrders
	selected string // a run
	shown    string // the run whose calls are shown; empty: none
	scrolled int    // lines of those
	page     int    // lines that there was room for
}

// topOrders are how runs are sorted. Those that go on come first in each.
var topOrders = []struct {
	name    string
	compare func(a, b sandboxd.RunSummary) int
}{
	{"time", func(a, b sandboxd.RunSummary) int { return 0 }}, // as the daemon has them
	{"duration", func(a, b sandboxd.RunSummary) int { return cmp.Compare(b.ElapsedMS, a.ElapsedMS) }},
	{"calls", func(a, b sandboxd.RunSummary) int { return cmp.Compare(b.Calls, a.Calls) }},
	{"caller", func(a, b sandboxd.RunSummary) int { return strings.Compare(a.Caller, b.Caller) }},
}

// take shows an answer, and tells rates by the one before.
func (m *topModel) take(s topSnapshot) {
	m.lost = s.err
	if s.err != nil {
		m.runsRate, m.callsRate = 0, 0
		return
	}
	if m.paused && !m.last.at.IsZero() && (m.shown == "" || m.last.report != nil) {
		return
	}
	m.runsRate, m.callsRate = 0, 0
	if passed := s.at.Sub(m.last.at).Seconds(); passed > 0 && m.last.status.Serving != nil && s.status.Serving != nil {
		before, now := m.last.status.Serving, s.status.Serving
		m.runsRate = max(float64(sum(now.Ended)-sum(before.Ended)), 0) / passed // a new daemon begins anew
		m.callsRate = max(float64(sum(now.Calls)-sum(before.Calls)), 0) / passed
	}
	m.last = s
}

func sum(counts []sandboxd.Tally) (n int64) {
	for _, c := range counts {
		n += c.N
	}
	return n
}

// key does what a key is for; true: top ends.
func (m *topModel) key(e *tcell.EventKey) (quit bool) {
	switch e.Key() {
	case tcell.KeyCtrlC:
		return true
	case tcell.KeyEscape:
		if m.shown == "" {
			return true
		}
		m.show("")
	case tcell.KeyEnter:
		if m.shown != "" {
			m.show("")
		} else if runs := m.runs(); len(runs) > 0 {
			m.show(runs[m.place(runs)].Run)
		}
	case tcell.KeyUp:
		m.move(-1)
	case tcell.KeyDown:
		m.move(1)
	case tcell.KeyPgUp:
		m.move(-m.page)
	case tcell.KeyPgDn:
		m.move(m.page)
	case tcell.KeyRune:
		switch e.Rune() {
		case 'q':
			return true
		case 's':
			m.order = (m.order + 1) % len(topOrders)
		case 'p', ' ':
			m.paused = !m.paused
		case 'k':
			m.move(-1)
		case 'j':
			m.move(1)
		}
	}
	return false
}

func (m *topModel) show(run string) {
	m.shown, m.scrolled, m.last.report, m.last.gone = run, 0, nil, nil
	m.wanted(run)
}

// move chooses another run, or scrolls the calls of the one that is shown.
func (m *topModel) move(lines int) {
	if m.shown != "" {
		m.scrolled = max(m.scrolled+lines, 0) // and not beyond the end, as far as that is known: see body
		return
	}
	if runs := m.runs(); len(runs) > 0 {
		m.selected = runs[min(max(m.place(runs)+lines, 0), len(runs)-1)].Run
	}
}

// runs are those that the daemon told of, as they are sorted.
func (m *topModel) runs() []sandboxd.RunSummary {
	runs := slices.Clone(m.last.runs.Runs)
	slices.SortStableFunc(runs, func(a, b sandboxd.RunSummary) int {
		if ongoing := cmp.Compare(len(a.Outcome), 0) - cmp.Compare(len(b.Outcome), 0); ongoing != 0 {
			return ongoing
		}
		return topOrders[m.order].compare(a, b)
	})
	return runs
}

// place is where the chosen run stands; the first, if it is gone.
func (m *topModel) place(runs []sandboxd.RunSummary) int {
	return max(slices.IndexFunc(runs, func(r sandboxd.RunSummary) bool { return r.Run == m.selected }), 0)
}

// topLine is a line of the screen. Nothing in its text can steer a terminal.
type topLine struct {
	text string
	look topLook
}

type topLook int

const (
	lookPlain topLook = iota
	lookHead
	lookChosen
	lookGood
	lookBad
)

// lines are what a screen of some height shows.
func (m *topModel) lines(height int) []topLine {
	lines := m.head()
	m.page = max(height-len(lines)-1, 1)
	lines = append(lines, m.body(m.page)...)
	for len(lines) < height-1 {
		lines = append(lines, topLine{})
	}
	help := "q end   s sort: " + topOrders[m.order].name + "   p pause   ↑↓ choose   Enter show its calls"
	if m.shown != "" {
		help = "q end   Esc back   ↑↓ scroll"
	}
	return append(lines[:max(min(len(lines), height-1), 0)], topLine{help, lookHead})
}

// head says how the daemon does.
func (m *topModel) head() []topLine {
	s := m.last.status
	title := "sandboxd"
	if !m.last.at.IsZero() {
		title += " " + printable(s.Version) + "   " + m.last.at.UTC().Format(time.TimeOnly) + " UTC"
	}
	if m.paused {
		title += "   paused"
	}
	lines := []topLine{{title, lookHead}}
	if m.lost != nil {
		why, _, _ := strings.Cut(m.lost.Error(), "\n")
		lines = append(lines, topLine{"the daemon does not answer, and is tried again: " + printable(why), lookBad})
	}
	serving, deciding := s.Serving, s.Deciding
	if serving == nil || deciding == nil {
		if m.lost == nil && !m.last.at.IsZero() {
			lines = append(lines, topLine{"the daemon's answer is not one for administrators", lookBad})
		}
		return lines
	}
	out := 0
	for _, r := range m.last.runs.Runs {
		out += r.Out
	}
	add := func(format string, args ...any) {
		lines = append(lines, topLine{printable(fmt.Sprintf(format, args...)), lookPlain})
	}
	add("runs       %d running, %d waiting, %.1f/s ended   calls %d out, %.1f/s   gateways %d   callers %d", s.Running, s.Waiting, m.runsRate, out, m.callsRate,
		serving.Gateways, len(serving.Callers))
	leases := make(map[string]sandboxd.LeaseStatus)
	for _, l := range serving.Leases {
		leases[l.Profile] = l
	}
	for _, p := range s.Pool {
		if l := leases[p.Profile]; p.Size > 0 || l.Warm+l.Cold > 0 {
			add("workers    %s: %d of %d ready, %d leased; %d warm, %d cold", p.Profile, p.Ready, p.Size, l.Leased, l.Warm, l.Cold)
		}
	}
	guard := "none"
	if g := deciding.Guard; g != nil {
		guard = fmt.Sprintf("breaker %s, %d in flight", g.Breaker, g.InFlight)
	}
	audit := "none"
	if a := deciding.Audit; a != nil {
		audit = fmt.Sprintf("%d events", a.Events)
	}
	add("decisions  guard %s   approvals %d waiting   audit %s", guard, deciding.Approvals, audit)
	_, failing := statusRows(s, m.last.at)
	for _, f := range failing {
		lines = append(lines, topLine{"failing    " + printable(f[1]), lookBad})
	}
	return lines
}

// body is the runs around the chosen one, or the calls of the one that is shown, on so many lines.
func (m *topModel) body(height int) []topLine {
	if m.shown != "" {
		return m.calls(height)
	}
	runs := m.runs()
	lines := []topLine{{fmt.Sprintf("%-26s  %-19s  %-9s  %9s  %-24s %s", "RUN", "BEGAN (UTC)", "OUTCOME", "TIME", "CALLS", "CALLER, PROFILE, GATEWAY"), lookHead}}
	chosen := m.place(runs)
	room := max(height-1, 1)
	first := max(min(chosen-room/2, len(runs)-room), 0)
	for i := first; i < min(first+room, len(runs)); i++ {
		look := lookPlain
		switch {
		case i == chosen:
			look = lookChosen
		case runs[i].Outcome == "":
			look = lookGood
		case runs[i].Outcome != sandboxd.OutcomeOK:
			look = lookBad
		}
		lines = append(lines, topLine{runLine(runs[i], false), look})
	}
	return lines
}

func (m *topModel) calls(height int) (lines []topLine) {
	switch {
	case m.last.gone != nil:
		return []topLine{{printable(m.last.gone.Error()), lookBad}}
	case m.last.report == nil || m.last.report.Run != m.shown:
		return []topLine{{"run " + printable(m.shown) + " …", lookPlain}}
	}
	for _, text := range reportLines(*m.last.report, false) {
		lines = append(lines, topLine{text, lookPlain})
	}
	m.scrolled = min(m.scrolled, max(len(lines)-height, 0))
	return lines[m.scrolled:min(m.scrolled+height, len(lines))]
}

// draw puts the lines on a screen, which sends a terminal what has changed.
func (m *topModel) draw(screen tcell.Screen) {
	width, height := screen.Size()
	for y, line := range m.lines(height) {
		text, style := line.text, m.style(line.look)
		for x := 0; x < width; {
			if text == "" {
				text = " "
			}
			rest, cells := screen.Put(x, y, text, style)
			text, x = rest, x+max(cells, 1)
		}
	}
	screen.Show()
}

// style is how a line looks: without colours, in what a terminal has besides.
func (m *topModel) style(look topLook) tcell.Style {
	style := tcell.StyleDefault
	switch {
	case look == lookHead:
		return style.Bold(true)
	case look == lookChosen:
		return style.Reverse(true)
	case look == lookGood && m.colours:
		return style.Foreground(tcell.ColorGreen)
	case look == lookBad && m.colours:
		return style.Foreground(tcell.ColorRed)
	}
	return style
}
