package typescript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth and maxSize bound a schema. What is read of it is many times larger than its text.
const (
	maxDepth = 64
	maxSize  = 256 << 10
)

// object is a JSON object in the order of its text, which is the order that the author of a schema chose for readers.
type object struct {
	keys   []string
	values map[string]any // object, []any, string, json.Number, bool, nil
}

func (o object) get(key string) any { return o.values[key] }

func (o object) object(key string) object {
	inner, _ := o.values[key].(object)
	return inner
}

func (o object) array(key string) []any {
	items, _ := o.values[key].([]any)
	return items
}

func (o object) string(key string) string {
	text, _ := o.values[key].(string)
	return text
}

func (o object) has(key string) bool {
	_, ok := o.values[key]
	return ok
}

// decode reads one JSON value and nothing after it.
func decode(text []byte) (any, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("it has %d bytes, over %d", len(text), maxSize)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it ends too early")
	case err != nil:
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after it, at byte %d", d.InputOffset())
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("it nests more than %d levels deep, at byte %d", maxDepth, d.InputOffset())
	}
	if open == '[' {
		items := []any{}
		for d.More() {
			item, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		_, err := d.Token()
		return items, err
	}
	o := object{values: map[string]any{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // the decoder lets nothing else stand here
		if o.has(name) {
			return nil, fmt.Errorf("the name %q stands twice in one object, at byte %d", name, d.InputOffset())
		}
		if o.values[name], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
		o.keys = append(o.keys, name)
	}
	_, err = d.Token()
	return o, err
}
