package js

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/regexp"
)

// regexps are the regular expressions of a program. Each is one of goja's own objects, as their class and lastIndex are
// what they should be, but goja's matchers give wrong answers and are not asked: the text that goja compiled is only a
// number, and says which of our patterns the object stands for. What goja makes without us, out of a literal in a text
// for eval or Function, has its true source, and is compiled when it is first used.
type regexps struct {
	// set by install, then read-only
	e                  *Engine
	constructor, proto *goja.Object
	own                goja.Constructor // goja's RegExp
	source, recompile  goja.Callable    // goja's own: what text an object was compiled from, and compile it anew
	matchAll           goja.Callable    // goja's own, for the sake of its iterator
	flagOf             []goja.Callable  // goja's own getters

	exec, symMatch, symMatchAll, symReplace, symSearch *goja.Object

	patterns []*pattern
	numbers  map[string]*pattern // by flags and source
	compiled []*pattern          // those that have a program
	size     int                 // of these programs

	recent  [8]recentObject
	next    int // in recent
	last    subject
	matcher regexp.Matcher
	calls   int

	lastMatch lastMatch

	// patchable is set when the text of the program could change what RegExp.prototype's accessors answer.
	patchable bool
}

// pattern is what a RegExp object was made of.
type pattern struct {
	number  int
	source  subject
	flags   regexp.Flags
	program *regexp.Program // nil: not compiled yet, or not any more
	shown   goja.String     // the property source
}

type recentObject struct {
	object  *goja.Object
	pattern *pattern
}

// Bounds of the programs that are kept, in number and in bytes. One that is needed again is compiled again.
const (
	maxCompiled = 1000
	maxSize     = 16 << 20
)

// A number is written as two characters of the private use area: goja compiles two literal characters in a microsecond.
const (
	firstDigit  = 0xE000
	digitBits   = 12
	maxPatterns = 1 << (2 * digitBits)
)

// subject is a string as the matcher reads it: of ASCII, or of code units.
type subject struct {
	goja.String
	ascii string
	wide  []uint16 // nil: it is of ASCII
}

// subject does not copy what goja holds as ASCII or UTF-16.
func (r *regexps) subject(s goja.String) subject {
	v := reflect.ValueOf(s)
	switch {
	case v.Kind() == reflect.String:
		return subject{String: s, ascii: s.String()}
	case v.Kind() == reflect.Slice && v.Type().ConvertibleTo(unitsType) && v.Len() == s.Length()+1:
		return subject{String: s, wide: v.Convert(unitsType).Interface().([]uint16)[1:]} // a mark comes first
	case v.Kind() == reflect.Pointer: // a string of Go, not looked into yet
		if r.last.String != s {
			plain := r.subject(s.Substring(0, s.Length()))
			r.last = subject{s, plain.ascii, plain.wide}
		}
		return r.last
	}
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	return subject{String: s, wide: units}
}

func (s *subject) units() []uint16 {
	if s.wide != nil {
		return s.wide
	}
	return utf16.Encode([]rune(s.ascii))
}

