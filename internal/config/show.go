package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Key is one of a configuration: what it is set to, and where.
type Key struct {
	Name  string `json:"key"`   // path, such as runs.at_once
	Value any    `json:"value"` // int64, []string, or string, which durations are too
	From  string `json:"from"`  // file:line; or FromDefault

	path []string
}

// FromDefault is where a value is from that no file sets.
const FromDefault = "default"

// Keys are all that there are, in the order of the sections; of pool, each profile's.
func (c Config) Keys() []Key { return c.keys(reflect.ValueOf(c), nil) }

func (c Config) keys(section reflect.Value, path []string) (all []Key) {
	for field, value := range section.Fields() {
		if !field.IsExported() {
			continue
		}
		inner := append(path[:len(path):len(path)], field.Tag.Get("yaml"))
		switch v := value.Interface().(type) {
		case map[string]int:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				all = append(all, c.key(append(inner[:len(inner):len(inner)], name), int64(v[name])))
			}
		case []string:
			all = append(all, c.key(inner, append([]string{}, v...)))
		case time.Duration:
			all = append(all, c.key(inner, v.String()))
		default:
			switch value.Kind() {
			case reflect.Struct:
				all = append(all, c.keys(value, inner)...)
			case reflect.Int, reflect.Int64:
				all = append(all, c.key(inner, value.Int()))
			default: // a test has that there is nothing but text
				all = append(all, c.key(inner, value.String()))
			}
		}
	}
	return all
}

func (c Config) key(path []string, value any) Key {
	k := Key{strings.Join(path, "."), value, FromDefault, path}
	if place := c.places[k.Name]; place != "" {
		k.From = place
	}
	return k
}

// YAML is the whole configuration, as one file that would be read as the same, with where each value is from.
func (c Config) YAML() string {
	var b strings.Builder
	var in []string
	for _, k := range c.Keys() {
		sections := k.path[:len(k.path)-1]
		for i, name := range sections {
			if i < len(in) && in[i] == name {
				continue
			}
			in = in[:i]
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), name)
			in = append(in, name)
		}
		in = in[:len(sections)]
		line := strings.Repeat("  ", len(sections)) + flow(k.path[len(sections)]) + ": " + flow(k.Value)
		fmt.Fprintf(&b, "%-40s # %s\n", line, strings.Map(oneLine, k.From))
	}
	return b.String()
}

// oneLine keeps a path from ending the comment that it is in.
func oneLine(r rune) rune {
	if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
		return '\ufffd'
	}
	return r
}

// flow is a value as YAML, on one line.
func flow(value any) string {
	var node yaml.Node
	_ = node.Encode(value) // numbers, text and lists of text have no way to fail
	style(&node)
	text, _ := yaml.Marshal(&node)
	return strings.TrimSuffix(string(text), "\n")
}

// style has lists on one line, and text of several.
func style(node *yaml.Node) {
	switch {
	case node.Kind == yaml.SequenceNode:
		node.Style = yaml.FlowStyle
	case node.Style == yaml.LiteralStyle:
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		style(child)
	}
}
