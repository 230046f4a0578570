package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a judge sends is read so that it can mean one thing only: a member that stands twice, or that another reader
// could take for one of ours (Verdict), makes it no answer.

// readVerdict reads one verdict: an object with `verdict`, and `reason`, which may be missing or null. Other members
// are of richer guards, and tell nothing here.
func readVerdict(text []byte) ruling {
	m, err := members(text, "verdict", "reason")
	if err != nil {
		return ruling{err: err}
	}
	return m.ruling()
}

// readIndexed reads the verdict at its place in a batch.
func readIndexed(text []byte, i int) ruling {
	m, err := members(text, "verdict", "reason", "index")
	if err != nil {
		return ruling{err: err}
	}
	if index, ok := m["index"]; ok && string(index) != strconv.Itoa(i) {
		return ruling{err: fmt.Errorf("the result at place %d says that its index is %s", i, printable(string(index), 40))}
	}
	return m.ruling()
}

// readBatch reads the verdicts on n checks. One that can't be read does not spoil the others; a list of another length
// is no answer, as nothing says whose verdicts these are.
func readBatch(text []byte, n int) ([]ruling, error) {
	m, err := members(text, "results")
	if err != nil {
		return nil, err
	}
	results, err := m.array("results", n)
	if err != nil {
		return nil, err
	}
	rulings := make([]ruling, n)
	for i, result := range results {
		rulings[i] = readIndexed(result, i)
	}
	return rulings, nil
}

// readChat reads a chat completion, whose text must be a verdict and nothing else.
func readChat(text []byte) ruling {
	content, err := completion(text)
	if err != nil {
		return ruling{err: err}
	}
	m, err := members([]byte(content), "verdict", "reason")
	if err != nil {
		return ruling{err: fmt.Errorf("the model's text: %w", err)}
	}
	for key := range m {
		if key != "verdict" && key != "reason" {
			return ruling{err: fmt.Errorf("the model's text has a member %.40q, which it was not asked for", key)}
		}
	}
	return m.ruling()
}

// completion is the text of the only choice, which must have come to its end by itself.
func completion(text []byte) (string, error) {
	m, err := members(text, "choices")
	if err != nil {
		return "", err
	}
	choices, err := m.array("choices", 1)
	if err != nil {
		return "", err
	}
	choice, err := members(choices[0], "finish_reason", "message")
	if err != nil {
		return "", err
	}
	if why, err := choice.text("finish_reason"); err != nil || why != "stop" {
		return "", fmt.Errorf("the model did not come to an end: finish_reason is %s", printable(string(choice["finish_reason"]), 40))
	}
	message, err := members(choice["message"], "content")
	if err != nil {
		return "", err
	}
	return message.text("content")
}

// maxMembers bounds what is remembered of an object: a verdict has two, a chat completion about ten.
const maxMembers = 64

// object is a JSON object whose keys stand once each.
type object map[string]json.RawMessage

// members takes an object apart. The names are those that matter: no other member may look like one of them.
func members(text []byte, names ...string) (object, error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, errors.New("the answer is no JSON in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("the answer has %s where an object belongs", printable(string(text), 40))
	}
	o := make(object)
	for d.More() {
		if len(o) == maxMembers {
			return nil, fmt.Errorf("the answer has an object of more than %d members", maxMembers)
		}
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("the answer's member %.40q stands twice", key)
		}
		if !slices.Contains(names, key) && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(key, name) }) {
			return nil, fmt.Errorf("the answer's member %.40q looks like another", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		o[key] = value
	}
	return o, nil
}

func (o object) ruling() ruling {
	word, err := o.text("verdict")
	if err != nil {
		return ruling{err: err}
	}
	i := slices.Index(words[:], word)
	if i < 0 {
		return ruling{err: fmt.Errorf("the answer's verdict is %q, and not allow, ask or block", printable(word, 40))}
	}
	var reason string
	if raw, ok := o["reason"]; ok && string(raw) != "null" {
		if reason, err = o.text("reason"); err != nil {
			return ruling{err: err}
		}
	}
	return ruling{verdict: Verdict(i), reason: printable(reason, maxReason)}
}

func (o object) text(name string) (s string, err error) {
	raw, ok := o[name]
	switch {
	case !ok:
		return "", fmt.Errorf("the answer has no member %q", name)
	case raw[0] != '"':
		return "", fmt.Errorf("the answer's member %q is %s, and no string", name, printable(string(raw), 40))
	}
	err = json.Unmarshal(raw, &s)
	return s, err
}

// array is the items of a member that must have exactly n.
func (o object) array(name string, n int) ([]json.RawMessage, error) {
	raw, ok := o[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("the answer has no member %q", name)
	case raw[0] != '[':
		return nil, fmt.Errorf("the answer's member %q is %s, and no array", name, printable(string(raw), 40))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	items := make([]json.RawMessage, 0, n)
	for d.More() {
		if len(items) == n {
			return nil, fmt.Errorf("the answer's %s are more than the %d that were asked for", name, n)
		}
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	if len(items) < n {
		return nil, fmt.Errorf("the answer's %s are %d, and %d were asked for", name, len(items), n)
	}
	return items, nil
}
