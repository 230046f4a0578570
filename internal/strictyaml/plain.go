package strictyaml

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Clever is what makes a node mean something else than it says: an anchor, an alias, a tag.
func Clever(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0
}

var whole = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// Plain lists, with their places, what YAML allows in a file that has no fractions and whose reader would expect something else: 010 is 8,
// 1.9 is 1, and what an alias or a merged key brings stands elsewhere. What is no YAML is Decode's to tell.
func Plain(name string, text []byte) []string {
	var document yaml.Node
	if fits(name, text) != nil || yaml.Unmarshal(text, &document) != nil {
		return nil
	}
	return odd(name, &document, "")
}

// odd looks at a node, and below it.
func odd(name string, node *yaml.Node, path string) (wrong []string) {
	tell := func(what string) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: %s", name, node.Line, strings.TrimPrefix(strings.ReplaceAll(path, "\n", " ")+": "+what, ": ")))
	}
	switch tag := node.ShortTag(); {
	case Clever(node):
		tell("anchors, aliases and tags of YAML are not for this file; write the value")
		return wrong
	case tag == "!!merge":
		tell("merged keys of YAML are not for this file; write them out")
	case (tag == "!!int" || tag == "!!float") && !whole.MatchString(node.Value):
		tell(fmt.Sprintf("%q is no whole decimal number; as text it wants quotes", node.Value))
	}
	for i, child := range node.Content {
		inner := path
		if node.Kind == yaml.MappingNode {
			inner = strings.TrimPrefix(path+"."+node.Content[i-i%2].Value, ".")
		}
		wrong = append(wrong, odd(name, child, inner)...)
	}
	return wrong
}
