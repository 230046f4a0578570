package intl

import (
	"math"
	"strconv"
	"strings"
)

// Decimal is an exact decimal number: 0.DIGITS times ten to the power of exp.
type Decimal struct {
	negative, nan, infinite bool
	digits                  []byte // '0' to '9', the first is not '0'; none: zero
	exp                     int
}

// Bounds of what a number as a string, or a BigInt, can make us write.
const (
	maxDigits   = 1 << 20
	maxExponent = 4 << 10
)

// FromFloat is the shortest decimal that reads as the number.
func FromFloat(f float64) Decimal {
	switch {
	case math.IsNaN(f):
		return Decimal{nan: true}
	case math.IsInf(f, 0):
		return Decimal{infinite: true, negative: f < 0}
	}
	d, _ := FromText(strconv.FormatFloat(f, 'e', -1, 64))
	return d
}

// FromText reads decimal digits, with a point and an exponent if there is one. It is not ok if that is not what it is.
func FromText(text string) (d Decimal, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	d.negative = negative
	if rest == "Infinity" {
		d.infinite = true
		return d, true
	}
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(rest), "e")
	if scaled {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxExponent || n < -maxExponent {
			return Decimal{nan: true}, false
		}
		d.exp = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return Decimal{nan: true}, false
	}
	d.exp += len(whole)
	trimmed := strings.TrimLeft(digits, "0")
	d.exp -= len(digits) - len(trimmed)
	d.digits = []byte(strings.TrimRight(trimmed, "0"))
	if len(d.digits) == 0 {
		d.exp = 0
	}
	return d, true
}

func (d Decimal) zero() bool { return len(d.digits) == 0 && !d.nan && !d.infinite }

// magnitude is the power of ten of the first digit.
func (d Decimal) magnitude() int {
	if d.zero() {
		return 0
	}
	return d.exp - 1
}

// rounded keeps a number of digits from the first on; it may be negative.
func (d Decimal) rounded(keep int, mode string) Decimal {
	if keep >= len(d.digits) {
		return d
	}
	half := 0 // the rest against a half: -1, 0, 1
	switch {
	case keep < 0 || d.digits[keep] < '5':
		half = -1
	case d.digits[keep] > '5' || len(d.digits) > keep+1:
		half = 1
	}
	odd := keep > 0 && (d.digits[keep-1]-'0')%2 == 1
	var up bool
	switch mode {
	case "ceil":
		up = !d.negative
	case "floor":
		up = d.negative
	case "expand":
		up = true
	case "trunc":
	case "halfCeil":
		up = half > 0 || half == 0 && !d.negative
	case "halfFloor":
		up = half > 0 || half == 0 && d.negative
	case "halfTrunc":
		up = half > 0
	case "halfEven":
		up = half > 0 || half == 0 && odd
	default: // halfExpand
		up = half >= 0
	}
	r := d
	r.digits = append([]byte{}, d.digits[:max(keep, 0)]...)
	if up {
		r.exp += max(-keep, 0)
		r.increment()
	}
	for len(r.digits) > 0 && r.digits[len(r.digits)-1] == '0' {
		r.digits = r.digits[:len(r.digits)-1]
	}
	if len(r.digits) == 0 {
		r.exp = 0
	}
	return r
}

// increment adds one to the last digit.
func (d *Decimal) increment() {
	for i := len(d.digits) - 1; i >= 0; i-- {
		if d.digits[i]++; d.digits[i] <= '9' {
			return
		}
		d.digits[i] = '0'
	}
	d.digits = append([]byte{'1'}, d.digits...)
	d.exp++
}

// text is the digits before and behind the point, with at least that many of each.
func (d Decimal) text(minInteger, minFraction int) (integer, fraction string) {
	digits := string(d.digits)
	switch {
	case d.exp <= 0:
		fraction = strings.Repeat("0", -d.exp) + digits
	case d.exp >= len(digits):
		integer = digits + strings.Repeat("0", d.exp-len(digits))
	default:
		integer, fraction = digits[:d.exp], digits[d.exp:]
	}
	if d.zero() {
		integer, fraction = "", ""
	}
	if n := minInteger - len(integer); n > 0 {
		integer = strings.Repeat("0", n) + integer
	}
	if n := minFraction - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	return integer, fraction
}
