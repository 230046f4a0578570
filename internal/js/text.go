package js

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// encodings are the Encoding Standard's labels of those that are here.
var encodings = map[string][]string{
	"utf-8":        {"unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"},
	"utf-16le":     {"csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le"},
	"utf-16be":     {"unicodefffe", "utf-16be"},
	"windows-1252": {"ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100", "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252", "x-cp1252"},
}

// windows1252 is its bytes from 0x80 to 0x9f; the others are those of Latin-1.
var windows1252 = [32]uint16{
	0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
}

// decoder is the state of a TextDecoder. Bytes of a character that is not complete wait in rest.
type decoder struct {
	encoding         string
	fatal, ignoreBOM bool

	rest    []byte
	started bool // the byte order mark was seen, or was not there
	more    bool // the last call said that more would come
}

func (e *Engine) textNatives() natives {
	bytes, dataView := e.global("Uint8Array"), e.viewGetters("DataView")
	return natives{
		"encode": func(fc goja.FunctionCall) goja.Value {
			buffer := e.vm.NewArrayBuffer([]byte(fc.Argument(0).String()))
			return must(e.vm.New(bytes, e.vm.ToValue(buffer)))
		},
		"encodeInto": e.encodeInto,
		"newDecoder": e.newDecoder,
		"decoder": func(fc goja.FunctionCall) goja.Value {
			d := heldIn[*decoder](fc.Argument(0))
			return e.vm.ToValue([]any{d.encoding, d.fatal, d.ignoreBOM}[fc.Argument(1).ToInteger()])
		},
		"decode": func(fc goja.FunctionCall) goja.Value {
			in, ok := e.bytes(fc.Argument(1), dataView)
			if !ok {
				panic(e.newError(e.real.typeError, "TextDecoder.decode takes an ArrayBuffer or a view of one, it was given "+kindName(fc.Argument(1))))
			}
			return e.decodeText(heldIn[*decoder](fc.Argument(0)), in, fc.Argument(2).ToBoolean())
		},
	}
}

// encodeInto writes whole characters only.
func (e *Engine) encodeInto(fc goja.FunctionCall) goja.Value {
	var to []byte
	o, ok := fc.Argument(1).(*goja.Object)
	if ok = ok && kindOf(o) == kindTypedArray; ok {
		to, ok = o.Export().([]byte) // the array's own memory
	}
	if !ok {
		panic(e.newError(e.real.typeError, "TextEncoder.encodeInto takes a Uint8Array, it was given "+kindName(fc.Argument(1))))
	}
	read, written := 0, 0
	for _, r := range fc.Argument(0).String() {
		n := utf8.RuneLen(r)
		if written+n > len(to) {
			break
		}
		written += utf8.EncodeRune(to[written:], r)
		read += utf16.RuneLen(r)
	}
	result := e.vm.NewObject()
	setOwn(result, "read", e.vm.ToValue(read))
	setOwn(result, "written", e.vm.ToValue(written))
	return result
}

func (e *Engine) newDecoder(fc goja.FunctionCall) goja.Value {
	label := strings.ToLower(strings.Trim(fc.Argument(0).String(), "\t\n\f\r "))
	for name, labels := range encodings {
		if slices.Contains(labels, label) {
			return hold(e, &decoder{encoding: name, fatal: fc.Argument(1).ToBoolean(), ignoreBOM: fc.Argument(2).ToBoolean()})
		}
	}
	panic(e.newError(e.real.rangeError, "TextDecoder knows no encoding "+quote(clipText(label, maxName))+": there are utf-8, utf-16le, utf-16be and windows-1252"))
}

// bytes are those of an ArrayBuffer, a typed array or a DataView; undefined has none.
func (e *Engine) bytes(v goja.Value, dataView viewGetters) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, goja.IsUndefined(v)
	}
	switch kindOf(o) {
	case kindArrayBuffer:
		return o.Export().(goja.ArrayBuffer).Bytes(), true
	case kindTypedArray:
		items := o.Export()
		if b, ok := items.([]byte); ok {
			return b, true
		}
		b, err := binary.Append(nil, binary.NativeEndian, items)
		return b, err == nil
	case kindObject:
		return dataView.span(o)
	}
	return nil, false
}

// viewGetters read where a view lies, as they were before the program could replace them.
type viewGetters struct{ buffer, byteOffset, byteLength goja.Callable }

func (e *Engine) viewGetters(class string) (g viewGetters) {
	for name, to := range map[string]*goja.Callable{"buffer": &g.buffer, "byteOffset": &g.byteOffset, "byteLength": &g.byteLength} {
		d := must(e.real.getOwnPropertyDescriptor(nil, e.prototype(class), e.vm.ToValue(name))).ToObject(e.vm)
		f, ok := goja.AssertFunction(orUndefined(d.Get("get")))
		if !ok {
			panic(e.newError(e.real.typeError, class+" is no view any more"))
		}
		*to = f
	}
	return g
}

// span is not ok for what is no view.
func (g viewGetters) span(o *goja.Object) ([]byte, bool) {
	buffer, err := g.buffer(o)
	if err != nil {
		return nil, false
	}
	whole, ok := buffer.Export().(goja.ArrayBuffer)
	if !ok {
		return nil, false
	}
	b := whole.Bytes()
	b = b[min(uint64(must(g.byteOffset(o)).ToInteger()), uint64(len(b))):]
	return b[:min(uint64(must(g.byteLength(o)).ToInteger()), uint64(len(b)))], true
}

