package js

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

// lowered is what esbuild made of a program that goja does not know the syntax of.
type lowered struct {
	text string
	from *sourcemap.Consumer // positions of it to those of the wrapped text
}

// inOlderWords lowers the program, and builds it. Only if that is refused as well, and there may be a static field with `super` in it, are
// those lowered, too.
func (s *source) inOlderWords(build func() (*goja.Program, *fault)) (program *goja.Program, bad *fault) {
	for _, statics := range []bool{false, true} {
		if statics && !(strings.Contains(s.wrapped, "static") && strings.Contains(s.wrapped, "super")) {
			break
		}
		if bad = s.lower(statics); bad == nil {
			program, bad = build()
		}
		if bad == nil {
			return program, nil
		}
	}
	return nil, bad
}

// lower strips the program of its types, and writes async generators, `for await`, `using` and decorators in older
// words. The text is wrapped before: at the top of a module esbuild refuses return, and elsewhere await.
//
// With statics, static fields are written as assignments: in one of those goja refuses `super`. It makes all names longer, and so is not
// for others.
func (s *source) lower(statics bool) *fault {
	result := api.Transform(s.wrapped, api.TransformOptions{
		Loader: api.LoaderTS,
		Target: api.ESNext,
		Supported: map[string]bool{
			"async-generator": false, "for-await": false, "using": false, "decorators": false, "class-static-field": !statics,
		},
		KeepNames:      statics, // of classes, which are renamed then
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Sourcefile:     fileName,
		LogLimit:       1,
	})
	if len(result.Errors) > 0 {
		return s.refused(result.Errors[0])
	}
	from, err := sourcemap.Parse("", result.Map)
	if err != nil {
		return &fault{source: s, message: err.Error(), offset: -1}
	}
	s.lowered = &lowered{text: string(result.Code), from: from}
	return nil
}

// refused is the first thing that esbuild refused. Its columns are in bytes, from 0.
func (s *source) refused(m api.Message) *fault {
	offset := -1 // a fault of esbuild itself: what goja said is better
	if m.Location != nil {
		offset = s.unwrap(byteOffset(s.wrapped, m.Location.Line, m.Location.Column))
	}
	return &fault{source: s, message: m.Text, offset: offset}
}

// origin is the place in the wrapped text that a position in the lowered text comes from, or -1 if it comes from
// esbuild's helpers. Columns of source maps are in UTF-16 code units.
func (l *lowered) origin(at file.Position, wrapped string) int {
	offset := byteOffset(l.text, at.Line, at.Column-1)
	start := byteOffset(l.text, at.Line, 0)
	if offset < 0 || offset > len(l.text) {
		return -1
	}
	_, _, line, column, ok := l.from.Source(at.Line, utf16Length(l.text[start:offset]))
	if !ok {
		return -1
	}
	start = byteOffset(wrapped, line, 0)
	if start < 0 || start > len(wrapped) {
		return -1
	}
	return start + utf16Prefix(wrapped[start:], column)
}
