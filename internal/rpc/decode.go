package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

// Decode reads params or a result into a struct, strictly: a member that is unknown, that stands twice, or whose
// name differs in case is an error. encoding/json alone takes "Source" for "source", and the last of two.
func Decode(text []byte, into any) error {
	c := rawjson.New(text)
	if err := known(c, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	if err := c.End(); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("%s: want %s, not %s", wrong.Field, kinds[wrong.Type.Kind()], wrong.Value)
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// kinds are JSON's names of what a field may be.
var kinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	reflect.Slice: "array", reflect.Struct: "object",
}

// known walks the object that begins here, and those in its members and their items, by the fields of a struct.
func known(c *rawjson.Cursor, structure reflect.Type) error {
	return c.Object(func(key string) error {
		field, ok := fieldOf(structure, key)
		if !ok {
			return fmt.Errorf("unknown field %.40q; there are: %s", key, strings.Join(names(structure), ", "))
		}
		if err := knownValue(c, field.Type); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

// knownValue takes a value that is a struct, or a list of them, by its fields, and any other as it is.
func knownValue(c *rawjson.Cursor, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && c.AtObject():
		return known(c, t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && c.AtArray():
		i := -1
		return c.Array(func() error {
			i++
			if err := knownValue(c, t.Elem()); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
			return nil
		})
	}
	return c.Skip()
}

func fieldOf(structure reflect.Type, key string) (reflect.StructField, bool) {
	for field := range structure.Fields() {
		if name(field) == key {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func names(structure reflect.Type) []string {
	var all []string
	for field := range structure.Fields() {
		all = append(all, name(field))
	}
	return all
}

func name(field reflect.StructField) string {
	tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return tag
}
