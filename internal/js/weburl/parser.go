package weburl

import (
	"strconv"
	"strings"
)

type state int

// The states are those of the Standard's basic URL parser.
const (
	schemeStart state = iota
	schemeState
	noScheme
	specialRelativeOrAuthority
	pathOrAuthority
	relative
	relativeSlash
	specialAuthorityIgnoreSlashes
	authority
	hostState
	hostnameState
	portState
	fileState
	fileSlash
	fileHost
	pathStart
	pathState
	opaquePath
	queryState
	fragmentState
)

// eof stands for the end of the text.
const eof rune = -1

// parser is the Standard's state machine. With setter, it changes a part of a URL that there is: such a run ends early.
type parser struct {
	u      *URL
	base   *URL
	in     []rune
	at     int
	buf    []rune
	setter bool

	start      state
	atSign     bool
	password   bool
	inBrackets bool
}

// verdict is how a state ends a character.
type verdict int

const (
	goOn verdict = iota
	done
	failed
)

func (p *parser) run(s state) bool {
	p.start = s
	for p.at = 0; p.at <= len(p.in); p.at++ {
		c := eof
		if p.at < len(p.in) {
			c = p.in[p.at]
		}
		switch next, v := p.step(s, c); v {
		case failed:
			return false
		case done:
			return true
		default:
			s = next
		}
	}
	return true
}

func (p *parser) rest() []rune { return p.in[min(p.at+1, len(p.in)):] }

func (p *parser) starts(text string) bool {
	rest := p.rest()
	return len(rest) >= len(text) && string(rest[:len(text)]) == text
}

func (p *parser) take() string {
	s := string(p.buf)
	p.buf = p.buf[:0]
	return s
}

// slash tells what separates: in special URLs, a backslash does too.
func (p *parser) slash(c rune) bool { return c == '/' || c == '\\' && p.u.special() }

func (p *parser) step(s state, c rune) (state, verdict) {
	u := p.u
	switch s {
	case schemeStart, schemeState:
		return p.scheme(s, c)
	case noScheme:
		return p.withoutScheme(c)
	case specialRelativeOrAuthority:
		if c == '/' && p.starts("/") {
			p.at++
			return specialAuthorityIgnoreSlashes, goOn
		}
		p.at--
		return relative, goOn
	case pathOrAuthority:
		if c == '/' {
			return authority, goOn
		}
		p.at--
		return pathState, goOn
	case relative:
		return p.relative(c)
	case relativeSlash:
		switch {
		case u.special() && (c == '/' || c == '\\'):
			return specialAuthorityIgnoreSlashes, goOn
		case c == '/':
			return authority, goOn
		}
		u.username, u.password, u.host, u.port = p.base.username, p.base.password, p.base.host, p.base.port
		p.at--
		return pathState, goOn
	case specialAuthorityIgnoreSlashes:
		if c != '/' && c != '\\' {
			p.at--
			return authority, goOn
		}
		return s, goOn
	case authority:
		return p.authority(c)
	case hostState, hostnameState:
		return p.host(s, c)
	case portState:
		return p.port(c)
	case fileState:
		return p.file(c)
	case fileSlash:
		if c == '/' || c == '\\' {
			return fileHost, goOn
		}
		if p.base != nil && p.base.scheme == "file" {
			u.host = p.base.host
			if !startsWithDrive(p.in[min(p.at, len(p.in)):]) && len(p.base.path) > 0 && isNormalDrive(p.base.path[0]) {
				u.path = append(u.path, p.base.path[0])
			}
		}
		p.at--
		return pathState, goOn
	case fileHost:
		return p.fileHost(c)
	case pathStart:
		return p.pathStart(c)
	case pathState:
		return p.path(c)
	case opaquePath:
		return p.opaque(c)
	case queryState:
		if !p.setter && c == '#' || c == eof {
			set := querySet
			if u.special() {
				set = specialQuerySet
			}
			*u.query += encode(p.take(), set)
			return p.fragment(c)
		}
		p.buf = append(p.buf, c)
		return s, goOn
	}
	if c == eof {
		*u.fragment += encode(p.take(), fragmentSet)
		return s, done
	}
	p.buf = append(p.buf, c)
	return s, goOn
}

