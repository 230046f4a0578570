package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"github.com/sandboxd/sandboxd/internal/js/weburl"
)

// urlParts are what URL's accessors read and write, in the order in which library/url.js numbers them.
var urlParts = []struct {
	get func(*weburl.URL) string
	set func(*weburl.URL, string)
}{
	{(*weburl.URL).Href, nil},
	{(*weburl.URL).Origin, nil},
	{(*weburl.URL).Protocol, (*weburl.URL).SetProtocol},
	{(*weburl.URL).Username, (*weburl.URL).SetUsername},
	{(*weburl.URL).Password, (*weburl.URL).SetPassword},
	{(*weburl.URL).Host, (*weburl.URL).SetHost},
	{(*weburl.URL).Hostname, (*weburl.URL).SetHostname},
	{(*weburl.URL).Port, (*weburl.URL).SetPort},
	{(*weburl.URL).Pathname, (*weburl.URL).SetPathname},
	{(*weburl.URL).Search, (*weburl.URL).SetSearch},
	{(*weburl.URL).Hash, (*weburl.URL).SetHash},
}

// webText is the toString of a class of the library, as it was before the program could replace it.
type webText struct {
	name, label string
	text        goja.Callable
}

// urls are the classes, and how their objects are logged.
func (e *Engine) urls() map[string]goja.Value {
	made := e.prelude("url", urlSource, e.urlNatives())
	for name, label := range map[string]string{"URL": "href: ", "URLSearchParams": ""} {
		proto := made[name].(*goja.Object).Get("prototype").(*goja.Object)
		e.texts = append(e.texts, webText{name, label, method(proto, "toString")})
	}
	return made
}

// urlState is a URL, and the list of its query once it was asked for.
type urlState struct {
	*weburl.URL
	list *weburl.Params
}

func (e *Engine) urlNatives() natives {
	n := e.listNatives()
	n["parse"] = e.parseURL
	n["get"] = func(fc goja.FunctionCall) goja.Value {
		return e.vm.ToValue(urlParts[fc.Argument(1).ToInteger()].get(heldIn[*urlState](fc.Argument(0)).URL))
	}
	n["set"] = e.setURL
	n["query"] = func(fc goja.FunctionCall) goja.Value {
		u := heldIn[*urlState](fc.Argument(0))
		u.list = weburl.ParamsOf(u.URL)
		return hold(e, u.list)
	}
	return n
}

// parseURL gives undefined for what is no URL, or throws as the constructor does.
func (e *Engine) parseURL(fc goja.FunctionCall) goja.Value {
	text := fc.Argument(0).String()
	if fc.Argument(2).ToBoolean() {
		e.boundURL(len(text))
	}
	var base *weburl.URL
	ok := true
	if b := fc.Argument(1); !goja.IsUndefined(b) {
		base, ok = weburl.Parse(b.String(), nil)
	}
	var u *weburl.URL
	if ok {
		u, ok = weburl.Parse(text, base)
	}
	switch {
	case ok:
		return hold(e, &urlState{URL: u})
	case fc.Argument(2).ToBoolean():
		panic(e.invalidURL(text, fc.Argument(1)))
	}
	return goja.Undefined()
}

func (e *Engine) boundURL(n int) {
	if n > weburl.MaxLength {
		panic(e.newError(e.real.rangeError, fmt.Sprintf("a URL has at most %d MiB", weburl.MaxLength>>20)))
	}
}

// invalidURL is node's error, and says which text it is.
func (e *Engine) invalidURL(text string, base goja.Value) *goja.Object {
	message := "Invalid URL: " + quote(clipText(text, 200))
	if !goja.IsUndefined(base) {
		message += " relative to " + quote(clipText(base.String(), 200))
	}
	o := e.newError(e.real.typeError, message)
	setOwn(o, "code", e.vm.ToValue("ERR_INVALID_URL"))
	return o
}

func (e *Engine) setURL(fc goja.FunctionCall) goja.Value {
	u, part, text := heldIn[*urlState](fc.Argument(0)), fc.Argument(1).ToInteger(), fc.Argument(2).String()
	e.boundURL(len(text))
	if part == 0 {
		if !u.SetHref(text) {
			panic(e.invalidURL(text, goja.Undefined()))
		}
	} else {
		urlParts[part].set(u.URL, text)
	}
	if u.list != nil && (part == 0 || urlParts[part].set != nil) {
		u.list.Parse(u.Query())
	}
	return goja.Undefined()
}

