package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sandboxd/sandboxd"
)

// Bounds on schemas, which come from whoever wrote a tool, and on what they are held against, which comes from programs:
// the two may have the same author.
const (
	maxDepth      = 64       // of a schema, and of arguments that are held against one
	maxValues     = 3000     // of a schema: the library takes time by their square
	maxSubschemas = 1000     // of a schema
	maxPattern    = 1 << 10  // bytes of a regular expression, and instructions of what it is compiled to
	maxNumber     = 400      // digits, and exponent: the library computes with fractions, and 1e999999999 fills the memory
	maxSteps      = 2 << 20  // values, times what the schema can have to look at for each
	maxMatching   = 64 << 20 // bytes, times the instructions of all regular expressions that they can be matched with
)

// schema is a compiled JSON Schema. Its methods may be called from several goroutines.
type schema struct {
	root *jsonschema.Schema
	at   map[string]*jsonschema.Schema // all subschemas, by location
}

// compile reads a schema that is to be trusted with nothing.
func compile(text []byte) (s *schema, err error) {
	defer func() {
		if fault := recover(); fault != nil { // the library's, on something that nobody thought of
			err = fmt.Errorf("%v", fault)
		}
	}()
	if len(text) > sandboxd.MaxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes, and may have %d", len(text), sandboxd.MaxSchemaBytes)
	}
	document, size, err := decode(text)
	if err != nil {
		return nil, err
	}
	if size.values > maxValues {
		return nil, fmt.Errorf("it has %d values in it, and may have %d", size.values, maxValues)
	}
	const name = "tool:///arguments"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020) // as MCP says
	c.UseLoader(nil)                     // $ref reaches the schema itself and the standard's own, no file and no network
	c.UseRegexpEngine(pattern)
	if err := c.AddResource(name, document); err != nil {
		return nil, err
	}
	s = &schema{at: make(map[string]*jsonschema.Schema)}
	if s.root, err = c.Compile(name); err != nil {
		var wrong *jsonschema.SchemaValidationError
		var invalid *jsonschema.ValidationError
		if errors.As(err, &wrong) && errors.As(wrong.Err, &invalid) {
			err = errors.New(s.explain(document, invalid))
		}
		return nil, err
	}
	if err := s.collect(s.root); err != nil {
		return nil, err
	}
	if s.most(0, steps) == math.MaxInt {
		return nil, errors.New("a subschema applies itself to the same value")
	}
	return s, nil
}

// expression is one of Go's regular expressions, which take time in proportion to the text and to their size.
type expression struct {
	*regexp.Regexp
	size int // instructions
}

// pattern compiles an expression. A schema with what Go's don't have, such as lookahead, can't be used.
func pattern(text string) (jsonschema.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the regular expression %.40q… is too large", text)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxPattern {
		return nil, fmt.Errorf("the regular expression %.40q is too large", text)
	}
	compiled, err := regexp.Compile(text)
	return &expression{compiled, len(program.Inst)}, err
}

// size is how much a JSON text holds.
type size struct{ values, depth int }

// decode reads JSON that the library can work on within bounds.
func decode(text []byte) (value any, n size, err error) {
	if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		return nil, n, err
	}
	return value, n, n.add(value, 0)
}

func (n *size) add(value any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	n.values++
	n.depth = max(n.depth, depth)
	switch value := value.(type) {
	case json.Number:
		return checkNumber(value.String())
	case []any:
		for _, item := range value {
			if err := n.add(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range value {
			if err := n.add(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNumber(text string) error {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent == "" {
		exponent = "0"
	}
	if n, err := strconv.Atoi(exponent); err != nil || len(text) > maxNumber || max(n, -n) > maxNumber {
		return fmt.Errorf("the number %.20s… is out of range", text)
	}
	return nil
}

// collect finds all subschemas.
func (s *schema) collect(sub *jsonschema.Schema) error {
	switch {
	case s.at[sub.Location] != nil:
		return nil
	case len(s.at) == maxSubschemas:
		return fmt.Errorf("it has more than %d subschemas", maxSubschemas)
	case sub.DynamicRef != nil || sub.RecursiveRef != nil:
		return errors.New("it has a $dynamicRef or a $recursiveRef, which is not followed here")
	}
	s.at[sub.Location] = sub
	same, inner := applied(sub)
	for _, next := range append(same, inner...) {
		if err := s.collect(next); err != nil {
			return err
		}
	}
	return nil
}

// applied are the schemas that a schema applies to the same value, and to values inside.
func applied(s *jsonschema.Schema) (same, inner []*jsonschema.Schema) {
	add := func(to *[]*jsonschema.Schema, schemas ...any) {
		for _, x := range schemas {
			switch x := x.(type) {
			case *jsonschema.Schema:
				if x != nil {
					*to = append(*to, x)
				}
			case []*jsonschema.Schema:
				*to = append(*to, x...)
			}
		}
	}
	add(&same, s.Ref, s.Not, s.AllOf, s.AnyOf, s.OneOf, s.If, s.Then, s.Else)
	for _, x := range s.Dependencies {
		add(&same, x)
	}
	add(&same, slices.Collect(maps.Values(s.DependentSchemas)))
	add(&inner, s.PropertyNames, s.AdditionalProperties, s.UnevaluatedProperties, s.Contains, s.Items, s.AdditionalItems,
		s.PrefixItems, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	add(&inner, slices.Collect(maps.Values(s.Properties)), slices.Collect(maps.Values(s.PatternProperties)))
	return same, inner
}

// steps is what the library looks at for a subschema.
func steps(s *jsonschema.Schema) int {
	n := 1 + len(s.Required)
	if s.Enum != nil {
		n += len(s.Enum.Values)
	}
	return n
}

// matching is what each byte of a text costs.
func matching(s *jsonschema.Schema) (n int) {
	if x, ok := s.Pattern.(*expression); ok {
		n = x.size
	}
	for r := range s.PatternProperties {
		if x, ok := r.(*expression); ok {
			n += x.size
		}
	}
	return n
}

// most bounds the cost of one value that is nested so deep, of which each subschema has its own: schemas that apply
// others twice grow like 2^n. It is math.MaxInt if there is no bound.
func (s *schema) most(depth int, cost func(*jsonschema.Schema) int) int {
	type place struct {
		schema *jsonschema.Schema
		depth  int
	}
	known := make(map[place]int)
	var look func(p place) int
	look = func(p place) int {
		if n, ok := known[p]; ok {
			return n
		}
		known[p] = math.MaxInt // if it comes back here, it does for ever
		n := cost(p.schema)
		same, inner := applied(p.schema)
		for _, next := range same {
			n = sum(n, look(place{next, p.depth}))
		}
		if p.depth > 0 {
			for _, next := range inner {
				n = sum(n, look(place{next, p.depth - 1}))
			}
		}
		known[p] = n
		return n
	}
	return look(place{s.root, depth})
}

func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