func (p *parser) scheme(s state, c rune) (state, verdict) {
	switch {
	case s == schemeStart && isAlpha(c):
		p.buf = append(p.buf, c|0x20)
		return schemeState, goOn
	case s == schemeState && (isAlpha(c) || isDigit(c) || c == '+' || c == '-' || c == '.'):
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		p.buf = append(p.buf, c)
		return s, goOn
	case s == schemeState && c == ':':
		return p.schemeEnd()
	case p.setter:
		return s, failed
	}
	p.buf, p.at = p.buf[:0], -1
	return noScheme, goOn
}

func (p *parser) schemeEnd() (state, verdict) {
	u, scheme := p.u, p.take()
	if p.setter {
		if u.special() != isSpecial(scheme) || (u.hasCredentials() || u.port >= 0) && scheme == "file" ||
			u.scheme == "file" && orEmpty("", u.host) == "" {
			return 0, done
		}
		u.scheme = scheme
		if port, ok := defaultPorts[scheme]; ok && u.port == port {
			u.port = -1
		}
		return 0, done
	}
	u.scheme = scheme
	switch {
	case scheme == "file":
		return fileState, goOn
	case u.special() && p.base != nil && p.base.scheme == scheme:
		return specialRelativeOrAuthority, goOn
	case u.special():
		if p.starts("//") {
			p.at++
		}
		return specialAuthorityIgnoreSlashes, goOn
	case p.starts("/"):
		p.at++
		return pathOrAuthority, goOn
	}
	u.opaque, u.path = true, []string{""}
	return opaquePath, goOn
}

func (p *parser) withoutScheme(c rune) (state, verdict) {
	u, base := p.u, p.base
	switch {
	case base == nil, base.opaque && c != '#':
		return 0, failed
	case base.opaque:
		u.scheme, u.path, u.opaque, u.query = base.scheme, clone(base.path), true, base.query
		u.fragment = new(string)
		return fragmentState, goOn
	}
	p.at--
	if base.scheme == "file" {
		return fileState, goOn
	}
	return relative, goOn
}

func (p *parser) relative(c rune) (state, verdict) {
	u, base := p.u, p.base
	u.scheme = base.scheme
	if p.slash(c) {
		return relativeSlash, goOn
	}
	u.username, u.password, u.host, u.port = base.username, base.password, base.host, base.port
	return p.fromBase(c)
}

// fromBase takes path and query of the base, as far as the text has none of its own.
func (p *parser) fromBase(c rune) (state, verdict) {
	u, base := p.u, p.base
	u.path, u.query = clone(base.path), base.query
	switch c {
	case '?':
		u.query = new(string)
		return queryState, goOn
	case '#':
		u.fragment = new(string)
		return fragmentState, goOn
	case eof:
		return 0, done
	}
	u.query = nil
	if u.scheme == "file" && startsWithDrive(p.in[p.at:]) {
		u.path = nil
	} else {
		u.shorten()
	}
	p.at--
	return pathState, goOn
}

func clone(path []string) []string { return append([]string(nil), path...) }

func (p *parser) authority(c rune) (state, verdict) {
	u := p.u
	switch {
	case c == '@':
		before := p.take()
		if p.atSign {
			before = "%40" + before
		}
		p.atSign = true
		if !p.password {
			var name string
			name, before, p.password = strings.Cut(before, ":")
			u.username += encode(name, userinfoSet)
		}
		u.password += encode(before, userinfoSet)
	case c == eof || p.slash(c) || c == '?' || c == '#':
		if p.atSign && len(p.buf) == 0 {
			return 0, failed
		}
		p.at -= len(p.buf) + 1
		p.buf = p.buf[:0]
		return hostState, goOn
	default:
		p.buf = append(p.buf, c)
	}
	return authority, goOn
}

func (p *parser) host(s state, c rune) (state, verdict) {
	u := p.u
	if p.setter && u.scheme == "file" {
		p.at--
		return fileHost, goOn
	}
	end := c == eof || p.slash(c) || c == '?' || c == '#'
	if c == ':' && !p.inBrackets || end {
		if c == ':' && p.setter && p.start == hostnameState {
			return s, failed
		}
		if len(p.buf) == 0 && (u.special() || c == ':' || p.setter && (u.hasCredentials() || u.port >= 0)) {
			return s, failed
		}
		host, ok := parseHost(p.take(), !u.special())
		if !ok {
			return s, failed
		}
		u.host = &host
		if c == ':' {
			return portState, goOn
		}
		if p.setter {
			return s, done
		}
		p.at--
		return pathStart, goOn
	}
	switch c {
	case '[':
		p.inBrackets = true
	case ']':
		p.inBrackets = false
	}
	p.buf = append(p.buf, c)
	return s, goOn
}

