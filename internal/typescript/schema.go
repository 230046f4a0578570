package typescript

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxNodes bounds how many schemas one declaration is made of: one that refers to its parts again and again could stand for
// more than anybody reads. What comes after is any.
const maxNodes = 5000

// reader makes types of one schema.
type reader struct {
	root    any
	prefix  string            // of the names of types
	taken   map[string]bool   // names of types
	uses    map[string]int    // how often a pointer is referred to
	names   map[string]string // by pointer
	aliases []declared
	nodes   int
}

func newReader(root any, prefix string, taken map[string]bool) *reader {
	r := &reader{root: root, prefix: prefix, taken: taken, uses: map[string]int{}, names: map[string]string{}}
	r.count(root)
	return r
}

// count counts references. It sees some that are none, in defaults and examples: they only cost a name more.
func (r *reader) count(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.count(item)
		}
	case object:
		if pointer := v.string("$ref"); pointer != "" {
			r.uses[pointer]++
		}
		for _, key := range v.keys {
			r.count(v.get(key))
		}
	}
}

// schema is the type of the values that a schema describes. What TypeScript has no words for (ranges, patterns, conditions) is left
// out: the type allows what the schema does, and more.
func (r *reader) schema(v any) expr {
	if r.nodes++; r.nodes > maxNodes {
		return anything
	}
	if v == false {
		return nothing
	}
	s, ok := v.(object)
	if !ok {
		return anything // true, or what is no schema
	}
	parts := []expr{r.own(s)}
	if pointer := s.string("$ref"); pointer != "" {
		parts = append(parts, r.reference(pointer))
	}
	for _, each := range s.array("allOf") {
		parts = append(parts, r.schema(each))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.has(keyword) {
			parts = append(parts, r.alternatives(s.array(keyword)))
		}
	}
	t := both(parts)
	if s.get("nullable") == true { // OpenAPI's word
		t = either([]expr{t, word("null")})
	}
	return t
}

func (r *reader) alternatives(all []any) expr {
	types := make([]expr, len(all))
	for i, each := range all {
		types[i] = r.schema(each)
	}
	return either(types)
}

// own is what a schema says by itself, without the schemas that it combines.
func (r *reader) own(s object) expr {
	if s.has("const") {
		return literal(s.get("const"))
	}
	if values := s.array("enum"); values != nil {
		types := make([]expr, len(values))
		for i, v := range values {
			types[i] = literal(v)
		}
		return either(types)
	}
	var names []any
	switch t := s.get("type").(type) {
	case string:
		names = []any{t}
	case []any:
		names = t
	default:
		names = implied(s)
	}
	types := make([]expr, len(names))
	for i, name := range names {
		types[i] = r.typed(name, s)
	}
	if len(types) == 0 {
		return anything
	}
	return either(types)
}

// implied is the type that a schema without one means: its keywords are those of objects, or of arrays.
func implied(s object) []any {
	switch {
	case s.has("properties") || s.has("additionalProperties") || s.has("patternProperties"):
		return []any{"object"}
	case s.has("items") || s.has("prefixItems"):
		return []any{"array"}
	}
	return nil
}

func (r *reader) typed(name any, s object) expr {
	switch name {
	case "string", "number", "boolean", "null":
		return word(name.(string))
	case "integer":
		return word("number")
	case "array":
		return r.array(s)
	case "object":
		return r.object(s)
	}
	return anything
}

func (r *reader) array(s object) expr {
	first, rest := s.array("prefixItems"), s.get("items")
	if first == nil {
		if first = s.array("items"); first != nil { // draft 7
			rest = s.get("additionalItems")
		}
	}
	if len(first) == 0 {
		return list{r.schema(rest)}
	}
	required := len(first)
	if n, ok := s.get("minItems").(json.Number); ok {
		if least, err := strconv.Atoi(n.String()); err == nil {
			required = min(required, least)
		}
	} else {
		required = 0
	}
	if required < len(first) { // items may be missing: no tuple says that together with what comes after
		types := []expr{}
		for _, item := range first {
			types = append(types, r.schema(item))
		}
		if rest != false {
			types = append(types, r.schema(rest))
		}
		return list{either(types)}
	}
	var t tuple
	for _, item := range first {
		t.items = append(t.items, r.schema(item))
	}
	if rest != false {
		t.rest = r.schema(rest)
	}
	return t
}

func (r *reader) object(s object) expr {
	required := s.array("required")
	properties := s.object("properties")
	var t record
	for _, name := range properties.keys {
		inner := properties.get(name)
		t.fields = append(t.fields, field{
			name: name, optional: !slices.Contains(required, any(name)), doc: document(inner), of: r.schema(inner),
		})
	}
	var others []expr
	patterns := s.object("patternProperties")
	for _, pattern := range patterns.keys {
		others = append(others, r.schema(patterns.get(pattern)))
	}
	switch more := s.get("additionalProperties").(type) {
	case object:
		others = append(others, r.schema(more))
	case bool:
		if more {
			others = append(others, anything)
		}
	default:
		// JSON Schema allows other names where nothing is said. Who reads a type to call a tool wants the names that mean
		// something; only where nothing is said of names at all, anything goes.
		if !s.has("properties") && len(others) == 0 {
			others = append(others, anything)
		}
	}
	if len(others) > 0 {
		t.index = either(others)
		if len(t.fields) > 0 {
			t.index = anything // an index signature is for the named properties too
		}
	}
	return t
}