func (e *Engine) listNatives() natives {
	list := func(fc goja.FunctionCall) *weburl.Params { return heldIn[*weburl.Params](fc.Argument(0)) }
	name := func(fc goja.FunctionCall) string { return fc.Argument(1).String() }
	// matches tells pairs of a name, and of a value if one is given.
	matches := func(fc goja.FunctionCall) func(weburl.Pair) bool {
		return func(p weburl.Pair) bool {
			return p.Name == name(fc) && (goja.IsUndefined(fc.Argument(2)) || p.Value == fc.Argument(2).String())
		}
	}
	changed := func(f func(p *weburl.Params, fc goja.FunctionCall)) func(goja.FunctionCall) goja.Value {
		return func(fc goja.FunctionCall) goja.Value {
			p := list(fc)
			before := slices.Clone(p.Pairs)
			f(p, fc)
			if query, inURL := p.InURL(); inURL {
				if len(query) > weburl.MaxLength {
					p.Pairs = before
				}
				e.boundURL(len(query))
				p.Changed(query)
			}
			return goja.Undefined()
		}
	}
	return natives{
		"newList": func(goja.FunctionCall) goja.Value { return hold(e, &weburl.Params{}) },
		"update": func(fc goja.FunctionCall) goja.Value {
			text := name(fc)
			if text != "" && text[0] == '?' {
				text = text[1:]
			}
			list(fc).Parse(text)
			return goja.Undefined()
		},
		"fill": func(fc goja.FunctionCall) goja.Value {
			e.fillList(list(fc), fc.Argument(1).(*goja.Object))
			return goja.Undefined()
		},
		"append": changed(func(p *weburl.Params, fc goja.FunctionCall) {
			p.Pairs = append(p.Pairs, weburl.Pair{Name: name(fc), Value: fc.Argument(2).String()})
		}),
		"remove": changed(func(p *weburl.Params, fc goja.FunctionCall) { p.Pairs = slices.DeleteFunc(p.Pairs, matches(fc)) }),
		"assign": changed(func(p *weburl.Params, fc goja.FunctionCall) { p.Set(name(fc), fc.Argument(2).String()) }),
		"sort":   changed(func(p *weburl.Params, _ goja.FunctionCall) { p.Sort() }),
		"first": func(fc goja.FunctionCall) goja.Value {
			if i := slices.IndexFunc(list(fc).Pairs, matches(fc)); i >= 0 {
				return e.vm.ToValue(list(fc).Pairs[i].Value)
			}
			return goja.Null()
		},
		"all": func(fc goja.FunctionCall) goja.Value {
			var values []any
			for _, p := range list(fc).Pairs {
				if p.Name == name(fc) {
					values = append(values, p.Value)
				}
			}
			return e.vm.NewArray(values...)
		},
		"has": func(fc goja.FunctionCall) goja.Value {
			return e.vm.ToValue(slices.ContainsFunc(list(fc).Pairs, matches(fc)))
		},
		"text": func(fc goja.FunctionCall) goja.Value { return e.vm.ToValue(list(fc).String()) },
		"size": func(fc goja.FunctionCall) goja.Value { return e.vm.ToValue(len(list(fc).Pairs)) },
		"at": func(fc goja.FunctionCall) goja.Value {
			p := list(fc).Pairs[fc.Argument(1).ToInteger()]
			return e.vm.ToValue([]string{p.Name, p.Value}[fc.Argument(2).ToInteger()])
		},
		"iterator": func(fc goja.FunctionCall) goja.Value { return e.listIterator(list(fc), fc.Argument(1).ToInteger()) },
	}
}

// fillList takes pairs from an iterable, or else an object's own properties.
func (e *Engine) fillList(p *weburl.Params, o *goja.Object) {
	f := e.method(o, goja.SymIterator)
	if goja.IsUndefined(f) {
		for _, name := range o.Keys() {
			value := e.text(orUndefined(o.Get(name))).String()
			p.Pairs = append(p.Pairs, weburl.Pair{Name: name, Value: value})
		}
		return
	}
	e.opened(f, o).each(func(v goja.Value) bool {
		var pair []string
		if o, ok := v.(*goja.Object); ok {
			e.iterationOf(o).each(func(v goja.Value) bool {
				pair = append(pair, e.text(v).String())
				return len(pair) <= 2
			})
		}
		if len(pair) != 2 {
			panic(e.newError(e.real.typeError, "URLSearchParams: each query pair must be an iterable [name, value] tuple"))
		}
		p.Pairs = append(p.Pairs, weburl.Pair{Name: pair[0], Value: pair[1]})
		return true
	})
}

// listIterator goes on over a list that changes.
func (e *Engine) listIterator(p *weburl.Params, what int64) goja.Value {
	i := 0
	h := &helper{next: func() (goja.Value, bool) {
		if i >= len(p.Pairs) {
			return nil, false
		}
		pair := p.Pairs[i]
		i++
		switch what {
		case 0:
			return e.vm.ToValue(pair.Name), true
		case 1:
			return e.vm.ToValue(pair.Value), true
		}
		return e.vm.NewArray(pair.Name, pair.Value), true
	}}
	if e.iterators.list == nil {
		e.iterators.list = e.vm.CreateObject(e.iterators.prototype)
		hide(e.iterators.list, "next", e.native("next", 0, e.helperNext))
		tag(e, e.iterators.list, "URLSearchParams Iterator")
	}
	o := e.vm.NewDynamicObject(h)
	o.SetPrototype(e.iterators.list)
	return o
}
