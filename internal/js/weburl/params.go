package weburl

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// Pair is a name and its value.
type Pair struct{ Name, Value string }

// Params is the list of a query. One that belongs to a URL keeps the URL's query in step.
type Params struct {
	Pairs []Pair
	url   *URL
}

// ParamsOf is the list of a URL's query.
func ParamsOf(u *URL) *Params {
	p := &Params{url: u}
	p.Parse(u.Query())
	return p
}

// Parse makes the list that of a query, and leaves the URL as it is.
func (p *Params) Parse(query string) {
	p.Pairs = nil
	for field := range strings.SplitSeq(query, "&") {
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		p.Pairs = append(p.Pairs, Pair{unescape(name), unescape(value)})
	}
}

func unescape(s string) string {
	return strings.ToValidUTF8(decode(strings.ReplaceAll(s, "+", " ")), "\uFFFD")
}

// InURL is the query that the list's URL is to have now, if the list belongs to one; Changed gives it to the URL.
func (p *Params) InURL() (query string, ok bool) {
	if p.url == nil {
		return "", false
	}
	return p.String(), true
}

func (p *Params) Changed(query string) { p.url.SetQuery(query, query != "") }

// String is the list as application/x-www-form-urlencoded.
func (p *Params) String() string {
	var b strings.Builder
	for i, pair := range p.Pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		escape(&b, pair.Name)
		b.WriteByte('=')
		escape(&b, pair.Value)
	}
	return b.String()
}

func escape(b *strings.Builder, s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case isAlpha(rune(c)) || isDigit(rune(c)) || strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
}

// Set gives a name one value, in the place of its first.
func (p *Params) Set(name, value string) {
	i := slices.IndexFunc(p.Pairs, func(q Pair) bool { return q.Name == name })
	if i < 0 {
		p.Pairs = append(p.Pairs, Pair{name, value})
		return
	}
	p.Pairs[i].Value = value
	rest := slices.DeleteFunc(p.Pairs[i+1:], func(q Pair) bool { return q.Name == name })
	p.Pairs = p.Pairs[:i+1+len(rest)]
}

// Sort sorts by names, by their UTF-16 code units, and keeps the order of equal ones.
func (p *Params) Sort() {
	slices.SortStableFunc(p.Pairs, func(a, b Pair) int {
		return slices.Compare(utf16.Encode([]rune(a.Name)), utf16.Encode([]rune(b.Name)))
	})
}
