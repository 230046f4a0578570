package regexp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
	"github.com/sandboxd/sandboxd/tests/skip"
)

// golden is what node answers: of each pattern the matches in each subject, or the error.
type golden struct {
	Subjects [][]uint16
	Patterns []struct {
		P, F, Error string
		Answers     []string
	}
}

func TestAsNode(t *testing.T) {
	text, err := os.ReadFile("testdata/node.json")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, text)
}

// TestAsThisNode asks the node that is installed, which may be another than the golden file's.
func TestAsThisNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		skip.Because(t, "node: %v", err)
	}
	text, err := exec.Command("node", "testdata/node.mjs").Output()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, text)
}

func compare(t *testing.T, text []byte) {
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	for _, p := range g.Patterns {
		t.Run("/"+p.P+"/"+p.F, func(t *testing.T) {
			flags, _ := regexp.ParseFlags(p.F)
			program, err := regexp.CompileString(p.P, flags)
			if err != nil || p.Error != "" {
				if got := fmt.Sprintf("Invalid regular expression: /%s/%s: %v", p.P, p.F, err); got != p.Error {
					t.Errorf("got %s, want %s", got, p.Error)
				}
				return
			}
			for i, s := range g.Subjects {
				if got := matches(t, program, s); got != p.Answers[i] {
					t.Errorf("in %q: got %s, want %s", string(utf16.Decode(s)), got, p.Answers[i])
				}
			}
		})
	}
}

// matches are the first matches of a program, as exec in a loop finds them.
func matches(t *testing.T, p *regexp.Program, s []uint16) string {
	var m regexp.Matcher
	var all []string
	for at := 0; at <= len(s) && len(all) < 6; {
		found, err := m.MatchUTF16(p, s, at, p.Flags.Has(regexp.Sticky))
		if err != nil {
			t.Fatal(err)
		}
		if ascii, ok := asASCII(s); ok {
			wide := bounds(found)
			if found, err = m.MatchASCII(p, ascii, at, p.Flags.Has(regexp.Sticky)); err != nil || bounds(found) != wide {
				t.Errorf("in %q: as ASCII %s, as UTF-16 %s", ascii, bounds(found), wide)
			}
		}
		if found == nil {
			break
		}
		text := bounds(found)
		for _, g := range p.Groups {
			value := "undefined"
			for _, n := range g.Indexes {
				if found[2*n] >= 0 {
					value = string(utf16.Decode(s[found[2*n]:found[2*n+1]]))
				}
			}
			text += " " + g.Name + "=" + value
		}
		all = append(all, text)
		if !p.Flags.Has(regexp.Global) {
			break
		}
		if at = int(found[1]); found[0] == found[1] {
			at++
		}
	}
	return strings.Join(all, "|")
}

func bounds(found []int32) string {
	var b []string
	for i := 0; i < len(found); i += 2 {
		if found[i] < 0 {
			b = append(b, "-")
		} else {
			b = append(b, fmt.Sprintf("%d:%d", found[i], found[i+1]))
		}
	}
	return strings.Join(b, " ")
}

func asASCII(s []uint16) (string, bool) {
	b := make([]byte, len(s))
	for i, c := range s {
		if c > 127 {
			return "", false
		}
		b[i] = byte(c)
	}
	return string(b), true
}
