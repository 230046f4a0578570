package rawjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/rawjson"
)

// BenchmarkAppendString takes the text out of a tool result, as the broker does: 4,000 objects, with few escapes in it and
// with one in every nine bytes. encoding/json does the same, as a measure of the machine.
func BenchmarkAppendString(b *testing.B) {
	for name, row := range map[string]string{
		"sparse": `{"id":12,"title":"Issue number 12 about the thing","comments":5,"body":"` + strings.Repeat("text ", 40) + `"},`,
		"dense":  `{"number":12,"title":"a title of some words","comments":5},`,
	} {
		result := fmt.Appendf(nil, `{"text":%s}`, quoted(strings.Repeat(row, 4000)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(result)))
			var text []byte
			for b.Loop() {
				c := rawjson.New(result)
				err := c.Object(func(string) (err error) {
					text, err = c.AppendString(text[:0])
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				var v struct{ Text string }
				if err := json.Unmarshal(result, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func quoted(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}