func (e *Engine) decodeText(d *decoder, in []byte, more bool) goja.Value {
	if !d.more {
		d.rest, d.started = nil, false
	}
	d.more = more
	if len(d.rest) > 0 {
		in = append(d.rest, in...)
		d.rest = nil
	}
	v, ok := d.decode(e.vm, in)
	if !ok {
		d.rest, d.more = nil, false
		o := e.newError(e.real.typeError, "The encoded data was not valid for encoding "+d.encoding)
		setOwn(o, "code", e.vm.ToValue("ERR_ENCODING_INVALID_ENCODED_DATA"))
		panic(o)
	}
	return v
}

func (d *decoder) decode(vm *goja.Runtime, in []byte) (goja.Value, bool) {
	switch d.encoding {
	case "utf-8":
		return d.utf8(vm, in)
	case "windows-1252":
		units := make([]uint16, len(in))
		for i, b := range in {
			units[i] = uint16(b)
			if b >= 0x80 && b < 0xa0 {
				units[i] = windows1252[b-0x80]
			}
		}
		return goja.StringFromUTF16(units), true
	}
	return d.utf16(in)
}

func (d *decoder) utf8(vm *goja.Runtime, in []byte) (goja.Value, bool) {
	if d.more {
		n := len(in) - incomplete(in)
		in, d.rest = in[:n], slices.Clone(in[n:])
	}
	valid := utf8.Valid(in)
	if d.fatal && !valid {
		return nil, false
	}
	if !d.started && len(in) > 0 {
		d.started = true
		if !d.ignoreBOM {
			in = in[skipMark(in, "\xef\xbb\xbf"):]
		}
	}
	if valid {
		return vm.ToValue(string(in)), true
	}
	return goja.StringFromUTF16(utf16.Encode(wellFormedRunes(in))), true
}

// wellFormedRunes replaces each maximal subpart of an ill-formed sequence by U+FFFD, where Go replaces each byte.
func wellFormedRunes(in []byte) []rune {
	out := make([]rune, 0, len(in))
	for len(in) > 0 {
		r, n := utf8.DecodeRune(in)
		if r == utf8.RuneError && n == 1 {
			n = subpart(in)
		}
		out, in = append(out, r), in[n:]
	}
	return out
}

// subpart is the length of the longest beginning of a character at the beginning of bytes that are not one.
func subpart(in []byte) int {
	n := 1
	for n < min(len(in), utf8.UTFMax) && !utf8.FullRune(in[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(in[:n]) {
		n-- // the byte that showed that it is none
	}
	return n
}

// incomplete is the length of a character's beginning at the end.
func incomplete(in []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(in); n++ {
		if tail := in[len(in)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

func skipMark(in []byte, mark string) int {
	if strings.HasPrefix(string(in[:min(len(in), len(mark))]), mark) {
		return len(mark)
	}
	return 0
}

func (d *decoder) utf16(in []byte) (goja.Value, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	if d.encoding == "utf-16be" {
		order = binary.BigEndian
	}
	units := make([]uint16, len(in)/2)
	for i := range units {
		units[i] = order.Uint16(in[2*i:])
	}
	cut := len(in) % 2
	if d.more && len(units) > 0 && units[len(units)-1]&0xfc00 == 0xd800 {
		units, cut = units[:len(units)-1], cut+2
	}
	if d.more {
		d.rest = slices.Clone(in[len(in)-cut:])
	} else if cut > 0 {
		units = append(units, 0xfffd)
		if d.fatal {
			return nil, false
		}
	}
	if !d.started && len(units) > 0 {
		d.started = true
		if !d.ignoreBOM && units[0] == 0xfeff {
			units = units[1:]
		}
	}
	s := goja.StringFromUTF16(units)
	for at := loneSurrogate(s, 0); at >= 0; at = loneSurrogate(s, at+1) {
		if d.fatal {
			return nil, false
		}
		units[at] = 0xfffd
	}
	return goja.StringFromUTF16(units), true
}

// base64 are the web's atob and btoa.
func (e *Engine) base64() map[string]goja.Value {
	return map[string]goja.Value{"atob": e.native("atob", 1, e.atob), "btoa": e.native("btoa", 1, e.btoa)}
}

func (e *Engine) argument(fc goja.FunctionCall, name string) goja.String {
	if len(fc.Arguments) == 0 {
		panic(e.newError(e.real.typeError, name+" takes a string"))
	}
	return e.text(fc.Arguments[0])
}

func (e *Engine) btoa(fc goja.FunctionCall) goja.Value {
	s := e.argument(fc, "btoa")
	b := make([]byte, s.Length())
	for i := range b {
		c := s.CharAt(i)
		if c > 0xff {
			panic(e.webError("InvalidCharacterError", "btoa: the text has characters beyond Latin-1: encode it first, with new TextEncoder().encode(text).toBase64()"))
		}
		b[i] = byte(c)
	}
	return e.vm.ToValue(base64.StdEncoding.EncodeToString(b))
}

// atob forgives white space and missing padding, as the Infra Standard says.
func (e *Engine) atob(fc goja.FunctionCall) goja.Value {
	s := strings.NewReplacer("\t", "", "\n", "", "\f", "", "\r", "", " ", "").Replace(e.argument(fc, "atob").String())
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		panic(e.webError("InvalidCharacterError", "atob: the text is not correctly encoded in base64"))
	}
	units := make([]uint16, len(b))
	for i := range b {
		units[i] = uint16(b[i])
	}
	return goja.StringFromUTF16(units)
}

// webError is what a browser throws as a DOMException.
func (e *Engine) webError(name, message string) *goja.Object {
	o := e.newError(e.real.plainError, message)
	hide(o, "name", e.vm.ToValue(name))
	return o
}
