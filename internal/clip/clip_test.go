package clip_test

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/clip"
)

func TestTo(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"", 0, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"aä", 2, "a"}, {"aä", 3, "aä"}, {"äx", 1, ""},
		{"a😀b", 4, "a"}, {"a😀b", 5, "a😀"}, {strings.Repeat("\x80", 9), 5, ""},
	} {
		if got := clip.To(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
