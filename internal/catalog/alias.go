package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// aliasesOf are, for each name that can't stand behind a dot, the ways in which a program can write it there:
// resolve_library_id and resolveLibraryId for resolve-library-id. One that is the name of something else, or could mean
// two names, is nobody's: a call of it is refused with the names that it is near to. So no announcement is refused for
// its names, which a gateway has from servers of others, and none makes a call reach the wrong tool.
func aliasesOf(names []string) [][]string {
	taken := make(map[string]int, len(names)) // how many names could be meant
	for _, name := range names {
		taken[name]++
	}
	all := make([][]string, len(names))
	for i, name := range names {
		if isIdentifier(name) {
			continue
		}
		for _, alias := range []string{snake(name), camel(name)} {
			if isIdentifier(alias) && !slices.Contains(ofLanguage, alias) && !slices.Contains(all[i], alias) {
				all[i] = append(all[i], alias)
				taken[alias]++
			}
		}
	}
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(alias string) bool { return taken[alias] > 1 })
	}
	return all
}

// ofLanguage are names that JavaScript itself asks objects for.
var ofLanguage = []string{"then", "toJSON", "toString", "toLocaleString", "valueOf", "constructor", "hasOwnProperty", "isPrototypeOf",
	"propertyIsEnumerable"}

// snake writes an underscore for what can't stand in an identifier.
func snake(name string) string {
	name = strings.Map(func(r rune) rune {
		if part(r) {
			return r
		}
		return '_'
	}, name)
	if r, _ := first(name); !start(r) {
		return "_" + name
	}
	return name
}

// camel leaves out what can't stand in an identifier, and writes a capital behind it.
func camel(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !part(r) })
	for i := 1; i < len(words); i++ {
		r, rest := first(words[i])
		words[i] = string(unicode.ToUpper(r)) + rest
	}
	return strings.Join(words, "")
}

func first(text string) (rune, string) {
	for i, r := range text {
		return r, text[i+len(string(r)):]
	}
	return 0, ""
}

// start and part are what an identifier begins with and goes on with: ECMAScript's, but for rare characters that are
// no letters or digits.
func start(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '$' }
func part(r rune) bool  { return start(r) || unicode.IsDigit(r) }

func isIdentifier(name string) bool {
	for i, r := range name {
		if !part(r) || i == 0 && !start(r) {
			return false
		}
	}
	return name != ""
}
