package catalog_test

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/catalog"
)

// FuzzCheck holds any arguments against any schema: the tool's author and the program's may be the same. It must end soon, with one
// verdict in bounded words.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(listIssues), []byte(`{"owner":"a","state":"b","labels":[1],"filter":{"by name":1}}`))
	f.Add([]byte(`{"$defs":{"t":{"properties":{"k":{"type":"array","items":{"$ref":"#/$defs/t"}}}}},"$ref":"#/$defs/t"}`), []byte(`{"k":[{"k":[{"k":[1]}]}]}`))
	f.Add([]byte(`{"anyOf":[{"const":1},{"enum":[1,"a",null]},{"not":{}}],"oneOf":[{},{}],"if":{"minProperties":1},"then":{"required":["a"]}}`), []byte(`{}`))
	f.Add([]byte(`{"patternProperties":{"^a+$":{"multipleOf":0.1}},"dependentSchemas":{"a":false},"unevaluatedProperties":false}`), []byte(`{"a":0.3,"b":1e308}`))
	f.Add([]byte(`{"properties":{"a":{"$id":"x","$anchor":"y","$ref":"#y"}}}`), []byte(`{"a":"\ud800"}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		var object map[string]any
		if json.Unmarshal(args, &object) != nil || len(schema)+len(args) > 64<<10 {
			return
		}
		c, err := catalog.New([]string{"s"}, []sandboxd.Tool{{Server: "s", Name: "x", InputSchema: schema}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 2 { // compiled, and then not again
			wrong, unchecked := c.Server("s").Tool("x").Check(args)
			if wrong != "" && unchecked != "" {
				t.Errorf("both wrong, %q, and unchecked, %q", wrong, unchecked)
			}
			if len(wrong) > 4<<10 || len(unchecked) > 1<<10 || !utf8.ValidString(wrong+unchecked) {
				t.Errorf("%d and %d bytes: %q %q", len(wrong), len(unchecked), wrong, unchecked)
			}
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
