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

// read takes the answer out of a CallToolResult, once, without decoding what is in it: the structured
// content, else the text, else, if there are images or other things, the result whole.
func read(raw []byte) (answer, error) {
	var structured, content []byte
	isError := false
	err := rawjson.Object(raw, func(m rawjson.Member) error {
		switch m.Key {
		case "structuredContent":
			if !bytes.Equal(m.Value, null) {
				structured = m.Value
			}
		case "content":
			content = m.Value
		case "isError":
			isError = !bytes.Equal(m.Value, []byte("false")) && !bytes.Equal(m.Value, null)
		}
		return nil // MCP lets servers add members, and later versions will
	})
	switch {
	case err != nil:
		return answer{}, err
	case isError:
		text, _, err := texts(content)
		return answer{wire.FormFailed, text}, err
	case structured != nil:
		return answer{wire.FormJSON, structured}, nil
	case content == nil:
		return answer{}, errors.New(`neither "content" nor "structuredContent"`)
	}
	text, only, err := texts(content)
	switch {
	case err != nil:
		return answer{}, err
	case !only:
		return answer{wire.FormJSON, raw}, nil
	}
	return answer{wire.FormAuto, text}, nil
}

var null = []byte("null")

// texts joins the text items of a content array; only reports that there is nothing else in it.
func texts(content []byte) (text []byte, only bool, err error) {
	if content == nil {
		return nil, true, nil
	}
	only = true
	first := true
	err = rawjson.Array(content, func(item []byte) error {
		kind, literal, err := contentItem(item)
		switch {
		case err != nil:
			return err
		case kind != "text":
			only = false
			return nil
		}
		if !first {
			text = append(text, '\n')
		}
		first = false
		text, err = rawjson.AppendString(text, literal)
		return err
	})
	return text, only, err
}

// contentItem reads the type and the text of one item.
func contentItem(item []byte) (kind string, text []byte, err error) {
	err = rawjson.Object(item, func(m rawjson.Member) error {
		switch m.Key {
		case "type":
			raw, err := rawjson.AppendString(nil, m.Value)
			kind = string(raw)
			return err
		case "text":
			text = m.Value
		}
		return nil
	})
	if err != nil {
		return "", nil, fmt.Errorf("content: %w", err)
	}
	if kind == "text" && text == nil {
		return "", nil, errors.New(`content: a text without "text"`)
	}
	return kind, text, nil
}
