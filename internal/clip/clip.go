// Package clip cuts texts.
package clip

import "unicode/utf8"

// To is the beginning of a text, of at most so many bytes, which does not end within a character.
func To(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most = max(most, 0); most > 0 && !utf8.RuneStart(text[most]); most-- {
	}
	return text[:most]
}
