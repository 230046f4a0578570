// Package strictyaml reads YAML files in which every mistake is an error that names file, line and field.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a file that a person is to have written.
const maxFile = 1 << 20

// Decode reads the one document of text into a struct pointer. Unknown and repeated fields are errors.
// What the text does not mention stays as it was.
func Decode(name string, text []byte, into any) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s: longer than %d bytes", name, maxFile)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return nil // nothing but comments
	case err != nil:
		return explain(name, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one document", name)
	}
	return nil
}

var (
	unknown  = regexp.MustCompile(`line (\d+): field (\S+) not found in type \S+`)
	atLine   = regexp.MustCompile(`line (\d+): `)
	repeated = regexp.MustCompile(`mapping key "([^"]+)" already defined at line (\d+)`)
	goType   = regexp.MustCompile(` into (\[\])?(\w+\.)?(\w+)$`)
)

// explain words the library's errors for who wrote the file, one line each.
func explain(name string, err error) error {
	lines := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		lines = typed.Errors
	}
	for i, line := range lines {
		line = strings.TrimPrefix(line, "yaml: ")
		line = unknown.ReplaceAllString(line, `line $1: there is no field "$2" here`)
		line = repeated.ReplaceAllString(line, `field "$1" stands at line $2 already`)
		line = goType.ReplaceAllStringFunc(line, plainType)
		line = strings.ReplaceAll(line, "cannot unmarshal ", "can't read ")
		line = strings.ReplaceAll(line, "!!", "")
		lines[i] = name + ":" + atLine.ReplaceAllString(line, "$1: ")
		if !atLine.MatchString(line) {
			lines[i] = name + ": " + line
		}
	}
	return errors.New(strings.Join(lines, "\n"))
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
	case wanted == "bool":
		return " as true or false"
	case wanted == "string":
		return " as text"
	}
	return " as a section"
}