func (p *parser) port(c rune) (state, verdict) {
	u := p.u
	switch {
	case isDigit(c):
		if len(p.buf) == 1 && p.buf[0] == '0' {
			p.buf = p.buf[:0] // leading zeros mean nothing, and are not kept
		}
		p.buf = append(p.buf, c)
		if len(p.buf) > 5 {
			return portState, failed
		}
		return portState, goOn
	case c == eof, p.slash(c), c == '?', c == '#', p.setter:
		if len(p.buf) > 0 {
			port, _ := strconv.Atoi(p.take())
			if port > 65535 {
				return portState, failed
			}
			if usual, ok := defaultPorts[u.scheme]; ok && port == usual {
				port = -1
			}
			u.port = port
			if p.setter {
				return portState, done
			}
		}
		if p.setter {
			return portState, failed
		}
		p.at--
		return pathStart, goOn
	}
	return portState, failed
}

func (p *parser) file(c rune) (state, verdict) {
	u, base := p.u, p.base
	u.scheme = "file"
	u.host = new(string)
	switch {
	case c == '/' || c == '\\':
		return fileSlash, goOn
	case base != nil && base.scheme == "file":
		u.host = base.host
		return p.fromBase(c)
	}
	p.at--
	return pathState, goOn
}

func (p *parser) fileHost(c rune) (state, verdict) {
	u := p.u
	if c != eof && c != '/' && c != '\\' && c != '?' && c != '#' {
		p.buf = append(p.buf, c)
		return fileHost, goOn
	}
	p.at--
	if !p.setter && isDrive(p.buf) {
		return pathState, goOn // the buffer is the path's first segment
	}
	if len(p.buf) == 0 {
		u.host = new(string)
	} else {
		host, ok := parseHost(p.take(), !u.special())
		if !ok {
			return fileHost, failed
		}
		if host == "localhost" {
			host = ""
		}
		u.host = &host
	}
	if p.setter {
		return fileHost, done
	}
	return pathStart, goOn
}

func (p *parser) pathStart(c rune) (state, verdict) {
	u := p.u
	switch {
	case u.special():
		if c != '/' && c != '\\' {
			p.at--
		}
		return pathState, goOn
	case !p.setter && c == '?':
		u.query = new(string)
		return queryState, goOn
	case !p.setter && c == '#':
		u.fragment = new(string)
		return fragmentState, goOn
	case c != eof:
		if c != '/' {
			p.at--
		}
		return pathState, goOn
	case p.setter && u.host == nil:
		u.path = append(u.path, "")
	}
	return pathStart, goOn
}

func (p *parser) path(c rune) (state, verdict) {
	u := p.u
	slash := p.slash(c)
	if c != eof && !slash && (p.setter || c != '?' && c != '#') {
		p.buf = append(p.buf, c)
		return pathState, goOn
	}
	segment := encode(p.take(), pathSet)
	switch dots(segment) {
	case 2:
		u.shorten()
		if !slash {
			u.path = append(u.path, "")
		}
	case 1:
		if !slash {
			u.path = append(u.path, "")
		}
	default:
		if u.scheme == "file" && len(u.path) == 0 && isDrive([]rune(segment)) {
			segment = segment[:1] + ":"
		}
		u.path = append(u.path, segment)
	}
	switch c {
	case '?':
		u.query = new(string)
		return queryState, goOn
	case '#':
		u.fragment = new(string)
		return fragmentState, goOn
	}
	return pathState, goOn
}

// dots tells "." and "..", which can be percent-encoded, from other segments.
func dots(segment string) int {
	if len(segment) > len("%2e%2e") {
		return 0
	}
	switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

func (p *parser) opaque(c rune) (state, verdict) {
	u := p.u
	switch {
	case c == '?' || c == '#' || c == eof:
		u.path[0] = encode(p.take(), controlSet)
		if c == '?' {
			u.query = new(string)
			return queryState, goOn
		}
		return p.fragment(c)
	}
	p.buf = append(p.buf, c)
	return opaquePath, goOn
}

func (p *parser) fragment(c rune) (state, verdict) {
	if c == eof {
		return 0, done
	}
	p.u.fragment = new(string)
	return fragmentState, goOn
}
