// Package weburl is the parser of the URL Standard (url.spec.whatwg.org), which browsers and node have for URL.
package weburl

import (
	"strconv"
	"strings"
)

// MaxLength bounds what is parsed, in bytes. The Standard has no bound; browsers have one of about this size. The caller
// holds setters to it.
const MaxLength = 1 << 20

// URL is a parsed URL. Its parts are encoded as they stand in it.
type URL struct {
	scheme, username, password string

	host *string // nil: there is none
	port int     // -1: none, or the scheme's own

	path   []string // segments; of an opaque path the only one is the text
	opaque bool

	query, fragment *string
}

// Parse parses a text, which is to be valid UTF-8, relative to base unless that is nil.
func Parse(text string, base *URL) (*URL, bool) {
	if len(text) > MaxLength {
		return nil, false
	}
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	u := &URL{port: -1}
	p := parser{u: u, base: base, in: runes(text)}
	if !p.run(schemeStart) {
		return nil, false
	}
	return u, true
}

// runes are the characters of a text without those that the Standard ignores.
func runes(text string) []rune {
	return []rune(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text))
}

// override parses a text as a part of the URL.
func (u *URL) override(text string, s state) {
	p := parser{u: u, in: runes(text), setter: true}
	p.run(s)
}

var defaultPorts = map[string]int{"http": 80, "ws": 80, "https": 443, "wss": 443, "ftp": 21, "file": -1}

func isSpecial(scheme string) bool {
	_, ok := defaultPorts[scheme]
	return ok
}

func (u *URL) special() bool { return isSpecial(u.scheme) }

func (u *URL) hasCredentials() bool { return u.username != "" || u.password != "" }

func (u *URL) noCredentialsAllowed() bool {
	return u.host == nil || *u.host == "" || u.scheme == "file"
}

// Href is the whole URL.
func (u *URL) Href() string {
	var b strings.Builder
	b.WriteString(u.scheme + ":")
	if u.host != nil {
		b.WriteString("//")
		if u.hasCredentials() {
			b.WriteString(u.username)
			if u.password != "" {
				b.WriteString(":" + u.password)
			}
			b.WriteByte('@')
		}
		b.WriteString(u.Host())
	} else if !u.opaque && len(u.path) > 1 && u.path[0] == "" {
		b.WriteString("/.")
	}
	b.WriteString(u.Pathname())
	if u.query != nil {
		b.WriteString("?" + *u.query)
	}
	if u.fragment != nil {
		b.WriteString("#" + *u.fragment)
	}
	return b.String()
}

// Origin is "null" for schemes that have none.
func (u *URL) Origin() string {
	switch u.scheme {
	case "http", "https", "ftp", "ws", "wss":
		return u.scheme + "://" + u.Host()
	case "blob":
		if inner, ok := Parse(u.Pathname(), nil); ok && (inner.scheme == "http" || inner.scheme == "https") {
			return inner.Origin()
		}
	}
	return "null"
}

func (u *URL) Protocol() string { return u.scheme + ":" }
func (u *URL) Username() string { return u.username }
func (u *URL) Password() string { return u.password }

func (u *URL) Host() string {
	if u.port < 0 {
		return u.Hostname()
	}
	return u.Hostname() + ":" + u.Port()
}

func (u *URL) Hostname() string { return orEmpty("", u.host) }

func (u *URL) Port() string {
	if u.port < 0 {
		return ""
	}
	return strconv.Itoa(u.port)
}

func (u *URL) Pathname() string {
	if u.opaque {
		return u.path[0]
	}
	var b strings.Builder
	for _, segment := range u.path {
		b.WriteString("/" + segment)
	}
	return b.String()
}

func (u *URL) Search() string { return orEmpty("?", u.query) }
func (u *URL) Hash() string   { return orEmpty("#", u.fragment) }

// Query is the query without its question mark.
func (u *URL) Query() string { return orEmpty("", u.query) }

func orEmpty(mark string, s *string) string {
	if s == nil || *s == "" {
		return ""
	}
	return mark + *s
}

// SetHref leaves the URL as it is if the text is none.
func (u *URL) SetHref(text string) bool {
	parsed, ok := Parse(text, nil)
	if ok {
		*u = *parsed
	}
	return ok
}

func (u *URL) SetProtocol(v string) { u.override(v+":", schemeStart) }

func (u *URL) SetUsername(v string) {
	if !u.noCredentialsAllowed() {
		u.username = encode(v, userinfoSet)
	}
}

func (u *URL) SetPassword(v string) {
	if !u.noCredentialsAllowed() {
		u.password = encode(v, userinfoSet)
	}
}

func (u *URL) SetHost(v string) {
	if !u.opaque {
		u.override(v, hostState)
	}
}

func (u *URL) SetHostname(v string) {
	if !u.opaque {
		u.override(v, hostnameState)
	}
}

func (u *URL) SetPort(v string) {
	switch {
	case u.noCredentialsAllowed():
	case v == "":
		u.port = -1
	default:
		u.override(v, portState)
	}
}

func (u *URL) SetPathname(v string) {
	if !u.opaque {
		u.path = nil
		u.override(v, pathStart)
	}
}

func (u *URL) SetSearch(v string) { u.SetQuery(strings.TrimPrefix(v, "?"), v != "") }

// SetQuery sets the query, or takes it away.
func (u *URL) SetQuery(v string, present bool) {
	u.query = nil
	if present {
		u.query = new(string)
		u.override(v, queryState)
		return
	}
	u.stripOpaque()
}

func (u *URL) SetHash(v string) {
	u.fragment = nil
	if v == "" {
		u.stripOpaque()
		return
	}
	u.fragment = new(string)
	u.override(strings.TrimPrefix(v, "#"), fragmentState)
}

// stripOpaque takes spaces off the end of an opaque path that nothing follows any more.
func (u *URL) stripOpaque() {
	if u.opaque && u.query == nil && u.fragment == nil {
		u.path[0] = strings.TrimRight(u.path[0], " ")
	}
}

// shorten drops the last segment, but not a file's drive letter.
func (u *URL) shorten() {
	n := len(u.path)
	if n == 0 || u.scheme == "file" && n == 1 && isNormalDrive(u.path[0]) {
		return
	}
	u.path = u.path[: n-1 : n-1]
}

func isAlpha(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 }
func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isNormalDrive(s string) bool { return len(s) == 2 && isAlpha(rune(s[0])) && s[1] == ':' }

func isDrive(s []rune) bool { return len(s) == 2 && isAlpha(s[0]) && (s[1] == ':' || s[1] == '|') }

func startsWithDrive(s []rune) bool {
	return len(s) >= 2 && isDrive(s[:2]) && (len(s) == 2 || strings.ContainsRune("/\\?#", s[2]))
}
