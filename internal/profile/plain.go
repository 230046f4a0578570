package profile

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sandboxd/sandboxd/internal/strictyaml"
)

// odd lists what YAML allows and a profile does not, as it sets what a reader would not expect: 010 is 8, and 1.9 is 1.
// It tells all at once; what is no YAML is strictyaml's to tell.
func odd(label string, text []byte) []string {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil
	}
	var all []string
	for _, top := range document.Content {
		if top.ShortTag() != "!!null" { // a file with nothing in it
			all = append(all, oddities(label, top, "")...)
		}
	}
	return all
}

var (
	whole   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]{1,3})?$`) // a cgroup is told of thousandths
)

// oddities looks at what stands at path, and below it.
func oddities(label string, node *yaml.Node, path string) []string {
	wrong := func(at *yaml.Node, text string) []string {
		return []string{fmt.Sprintf("%s:%d: %s: %s", label, at.Line, path, text)}
	}
	numeric := strings.HasPrefix(path, "limits.") || strings.HasPrefix(path, "jail.")
	switch {
	case strictyaml.Clever(node):
		return wrong(node, "anchors, aliases and tags of YAML are not for profiles; write the value")
	case node.ShortTag() == "!!null":
		return wrong(node, "has no value; give it one, or leave it out")
	case path == "jail.cpus" && !decimal.MatchString(node.Value):
		return wrong(node, fmt.Sprintf("%q is no decimal number of at most three places", node.Value))
	case numeric && path != "jail.cpus" && !whole.MatchString(node.Value):
		return wrong(node, fmt.Sprintf("%q is no whole decimal number", node.Value))
	case node.Kind != yaml.MappingNode:
		var all []string
		for _, child := range node.Content {
			all = append(all, oddities(label, child, path)...)
		}
		return all
	}
	var all []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		if strictyaml.Clever(key) || key.ShortTag() == "!!merge" {
			all = append(all, fmt.Sprintf("%s:%d: %s: a key is a plain word here", label, key.Line, inner))
		}
		all = append(all, oddities(label, value, inner)...)
	}
	return all
}
