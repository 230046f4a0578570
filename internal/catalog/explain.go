package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/sandboxd/sandboxd/internal/near"
)

// problem is one thing that is wrong with arguments.
type problem struct {
	at   []string // where
	text string   // with the name of the field
	kind jsonschema.ErrorKind
}

const maxProblems = 3 // that are told: one is mended after the other anyway

// explain words what the library found, so that whoever wrote the call can mend it.
func (s *schema) explain(args any, e *jsonschema.ValidationError) string {
	problems := s.problems(args, e)
	slices.SortStableFunc(problems, func(a, b problem) int {
		return cmp.Or(slices.Compare(a.at, b.at), strings.Compare(a.text, b.text))
	})
	var texts []string
	for _, p := range problems {
		if len(texts) < maxProblems && !slices.Contains(texts, p.text) {
			texts = append(texts, p.text)
		}
	}
	if len(texts) == 0 {
		return "they do not fit the tool's schema"
	}
	return strings.Join(texts, "; ")
}

func (s *schema) problems(args any, e *jsonschema.ValidationError) []problem {
	choice := false
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		choice = true
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
	default:
		return []problem{{e.InstanceLocation, s.word(args, e), e.ErrorKind}}
	}
	if len(e.Causes) == 0 {
		return []problem{{e.InstanceLocation, s.word(args, e), e.ErrorKind}}
	}
	var branches [][]problem
	for _, cause := range e.Causes {
		branches = append(branches, s.problems(args, cause))
	}
	if choice {
		return chosen(args, e.InstanceLocation, branches)
	}
	return slices.Concat(branches...)
}

// chosen are the problems of the branch that was probably meant, of several that all failed: one whose kind of value is the
// given one, then one whose constants, which tell branches apart, are, then the one with the fewest problems.
func chosen(args any, at []string, branches [][]problem) []problem {
	var wanted []string
	for _, b := range branches {
		if len(b) == 1 && len(b[0].at) == len(at) {
			if want := expected(b[0].kind); want != "" {
				wanted = append(wanted, want)
			}
		}
	}
	if len(wanted) == len(branches) {
		return []problem{{at, mustBe(args, at, strings.Join(slices.Compact(wanted), " or ")), nil}}
	}
	return slices.MinFunc(branches, func(a, b []problem) int {
		return cmp.Or(cmp.Compare(strangeness(a, at), strangeness(b, at)), cmp.Compare(len(a), len(b)))
	})
}

func strangeness(branch []problem, at []string) int {
	worst := 0
	for _, p := range branch {
		switch p.kind.(type) {
		case *kind.Type:
			if len(p.at) == len(at) {
				return 2
			}
		case *kind.Const, *kind.Enum:
			worst = 1
		}
	}
	return worst
}

// expected is what a value should be; empty: the problem is another one.
func expected(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		var kinds []string
		for _, want := range k.Want {
			kinds = append(kinds, kindNames[want])
		}
		return strings.Join(kinds, " or ")
	case *kind.Const:
		return show(k.Want)
	case *kind.Enum:
		const most = 20
		var values []string
		for _, v := range k.Want[:min(len(k.Want), most)] {
			values = append(values, item(v))
		}
		if len(k.Want) > most {
			values = append(values, fmt.Sprintf("… (%d in all)", len(k.Want)))
		}
		return "one of " + strings.Join(values, ", ")
	}
	return ""
}

var kindNames = map[string]string{
	"null": "null", "boolean": "a boolean", "number": "a number", "integer": "an integer", "string": "a string",
	"array": "an array", "object": "an object",
}

