package broker

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sandboxd/sandboxd/internal/rawjson"
	"github.com/sandboxd/sandboxd/internal/wire"
)

// answer is what the program gets of a CallToolResult.
type answer struct {
	form string
	body []byte
}

// toolResult are the parts of a CallToolResult that matter.
type toolResult struct {
	structured []byte
	hasContent bool
	text       []byte // of all text items, with line breaks between
	onlyText   bool
	isError    bool
}

// read takes the answer out of a CallToolResult, in one walk and without decoding what is in it: the structured
// content, else the text, else, if there are images or other things, the result whole.
func read(raw []byte) (answer, error) {
	r := toolResult{onlyText: true}
	c := rawjson.New(raw)
	err := c.Object(func(key string) error { return r.member(c, key) })
	if err == nil {
		err = c.End()
	}
	switch {
	case err != nil:
		return answer{}, err
	case r.isError:
		return answer{wire.FormFailed, r.text}, nil
	case r.structured != nil:
		return answer{wire.FormJSON, r.structured}, nil
	case !r.hasContent:
		return answer{}, errors.New(`neither "content" nor "structuredContent"`)
	case !r.onlyText:
		return answer{wire.FormJSON, raw}, nil
	}
	return answer{wire.FormAuto, r.text}, nil
}

var null = []byte("null")

func (r *toolResult) member(c *rawjson.Cursor, key string) error {
	switch key {
	case "content":
		r.hasContent = true
		items := 0
		return c.Array(func() error {
			items++
			return r.item(c, items > 1)
		})
	case "structuredContent":
		value, err := c.Value()
		if !bytes.Equal(value, null) {
			r.structured = value
		}
		return err
	case "isError":
		value, err := c.Value()
		r.isError = !bytes.Equal(value, []byte("false")) && !bytes.Equal(value, null)
		return err
	}
	return c.Skip() // MCP lets servers add members, and later versions will
}

// item takes one item of the content.
func (r *toolResult) item(c *rawjson.Cursor, further bool) error {
	kind, hasText := "", false
	err := c.Object(func(key string) (err error) {
		switch key {
		case "type":
			var raw []byte
			raw, err = c.AppendString(nil)
			kind = string(raw)
		case "text":
			hasText = true
			if further {
				r.text = append(r.text, '\n')
			}
			r.text, err = c.AppendString(r.text)
		default:
			err = c.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("content: %w", err)
	case kind != "text":
		r.onlyText = false
	case !hasText:
		return errors.New(`content: a text without "text"`)
	}
	return nil
}
