package js

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Which texts are dates the standard leaves to engines, but for its own format, and programs ask it of every text that could
// be one: isNaN(Date.parse(s)). goja takes texts for dates that no other engine does, such as "x2024-01-01" (of 2001) and
// "1704164645000" (of 5000). This reads what V8 reads, in the same way: the standard's format, and else numbers, names of
// months and of zones in nearly any order.

// parseDate gives the time of a text in milliseconds since 1970. What names no zone is local time, but for a date without a
// time in the standard's format.
func parseDate(text string, local *time.Location) (ms int64, ok bool) {
	var days [3]int
	var clock [4]int
	p := dateParser{text: text, day: days[:0], clock: clock[:0]}
	p.next()
	if !p.standard() && (p.wrong || !p.loose()) {
		return 0, false
	}
	return p.time(local)
}

// dateToken is a number, a word, a sign or what may stand between these. Its kind is the character itself for signs.
type dateToken struct {
	kind   byte
	value  int
	length int
}

const (
	tokenEnd    = 0
	tokenNumber = '0'
	tokenMonth  = 'M'
	tokenHalf   = 'H' // of a day
	tokenZone   = 'Z'
	tokenT      = 'T'
	tokenWord   = 'W'
	tokenSpace  = ' '
	tokenOther  = '?'
)

// dateWords are known by their first three letters; only months may have more.
var dateWords = map[string]dateToken{
	"jan": {tokenMonth, 1, 0}, "feb": {tokenMonth, 2, 0}, "mar": {tokenMonth, 3, 0}, "apr": {tokenMonth, 4, 0},
	"may": {tokenMonth, 5, 0}, "jun": {tokenMonth, 6, 0}, "jul": {tokenMonth, 7, 0}, "aug": {tokenMonth, 8, 0},
	"sep": {tokenMonth, 9, 0}, "oct": {tokenMonth, 10, 0}, "nov": {tokenMonth, 11, 0}, "dec": {tokenMonth, 12, 0},
	"am": {tokenHalf, 0, 0}, "pm": {tokenHalf, 12, 0}, "t": {tokenT, 0, 0},
	"z": {tokenZone, 0, 0}, "ut": {tokenZone, 0, 0}, "utc": {tokenZone, 0, 0}, "gmt": {tokenZone, 0, 0},
	"est": {tokenZone, -5, 0}, "edt": {tokenZone, -4, 0}, "cst": {tokenZone, -6, 0}, "cdt": {tokenZone, -5, 0},
	"mst": {tokenZone, -7, 0}, "mdt": {tokenZone, -6, 0}, "pst": {tokenZone, -8, 0}, "pdt": {tokenZone, -7, 0},
}

type dateParser struct {
	text string // what was not read yet
	peek dateToken

	day     []int // up to three numbers
	month   int   // by its name; 0: none
	iso     bool  // the numbers are year, month and day
	clock   []int // hour, minute, second, millisecond
	half    int   // hours to add to one of twelve
	hasHalf bool
	sign    int  // of the zone; 0: there is none
	hour    int  // of the zone
	minute  int  // of the zone; -1: it may follow
	wrong   bool // the text begins as a standard one with a time, and is none
}

// next takes the token that peek shows, and gives it.
func (p *dateParser) next() dateToken {
	taken := p.peek
	p.peek = p.scan()
	return taken
}

// maxDateDigits is how many digits of a number count.
const maxDateDigits = 9

func (p *dateParser) scan() dateToken {
	if p.text == "" {
		return dateToken{}
	}
	c := p.text[0]
	switch {
	case c >= '0' && c <= '9':
		return p.scanNumber()
	case strings.IndexByte(":-+.)", c) >= 0:
		p.text = p.text[1:]
		return dateToken{kind: c, length: 1}
	case c == '(':
		p.skipParentheses()
		return dateToken{kind: tokenOther}
	}
	n := 0
	for n < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[n:])
		if r < 'A' || isDateSpace(r) {
			break
		}
		n += size
	}
	if n > 0 {
		word := p.text[:n]
		p.text = p.text[n:]
		return dateWord(word)
	}
	r, size := utf8.DecodeRuneInString(p.text)
	p.text = p.text[size:]
	if isDateSpace(r) {
		return dateToken{kind: tokenSpace}
	}
	return dateToken{kind: tokenOther}
}

func (p *dateParser) scanNumber() dateToken {
	n, value, digits := 0, 0, 0
	for ; n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9'; n++ {
		if digits > 0 || p.text[n] != '0' {
			if digits++; digits <= maxDateDigits {
				value = value*10 + int(p.text[n]-'0')
			}
		}
	}
	p.text = p.text[n:]
	return dateToken{tokenNumber, value, n}
}

