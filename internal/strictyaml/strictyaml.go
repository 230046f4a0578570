// Package strictyaml reads YAML files in which every mistake is an error that names file, line and field.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/near"
)

// maxFile bounds a file that a person is to have written.
const maxFile = 1 << 20

// Read reads such a file whole. What could keep its reader waiting, such as a pipe, is an error, and so is a file that anybody may write to:
// what it says is nobody's word.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is no regular file", path)
	}
	if err := Trusted(path, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return text, fits(path, text)
}

// Trusted refuses a file or a directory that anybody may write to.
func Trusted(path string, info fs.FileInfo) error {
	if info.Mode()&0o002 != 0 {
		return fmt.Errorf("%s: anybody may write to it (mode %04o): chmod o-w", path, info.Mode().Perm())
	}
	return nil
}

func fits(name string, text []byte) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s: longer than %d bytes", name, maxFile)
	}
	return nil
}

// Lines says at which line of a file a field stands, by its path, such as runs.at_once or rules[0].tools.
type Lines map[string]int

// At is the place of a field: name:line, or the name alone if the file does not mention it.
func (l Lines) At(name, path string) string {
	if line, ok := l[path]; ok {
		return fmt.Sprintf("%s:%d", name, line)
	}
	return name
}

// Decode reads the one document of text into a struct pointer. Unknown and repeated fields are errors.
// What the text does not mention stays as it was.
func Decode(name string, text []byte, into any) (Lines, error) {
	if err := fits(name, text); err != nil {
		return nil, err
	}
	f := fields{make(Lines), make(map[string]string)}
	lines := f.lines
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err == nil { // else the decoder finds the same error
		var empty []string
		for _, top := range document.Content {
			empty = append(empty, f.walk(name, top, "")...)
		}
		if empty != nil {
			return nil, errors.New(strings.Join(empty, "\n"))
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return lines, nil // nothing but comments
	case err != nil:
		return nil, explain(name, f, into, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one document", name)
	}
	return lines, nil
}

// fields are those that a file has.
type fields struct {
	lines  Lines
	values map[string]string // of those that have one, and not fields of their own; on one line
}

// walk collects the fields below a node, and returns what is wrong: a key or item without a value would silently undo a
// default. Aliases are not followed: they can go in circles.
func (f fields) walk(name string, node *yaml.Node, path string) (empty []string) {
	for i, child := range node.Content {
		inner := path
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key := node.Content[i-1]
			inner = strings.TrimPrefix(path+"."+key.Value, ".")
			f.lines[inner] = key.Line
		} else if node.Kind == yaml.SequenceNode {
			inner = fmt.Sprintf("%s[%d]", path, i)
			f.lines[inner] = child.Line
		}
		if child.ShortTag() == "!!null" {
			empty = append(empty, fmt.Sprintf("%s:%d: %s: has no value; give it one, or leave it out",
				name, child.Line, strings.ReplaceAll(inner, "\n", " ")))
		}
		if child.Kind == yaml.ScalarNode {
			f.values[inner] = strings.ReplaceAll(child.Value, "\n", " ")
		}
		empty = append(empty, f.walk(name, child, inner)...)
	}
	return empty
}

// at finds the field at a line that has a value, as the library's errors quote it: of several, what they are all in.
func (f fields) at(line, quoted string) string {
	var all []string
	for path, at := range f.lines {
		value, isValue := f.values[path]
		if fmt.Sprint(at) == line && (quoted == "" || isValue && strings.HasPrefix(value, strings.TrimSuffix(quoted, "..."))) {
			all = append(all, path)
		}
	}
	if all == nil && quoted != "" { // by an alias, its value stands elsewhere
		return f.at(line, "")
	}
	deepest := ""
	for _, path := range all {
		if len(path) > len(deepest) {
			deepest = path
		}
	}
	found := deepest
	for _, path := range all {
		for !within(deepest, path) && found != "" && !within(path, found) {
			found = found[:max(0, strings.LastIndexAny(found, ".["))]
		}
	}
	return found
}

// within reports whether a field is one, or is in it.
func within(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

var (
	unknown  = regexp.MustCompile(`line (\d+): field (.+) not found in type (.+)$`)
	unread   = regexp.MustCompile("line (\\d+): cannot unmarshal !!\\w+(?: `(.*)`)? (?:into|as) ")
	atLine   = regexp.MustCompile(`line (\d+): `)
	repeated = regexp.MustCompile(`mapping key "([^"]+)" already defined at line (\d+)`)
	goType   = regexp.MustCompile(` into (\[\])?(\w+\.)?(\w+)$`)
)

// explain words the library's errors for who wrote the file, one line each.
func explain(name string, file fields, into any, err error) error {
	lines := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		lines = typed.Errors
	}
	known := make(map[string][]string)
	collect(reflect.TypeOf(into), known)
	for i, line := range lines {
		line = strings.TrimPrefix(line, "yaml: ")
		line = strings.ReplaceAll(line, "\n", " ") // of a value that it quotes
		if m := unknown.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("line %s: there is no field %q here", m[1], m[2])
			if names := known[m[3]]; names != nil {
				line += "; there are: " + near.List(near.First(m[2], names))
			}
		}
		line = repeated.ReplaceAllString(line, `field "$1" stands at line $2 already`)
		line = goType.ReplaceAllStringFunc(line, plainType)
		if wrong := unread.FindStringSubmatch(line); wrong != nil {
			if field := file.at(wrong[1], wrong[2]); field != "" {
				line = strings.Replace(line, wrong[0], fmt.Sprintf("line %s: %s: %s", wrong[1], field, wrong[0][strings.Index(wrong[0], "cannot"):]), 1)
			}
		}
		line = strings.ReplaceAll(line, "cannot unmarshal ", "can't read ")
		line = strings.ReplaceAll(line, "!!", "")
		lines[i] = name + ":" + atLine.ReplaceAllString(line, "$1: ")
		if !atLine.MatchString(line) {
			lines[i] = name + ": " + line
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// collect finds the fields of a type, and of what is in it, by the type's name in the library's errors.
func collect(t reflect.Type, known map[string][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(t.Elem(), known)
	case reflect.Struct:
		if _, seen := known[t.String()]; seen {
			return
		}
		known[t.String()] = []string{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			collect(f.Type, known)
			if options == "inline" {
				known[t.String()] = append(known[t.String()], known[f.Type.String()]...)
			} else {
				known[t.String()] = append(known[t.String()], cmp.Or(name, strings.ToLower(f.Name)))
			}
		}
	}
}

// plainType says what was wanted in words that are not Go's.
func plainType(match string) string {
	switch wanted := strings.TrimPrefix(match, " into "); {
	case strings.HasPrefix(wanted, "[]"):
		return " as a list"
	case wanted == "time.Duration":
		return ` as a duration like "5s"`
	case strings.HasPrefix(wanted, "int"):
		return " as a whole number"
	case strings.HasPrefix(wanted, "float"):
		return " as a number"
	case wanted == "bool":
		return " as true or false"
	case wanted == "string":
		return " as text"
	}
	return " as a section"
}
