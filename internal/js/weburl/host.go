package weburl

import (
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	forbiddenHost   = "\x00\t\n\r #/:<>?@[\\]^|"
	forbiddenDomain = forbiddenHost + "%\x7f\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"
)

// profile is UTS #46 as the Standard wants it: not strict, as a URL is to be parsed and not registered.
var profile = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false),
		idna.CheckJoiners(true), idna.BidiRule(), idna.VerifyDNSLength(false))
})

func parseHost(s string, opaque bool) (string, bool) {
	if strings.HasPrefix(s, "[") {
		if !strings.HasSuffix(s, "]") {
			return "", false
		}
		return parseIPv6(s[1 : len(s)-1])
	}
	if opaque {
		if strings.ContainsAny(s, forbiddenHost) {
			return "", false
		}
		return encode(s, controlSet), true
	}
	domain, ok := toASCII(decode(s))
	if !ok || domain == "" || strings.ContainsAny(domain, forbiddenDomain) {
		return "", false
	}
	if endsInNumber(domain) {
		return parseIPv4(domain)
	}
	return domain, true
}

// toASCII leaves plain ASCII to itself, which is fast and passes by what idna refuses of labels without any meaning to it.
func toASCII(domain string) (string, bool) {
	if !utf8.ValidString(domain) {
		return "", false
	}
	lower := strings.ToLower(domain)
	ascii := true
	for i := range len(domain) {
		ascii = ascii && domain[i] < utf8.RuneSelf
	}
	if ascii && !strings.Contains(lower, "xn--") {
		return lower, true
	}
	s, err := profile().ToASCII(domain)
	return s, err == nil
}

func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseNumber(last)
	return ok
}

// parseNumber reads a part of an IPv4 address: decimal, octal or hexadecimal. One that is far too large is still a number.
func parseNumber(s string) (uint64, bool) {
	if s == "" {
		return 0, false
	}
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, true
	}
	if s[0] == '+' || s[0] == '-' || strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		return 1 << 63, true
	}
	return n, err == nil
}

func parseIPv4(domain string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(domain, "."), ".")
	if len(parts) > 4 {
		return "", false
	}
	var address uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		last := i == len(parts)-1
		if !ok || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return "", false
		}
		if last {
			address += n
		} else {
			address += n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}).String(), true
}

// parseIPv6 leaves the reading to net/netip, but not the writing: the Standard never writes the last 32 bits as IPv4.
func parseIPv6(s string) (string, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || strings.Contains(s, "%") {
		return "", false
	}
	if !a.Is4In6() {
		return "[" + a.String() + "]", true
	}
	b := a.As16()
	return "[::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" + strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16) + "]", true
}