// word says what is wrong at one place.
func (s *schema) word(args any, e *jsonschema.ValidationError) string {
	at := e.InstanceLocation
	must := func(format string, a ...any) string { return name(at) + " must " + fmt.Sprintf(format, a...) }
	if want := expected(e.ErrorKind); want != "" {
		return mustBe(args, at, want)
	}
	got := "; got " + show(value(args, at))
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return s.missing(args, e, k.Missing)
	case *kind.AdditionalProperties:
		return s.unknown(e, k.Properties)
	case *kind.DependentRequired:
		return fmt.Sprintf("with %s, %s is required too", name(in(at, k.Prop)), fields(at, k.Missing))
	case *kind.Dependency:
		return fmt.Sprintf("with %s, %s is required too", name(in(at, k.Prop)), fields(at, k.Missing))
	case *kind.FalseSchema:
		return must("not be given")
	case *kind.Not:
		return name(at) + " is what the tool's schema excludes" + got
	case *kind.OneOf:
		return name(at) + " has more than one of the forms of which it must have one" + got
	case *kind.PropertyNames:
		return fmt.Sprintf("%s has a field %q, whose name is not allowed", name(at), clip(k.Property, maxShown))
	case *kind.MinProperties:
		return must("have at least %d fields; it has %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return must("have at most %d fields; it has %d", k.Want, k.Got)
	case *kind.MinItems:
		return must("have at least %d items; it has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return must("have at most %d items; it has %d", k.Want, k.Got)
	case *kind.AdditionalItems:
		return must("have %d items less", k.Count)
	case *kind.UniqueItems:
		return must("have no item twice; items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.MinLength:
		return must("have at least %d characters; it has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return must("have at most %d characters; it has %d", k.Want, k.Got)
	case *kind.Pattern:
		return must("match /%s/", clip(k.Want, maxShown)) + got
	case *kind.Format:
		why := ""
		if k.Want == "regex" {
			why = ": " + clip(k.Err.Error(), maxShown*2)
		}
		return must("be of the format %s", clip(k.Want, maxShown)) + got + why
	case *kind.Minimum:
		return must("be at least %s", number(k.Want)) + got
	case *kind.Maximum:
		return must("be at most %s", number(k.Want)) + got
	case *kind.ExclusiveMinimum:
		return must("be above %s", number(k.Want)) + got
	case *kind.ExclusiveMaximum:
		return must("be below %s", number(k.Want)) + got
	case *kind.MultipleOf:
		return must("be a multiple of %s", number(k.Want)) + got
	}
	return fmt.Sprintf("%s does not fit the tool's schema (%s)", name(at), strings.Join(e.ErrorKind.KeywordPath(), "/"))
}

func mustBe(args any, at []string, want string) string {
	return name(at) + " must be " + want + "; got " + show(value(args, at))
}

// missing names required fields, and what was given instead of the first, if it looks like it.
func (s *schema) missing(args any, e *jsonschema.ValidationError, names []string) string {
	plural := ""
	if len(names) > 1 {
		plural = "s"
	}
	text := fmt.Sprintf("missing required field%s %s", plural, fields(e.InstanceLocation, names))
	given, _ := value(args, e.InstanceLocation).(map[string]any)
	sub := s.at[e.SchemaURL]
	if sub == nil || sub.AdditionalProperties != nil {
		return text // a field that is not known is told of anyway
	}
	var others []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if sub.Properties[key] == nil {
			others = append(others, key)
		}
	}
	if like := near.Names(names[0], others); len(like) > 0 {
		text += fmt.Sprintf("; `%s` was given instead", clip(like[0], maxShown))
	}
	return text
}

// unknown names fields that there are not, and what the first may have meant.
func (s *schema) unknown(e *jsonschema.ValidationError, names []string) string {
	slices.Sort(names)
	plural := ""
	if len(names) > 1 {
		plural = "s"
	}
	text := fmt.Sprintf("unknown field%s %s", plural, fields(e.InstanceLocation, names))
	sub := s.at[e.SchemaURL]
	if sub == nil || len(sub.Properties) == 0 {
		return text + "; there are none"
	}
	known := slices.Sorted(maps.Keys(sub.Properties))
	if like := near.Names(names[0], known); len(like) > 0 {
		return text + "; did you mean " + quoted(like, " or ") + "?"
	}
	return text + "; there are: " + near.List(known)
}

func fields(at, names []string) string {
	const most = 8
	var paths []string
	for _, n := range names[:min(len(names), most)] {
		paths = append(paths, name(in(at, n)))
	}
	if len(names) > most {
		paths = append(paths, "…")
	}
	return strings.Join(paths, ", ")
}

func quoted(names []string, between string) string {
	return "`" + strings.Join(names, "`"+between+"`") + "`"
}

func in(at []string, name string) []string { return append(slices.Clip(at), name) }

// name is a place as JavaScript writes it.
func name(at []string) string {
	if len(at) == 0 {
		return "the whole"
	}
	var path strings.Builder
	for i, key := range at {
		_, err := strconv.ParseUint(key, 10, 64)
		switch {
		case err == nil && i > 0:
			path.WriteString("[" + key + "]")
		case !isIdentifier(key) && i > 0:
			path.WriteString("[" + strconv.Quote(key) + "]")
		case i > 0:
			path.WriteString("." + key)
		default:
			path.WriteString(key)
		}
	}
	return "`" + clip(path.String(), 200) + "`"
}

// value is what stands at a place; nil if nothing does.
func value(v any, at []string) any {
	for _, key := range at {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(inside) {
				return nil
			}
			v = inside[i]
		}
	}
	return v
}

// maxShown bounds what a message shows of a value.
const maxShown = 60

// show is a value in a message.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case string:
		return strconv.Quote(clip(v, maxShown))
	case json.Number:
		return clip(v.String(), maxShown)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// item is a value in a list: a word stands for itself.
func item(v any) string {
	if word, ok := v.(string); ok && len(word) <= maxShown && isWord(word) {
		return word
	}
	return show(v)
}

func isWord(text string) bool {
	for _, r := range text {
		if !part(r) && r != '-' && r != '.' {
			return false
		}
	}
	return text != ""
}

func number(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
