package typescript

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sandboxd/sandboxd/internal/clip"
)

// identifier matches the names that stand as they are. ECMAScript allows more of them, in other scripts; those are quoted,
// which is right too.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// property is a name as a property of a type: as it is, or quoted.
func property(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

// member is the access to a name: .name or ["name"].
func member(name string) string {
	if identifier.MatchString(name) {
		return "." + name
	}
	return "[" + quote(name) + "]"
}

// quote is a string literal. What a reader would not see, or would see in another place than it has, is escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// hidden are control characters, line separators, and characters that have no width or turn the direction of the text.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

const maxDoc = 2000 // bytes of a description that are shown

// sentences makes a description fit to stand in a comment: it can't end the comment, nor hide or reorder what is read.
func sentences(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, text)
	text = strings.ReplaceAll(strings.TrimSpace(text), "*/", "* /")
	return shortened(text, maxDoc)
}

// shortened shortens a text to so many bytes, and shows that it did.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.TrimSpace(clip.To(text, most)) + " …"
}

// pascal makes one word of a name, as the names of types have it.
func pascal(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	return b.String()
}
