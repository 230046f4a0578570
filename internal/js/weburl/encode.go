package weburl

import "strings"

// set is the ASCII characters that are percent-encoded, apart from the controls, which always are.
type set string

const (
	controlSet      set = ""
	fragmentSet     set = " \"<>`"
	querySet        set = " \"#<>"
	specialQuerySet set = querySet + "'"
	pathSet         set = querySet + "?`{}"
	userinfoSet     set = pathSet + "/:;=@[\\]^|"
)

const hexDigits = "0123456789ABCDEF"

func encode(s string, except set) string {
	plain := func(c byte) bool { return c > 0x1f && c < 0x7f && strings.IndexByte(string(except), c) < 0 }
	n := 0
	for n < len(s) && plain(s[n]) {
		n++
	}
	if n == len(s) {
		return s
	}
	b := make([]byte, n, len(s)+16)
	copy(b, s)
	for ; n < len(s); n++ {
		if plain(s[n]) {
			b = append(b, s[n])
		} else {
			b = append(b, '%', hexDigits[s[n]>>4], hexDigits[s[n]&15])
		}
	}
	return string(b)
}

// decode replaces percent-encoded bytes; what is no such byte stays.
func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0 {
			b = append(b, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func unhex(c byte) int {
	switch {
	case isDigit(rune(c)):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