// reference is the type at a pointer in this document. What is referred to once is written where it is used, the rest gets
// a name. Nothing is fetched: references to other documents are any.
func (r *reader) reference(pointer string) expr {
	if name, ok := r.names[pointer]; ok {
		return alias(name)
	}
	target, ok := r.resolve(pointer)
	if !ok {
		return anything
	}
	if r.uses[pointer] == 1 && !r.within(target, pointer) {
		return r.schema(target)
	}
	name := r.free(pointer)
	r.names[pointer] = name
	at := len(r.aliases)
	r.aliases = append(r.aliases, declared{name: name}) // before those that it is made of
	r.aliases[at].of = r.schema(target)
	return alias(name)
}

// closed returns the aliases. One that means itself, with nothing in between, means nothing: it is any.
func (r *reader) closed() []declared {
	for i, d := range r.aliases {
		if r.means(d.of, d.name, map[alias]bool{}) {
			r.aliases[i].of = anything
		}
	}
	return r.aliases
}

func (r *reader) means(e expr, name string, seen map[alias]bool) bool {
	each := func(e expr) bool { return r.means(e, name, seen) }
	switch e := e.(type) {
	case union:
		return slices.ContainsFunc(e, each)
	case intersection:
		return slices.ContainsFunc(e, each)
	case alias:
		if string(e) == name {
			return true
		}
		if seen[e] {
			return false
		}
		seen[e] = true
		i := slices.IndexFunc(r.aliases, func(d declared) bool { return d.name == string(e) })
		return each(r.aliases[i].of)
	}
	return false
}

// within reports whether v refers to a pointer, itself or through others.
func (r *reader) within(v any, pointer string) bool { return r.refers(v, pointer, map[string]bool{}) }

func (r *reader) refers(v any, pointer string, seen map[string]bool) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return r.refers(item, pointer, seen) })
	case object:
		if to := v.string("$ref"); to != "" && !seen[to] {
			if to == pointer {
				return true
			}
			seen[to] = true
			if target, ok := r.resolve(to); ok && r.refers(target, pointer, seen) {
				return true
			}
		}
		return slices.ContainsFunc(v.keys, func(key string) bool { return r.refers(v.get(key), pointer, seen) })
	}
	return false
}

// resolve follows a JSON pointer (RFC 6901) from the root, as the fragment of a URI.
func (r *reader) resolve(pointer string) (any, bool) {
	fragment, ok := strings.CutPrefix(pointer, "#")
	if !ok {
		return nil, false
	}
	at := r.root
	if fragment == "" {
		return at, true
	}
	path, err := url.PathUnescape(fragment)
	if err != nil || path[0] != '/' {
		return nil, false
	}
	for step := range strings.SplitSeq(path[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch inner := at.(type) {
		case object:
			if !inner.has(step) {
				return nil, false
			}
			at = inner.get(step)
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(inner) {
				return nil, false
			}
			at = inner[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// free takes a name for what is at a pointer: that of the tool, and the pointer's last step. With an underscore in it, it is none
// of TypeScript's own.
func (r *reader) free(pointer string) string {
	name := r.prefix + "_" + pascal(pointer[strings.LastIndexByte(pointer, '/')+1:])
	if !identifier.MatchString(name) {
		name = "_" + name // it begins with a digit
	}
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate += strconv.Itoa(n)
		}
		if !r.taken[candidate] {
			r.taken[candidate] = true
			return candidate
		}
	}
}

// literal is the type that has one value.
func literal(v any) expr {
	switch v := v.(type) {
	case string:
		return word(quote(v))
	case json.Number:
		return word(number(v))
	case bool:
		return word(strconv.FormatBool(v))
	case []any:
		t := tuple{}
		for _, item := range v {
			t.items = append(t.items, literal(item))
		}
		return t
	case object:
		t := record{}
		for _, key := range v.keys {
			t.fields = append(t.fields, field{name: key, of: literal(v.get(key))})
		}
		return t
	}
	return word("null")
}

// number is the literal of a number. What JavaScript would read as infinite has none.
func number(n json.Number) string {
	if f, err := n.Float64(); err != nil {
		return "number"
	} else if len(n) > 24 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return n.String()
}

// document is what a schema says about its values in words, and what the type can't say.
func document(v any) string {
	s, ok := v.(object)
	if !ok {
		return ""
	}
	doc := sentences(s.string("description"))
	var facts []string
	if value, ok := s.values["default"]; ok {
		facts = append(facts, "default "+sentences(shortened(oneLine(literal(value)), 200)))
	}
	for _, keyword := range []struct{ name, words string }{
		{"format", "format"}, {"pattern", "pattern"},
		{"minimum", "at least"}, {"exclusiveMinimum", "more than"}, {"maximum", "at most"}, {"exclusiveMaximum", "less than"},
		{"minLength", "length at least"}, {"maxLength", "length at most"},
		{"minItems", "items at least"}, {"maxItems", "items at most"},
	} {
		switch value := s.get(keyword.name).(type) {
		case string:
			facts = append(facts, keyword.words+" "+sentences(shortened(value, 200)))
		case json.Number:
			if ordinary(value) {
				facts = append(facts, keyword.words+" "+number(value))
			}
		}
	}
	if s.get("type") == "integer" {
		facts = append(facts, "integer")
	}
	if len(facts) == 0 {
		return doc
	}
	note := "(" + strings.Join(facts, ", ") + ")"
	if doc == "" {
		return note
	}
	return doc + " " + note
}

// ordinary are the numbers that say something. Generators of schemas write the largest safe integer, and its negative, for "an
// integer".
func ordinary(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && f > -(1<<53-1) && f < 1<<53-1
}