func (p *dateParser) skipParentheses() {
	open := 0
	for i := range len(p.text) {
		switch p.text[i] {
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			p.text = p.text[i+1:]
			return
		}
	}
	p.text = ""
}

func dateWord(word string) dateToken {
	known, ok := dateWords[strings.ToLower(word[:min(3, len(word))])]
	if !ok || len(word) > 3 && known.kind != tokenMonth {
		known = dateToken{kind: tokenWord}
	}
	known.length = len(word)
	return known
}

func isDateSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func (p *dateParser) skip(sign byte) bool {
	if p.peek.kind != sign {
		return false
	}
	p.next()
	return true
}

// fixed takes a number of so many digits, within bounds.
func (p *dateParser) fixed(length, least, most int) (value int, ok bool) {
	if t := p.peek; t.kind != tokenNumber || t.length != length || t.value < least || t.value > most {
		return 0, false
	}
	return p.next().value, true
}

// standard reads the standard's format, to its end: year, year-month or year-month-day, and a time behind a T. What it took of
// another text stays taken.
func (p *dateParser) standard() bool {
	year, ok := 0, false
	if sign := p.peek.kind; sign == '-' || sign == '+' {
		before := *p
		p.next()
		if year, ok = p.fixed(6, 0, 999999); !ok || sign == '-' && year == 0 {
			*p = before
			return false
		}
		if sign == '-' {
			year = -year
		}
	} else if year, ok = p.fixed(4, 0, 9999); !ok {
		return false
	}
	p.day = append(p.day, year)
	for _, most := range []int{12, 31} {
		if !p.skip('-') {
			break
		}
		n, ok := p.fixed(2, 1, most)
		if !ok {
			return false
		}
		p.day = append(p.day, n)
	}
	switch p.peek.kind {
	case tokenEnd:
		p.sign = 1
	case tokenT:
		p.next()
		if !p.standardTime() || p.peek.kind != tokenEnd {
			p.wrong = true
			return false
		}
	default:
		return false
	}
	p.iso = true
	return true
}

func (p *dateParser) standardTime() bool {
	hour, ok := p.fixed(2, 0, 24)
	if !ok || !p.skip(':') {
		return false
	}
	most := 59
	if hour == 24 {
		most = 0
	}
	minute, ok := p.fixed(2, 0, most)
	if !ok {
		return false
	}
	p.clock = append(p.clock, hour, minute)
	if p.skip(':') {
		second, ok := p.fixed(2, 0, most)
		if !ok {
			return false
		}
		p.clock = append(p.clock, second)
		if p.skip('.') {
			if p.peek.kind != tokenNumber || hour == 24 && p.peek.value > 0 {
				return false
			}
			p.clock = append(p.clock, thousandths(p.next()))
		}
	}
	return p.standardZone()
}

func (p *dateParser) standardZone() bool {
	switch sign := p.peek.kind; {
	case sign == tokenZone && p.peek.length == 1:
		p.next()
		p.sign = 1
	case sign == '+' || sign == '-':
		p.next()
		p.setSign(sign)
		if n, ok := p.fixed(4, 0, 2359); ok && n%100 < 60 {
			p.hour, p.minute = n/100, n%100
			return true
		}
		hour, ok := p.fixed(2, 0, 23)
		if !ok || !p.skip(':') {
			return false
		}
		minute, ok := p.fixed(2, 0, 59)
		p.hour, p.minute = hour, minute
		return ok
	}
	return true
}

func (p *dateParser) setSign(sign byte) {
	p.sign = 1
	if sign == '-' {
		p.sign = -1
	}
}

