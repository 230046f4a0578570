package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Check holds the arguments of a call, a JSON object, against the tool's schema. It says what is wrong with them, or why
// that is not known. Where the gateway announced no schema, nothing is wrong.
//
// The schema is compiled at the first call, which takes about a millisecond: a gateway may announce thousands.
func (t *Tool) Check(args []byte) (wrong, unchecked string) {
	if len(t.InputSchema) == 0 || string(t.InputSchema) == "null" {
		return "", ""
	}
	t.once.Do(func() { t.schema, t.unusable = compile(t.InputSchema) })
	if t.unusable != nil {
		return "", "the tool's schema can't be used: " + clip(oneLine(t.unusable.Error()), 300)
	}
	return t.schema.check(args)
}

func (s *schema) check(text []byte) (wrong, unchecked string) {
	args, size, err := decode(text)
	if err != nil {
		return "the arguments can't be checked: " + err.Error(), ""
	}
	defer func() {
		if fault := recover(); fault != nil { // the library's, on something that nobody thought of
			wrong, unchecked = "", fmt.Sprintf("the check failed: %.200v", fault)
		}
	}()
	if s.most(size.depth, steps) > maxSteps/size.values || s.most(size.depth, matching) > maxMatching/len(text) {
		return "", fmt.Sprintf("%d values, %d levels deep, in %d bytes, are too many for the tool's schema",
			size.values, size.depth, len(text))
	}
	var invalid *jsonschema.ValidationError
	if err := s.root.Validate(args); errors.As(err, &invalid) {
		return s.explain(args, invalid), ""
	} else if err != nil {
		return "", "the check failed: " + clip(oneLine(err.Error()), 200)
	}
	return "", ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