// key tells patterns apart.
func (s *subject) key(flags regexp.Flags) string {
	if s.wide == nil {
		return string([]byte{byte(flags)}) + s.ascii
	}
	b := make([]byte, 2, 2+2*len(s.wide))
	b[0], b[1] = byte(flags), 0xFF
	for _, u := range s.wide {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

// pattern is the one of that source and those flags.
func (r *regexps) pattern(source goja.String, flags regexp.Flags) *pattern {
	s := r.subject(source)
	key := s.key(flags)
	p, ok := r.numbers[key]
	if !ok {
		if len(r.patterns) == maxPatterns {
			panic(r.e.newError(r.e.real.rangeError, "too many regular expressions"))
		}
		p = &pattern{number: len(r.patterns), source: s, flags: flags}
		r.patterns = append(r.patterns, p)
		if r.numbers == nil {
			r.numbers = map[string]*pattern{}
		}
		r.numbers[key] = p
	}
	return p
}

// compile makes sure that a pattern has its program.
func (r *regexps) compile(p *pattern) error {
	if p.program != nil {
		return nil
	}
	program, err := regexp.Compile(p.source.units(), p.flags)
	if err != nil {
		return err
	}
	if r.size += program.Size(); r.size > maxSize || len(r.compiled) == maxCompiled {
		for _, old := range r.compiled {
			old.program = nil
		}
		r.compiled, r.size = r.compiled[:0], program.Size()
	}
	r.compiled = append(r.compiled, p)
	p.program = program
	return nil
}

// initialize is RegExpInitialize up to the object.
func (r *regexps) initialize(source, flags goja.Value) *pattern {
	text, names := r.e.emptyString(), ""
	if source != nil && !goja.IsUndefined(source) {
		text = r.e.toString(source)
	}
	if flags != nil && !goja.IsUndefined(flags) {
		names = r.e.toString(flags).String()
	}
	f, ok := regexp.ParseFlags(names)
	if !ok {
		r.syntaxError("Invalid flags supplied to RegExp constructor '" + clipText(names, maxPatternShown) + "'")
	}
	p := r.pattern(text, f)
	r.mustCompile(p)
	return p
}

func (r *regexps) mustCompile(p *pattern) {
	if err := r.compile(p); err != nil {
		r.syntaxError(invalid(p.source.String.String(), p.flags.String(), err))
	}
}

// maxPatternShown is how much of a pattern an error shows.
const maxPatternShown = 200

func invalid(source, flags string, err error) string {
	return fmt.Sprintf("Invalid regular expression: /%s/%s: %v", clipText(source, maxPatternShown), flags, err)
}

func (r *regexps) syntaxError(message string) {
	panic(r.e.newError(r.e.real.syntaxError, message))
}

func (r *regexps) typeError(format string, args ...any) {
	panic(r.e.newError(r.e.real.typeError, fmt.Sprintf(format, args...)))
}

func (e *Engine) emptyString() goja.String { return e.vm.ToValue("").(goja.String) }

// toString is ECMAScript's ToString. It may run code of the program, and throw.
func (e *Engine) toString(v goja.Value) goja.String {
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		panic(e.newError(e.real.typeError, "Cannot convert a Symbol value to a string"))
	case *goja.Object:
		return e.toString(v.ToString()) // which goja may leave a primitive of another type
	}
	return e.vm.ToValue(v.String()).(goja.String)
}

func numbered(p *pattern) string {
	return string([]rune{firstDigit + rune(p.number>>digitBits), firstDigit + rune(p.number&(1<<digitBits-1))})
}

// object makes a RegExp with the prototype that every literal has.
func (r *regexps) object(p *pattern) *goja.Object {
	o, err := r.own(nil, r.e.vm.ToValue(numbered(p)))
	if err != nil {
		panic(err)
	}
	r.remember(o, p)
	return o
}

func (r *regexps) remember(o *goja.Object, p *pattern) {
	for i := range r.recent {
		if r.recent[i].object == o {
			r.recent[i].pattern = p
			return
		}
	}
	r.recent[r.next%len(r.recent)] = recentObject{o, p}
	r.next++
}

// of is the pattern of a RegExp, and nil of any other value.
func (r *regexps) of(v goja.Value) *pattern {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	for i := range r.recent {
		if r.recent[i].object == o {
			return r.recent[i].pattern
		}
	}
	if o == r.proto || o.ExportType() == proxyType || o.ClassName() != "RegExp" {
		return nil
	}
	text, err := r.source(o)
	if err != nil {
		return nil
	}
	p := r.byNumber(text.(goja.String))
	if p == nil {
		p = r.foreign(o, text)
	}
	r.remember(o, p)
	return p
}

func (r *regexps) byNumber(text goja.String) *pattern {
	if text.Length() != 2 {
		return nil
	}
	high, low := int(text.CharAt(0))-firstDigit, int(text.CharAt(1))-firstDigit
	if n := high<<digitBits + low; high >= 0 && low >= 0 && low < 1<<digitBits && n < len(r.patterns) {
		return r.patterns[n]
	}
	return nil
}

// foreign is the pattern of an object that goja made out of a literal in a text that it parsed without us.
func (r *regexps) foreign(o *goja.Object, source goja.Value) *pattern {
	var flags regexp.Flags
	for i, getter := range r.flagOf {
		if v, err := getter(o); err == nil && v.ToBoolean() {
			flags |= gojaFlags[i].flag
		}
	}
	return r.pattern(source.(goja.String), flags)
}

// match runs a pattern on a text; nil: it does not match. The result is good until the next match.
func (r *regexps) match(p *pattern, s *subject, at int, sticky bool) []int32 {
	if p.program == nil {
		r.mustCompile(p)
	}
	r.breathe()
	var found []int32
	var err error
	if s.wide == nil {
		found, err = r.matcher.MatchASCII(p.program, s.ascii, at, sticky)
	} else {
		found, err = r.matcher.MatchUTF16(p.program, s.wide, at, sticky)
	}
	switch err {
	case nil:
		if found != nil && r.lastMatch.wanted {
			r.lastMatch.note(s, found)
		}
		return found
	case regexp.ErrStopped:
		r.halt()
	}
	panic(r.e.newError(r.e.real.rangeError, err.Error()))
}

// breathe ends a loop over matches when the run was stopped.
func (r *regexps) breathe() {
	if r.calls++; r.calls&255 == 0 && r.e.stopped() != nil {
		r.halt()
	}
}

// halt leaves native code. No program sees what is thrown: the interrupt comes before its next instruction.
func (r *regexps) halt() { panic(r.e.vm.ToValue("stopped")) }

// text is a RegExp as a program would write it.
func (r *regexps) text(o *goja.Object) string {
	p := r.of(o)
	if p == nil {
		return "[RegExp]"
	}
	return "/" + r.shown(p).String() + "/" + p.flags.String()
}

// clone is a RegExp of the same pattern, with a lastIndex of its own.
func (r *regexps) clone(o *goja.Object) *goja.Object { return r.object(r.of(o)) }

// patches says that a program may change what RegExp.prototype's accessors answer: it can't come to the prototype, or
// define an accessor, without one of these words. One that puts them together fools only itself.
func patches(program string) bool {
	for _, word := range []string{"prototype", "__", "rototypeOf", "defineProp", "extends", "\\u"} {
		if strings.Contains(program, word) {
			return true
		}
	}
	return false
}

// newCode is called when eval or Function is about to parse a text that nobody has seen.
func (e *Engine) newCode() {
	e.json.newCode()
	e.regexps.patchable = true
	e.regexps.keepLastMatch()
}

// shown is the source of a pattern, written so that it can stand in a literal.
func (r *regexps) shown(p *pattern) goja.String {
	if p.shown == nil {
		p.shown = r.escaped(&p.source)
	}
	return p.shown
}

func (r *regexps) escaped(s *subject) goja.String {
	if s.Length() == 0 {
		return r.e.vm.ToValue("(?:)").(goja.String)
	}
	units := s.units()
	out := make([]uint16, 0, len(units))
	class, changed := false, false
	for i := 0; i < len(units); i++ {
		u, escape := units[i], ""
		switch {
		case u == '\\' && i+1 < len(units):
			if i++; lineEnd(units[i]) != "" {
				break // the backslash begins the escape of what follows
			}
			out = append(out, u, units[i])
			continue
		case u == '[':
			class = true
		case u == ']':
			class = false
		case u == '/' && !class:
			escape = `\/`
		}
		if e := lineEnd(units[i]); e != "" {
			escape = e
		}
		if escape == "" {
			out = append(out, u)
			continue
		}
		changed = true
		out = append(out, utf16.Encode([]rune(escape))...)
	}
	if !changed {
		return s.String
	}
	return goja.StringFromUTF16(out)
}

// lineEnd is how a line terminator is written in a literal, empty for any other character.
func lineEnd(u uint16) string {
	switch u {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case 0x2028:
		return `\u2028`
	case 0x2029:
		return `\u2029`
	}
	return ""
}