// thousandths are the digits behind a second.
func thousandths(t dateToken) int {
	n, length := t.value, min(t.length, maxDateDigits)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

// loose reads any other text.
func (p *dateParser) loose() bool {
	number := len(p.day) > 0 // one was read
	for p.peek.kind != tokenEnd {
		switch t := p.next(); t.kind {
		case tokenNumber:
			number = true
			if !p.looseNumber(t.value) {
				return false
			}
		case tokenHalf, tokenMonth, tokenZone, tokenT, tokenWord:
			if !p.looseWord(t, number) {
				return false
			}
		case '+', '-':
			if !p.zoned() && len(p.clock) == 0 {
				if number {
					return false
				}
				continue
			}
			number = true
			if !p.looseZone(t.kind) {
				return false
			}
		case ')':
			if number {
				return false
			}
		}
	}
	return true
}

// zoned says that UTC was named.
func (p *dateParser) zoned() bool { return p.sign != 0 && p.hour == 0 && p.minute == 0 }

// expects says that a number can go on with the time.
func (p *dateParser) expects(n int) bool {
	switch len(p.clock) {
	case 1, 2:
		return n < 60
	case 3:
		return n < 1000
	}
	return false
}

func (p *dateParser) looseNumber(n int) bool {
	switch {
	case p.skip(':'):
		if p.skip(':') {
			if len(p.clock) > 0 {
				return false
			}
			p.clock = append(p.clock, n, 0)
			return true
		}
		if len(p.clock) == 4 {
			return false
		}
		p.clock = append(p.clock, n)
		p.skip('.')
	case p.skip('.') && p.expects(n):
		p.clock = append(p.clock, n)
		if p.peek.kind != tokenNumber {
			return false
		}
		p.finish(thousandths(p.next()))
	case p.sign != 0 && p.minute < 0 && n < 60:
		p.minute = n
	case p.expects(n):
		p.finish(n)
		switch p.peek.kind {
		case tokenEnd, tokenSpace, '+', '-':
		default:
			return p.peek.kind == tokenZone && p.peek.length == 1
		}
	default:
		if len(p.day) == 3 {
			return false
		}
		p.day = append(p.day, n)
		p.skip('-')
	}
	return true
}

// finish ends the time: what follows is no part of it.
func (p *dateParser) finish(n int) {
	if len(p.clock) < 4 {
		p.clock = append(p.clock, n)
	}
	for len(p.clock) < 4 {
		p.clock = append(p.clock, 0)
	}
}

func (p *dateParser) looseWord(t dateToken, number bool) bool {
	switch {
	case t.kind == tokenHalf && len(p.clock) > 0:
		p.half, p.hasHalf = t.value, true
	case t.kind == tokenMonth:
		p.month = t.value
		p.skip('-')
	case t.kind == tokenZone && number:
		p.sign, p.hour, p.minute = 1, t.value, 0
		if t.value < 0 {
			p.sign, p.hour = -1, -t.value
		}
	default: // any other word may stand before the numbers, but not at one
		return !number && p.peek.kind != tokenNumber
	}
	return true
}

// looseZone reads what follows a sign behind a time or UTC.
func (p *dateParser) looseZone(sign byte) bool {
	p.setSign(sign)
	var t dateToken
	if p.peek.kind == tokenNumber {
		t = p.next()
	}
	switch {
	case p.peek.kind == ':':
		p.hour, p.minute = t.value, -1
	case t.length == 1 || t.length == 2:
		p.hour, p.minute = t.value, 0
	case t.length == 3 || t.length == 4:
		p.hour, p.minute = t.value/100, t.value%100
	default:
		return false
	}
	return true
}

// maxTime is the last time that a Date can have, in milliseconds.
const maxTime = 8.64e15

func (p *dateParser) time(local *time.Location) (ms int64, ok bool) {
	year, month, day, ok := p.date()
	if !ok {
		return 0, false
	}
	for len(p.clock) < 4 {
		p.clock = append(p.clock, 0)
	}
	hour, minute, second, milli := p.clock[0], p.clock[1], p.clock[2], p.clock[3]
	if p.hasHalf {
		if hour > 12 {
			return 0, false
		}
		hour = hour%12 + p.half
	}
	midnight := hour == 24 && minute == 0 && second == 0 && milli == 0
	if (hour > 23 || minute > 59 || second > 59 || milli > 999) && !midnight {
		return 0, false
	}
	zone, offset := local, 0
	if p.sign != 0 {
		zone, offset = time.UTC, p.sign*(p.hour*60+max(0, p.minute))
	}
	ms = time.Date(year, time.Month(month), day, hour, minute, second, milli*1e6, zone).UnixMilli() - int64(offset)*60_000
	return ms, ms >= -maxTime && ms <= maxTime
}

// date says which number is which.
func (p *dateParser) date() (year, month, day int, ok bool) {
	if len(p.day) == 0 {
		return 0, 0, 0, false
	}
	for len(p.day) < 3 {
		p.day = append(p.day, 1)
	}
	a, b, c := p.day[0], p.day[1], p.day[2]
	isDay := a >= 1 && a <= 31
	switch {
	case p.month == 0 && (p.iso || !isDay):
		year, month, day = a, b, c
	case p.month == 0:
		year, month, day = c, a, b
	case isDay:
		year, month, day = b, p.month, a
	default:
		year, month, day = a, p.month, b
	}
	if !p.iso {
		switch {
		case year >= 0 && year < 50:
			year += 2000
		case year >= 50 && year < 100:
			year += 1900
		}
	}
	return year, month, day, month >= 1 && month <= 12 && day >= 1 && day <= 31
}
