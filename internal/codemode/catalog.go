package codemode

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandboxd/sandboxd/internal/near"
	"github.com/sandboxd/sandboxd/internal/typescript"
	"github.com/sandboxd/sandboxd/internal/upstream"
)

// Catalog is what programs may call, and can be searched. It does not change.
type Catalog struct {
	servers []Provider
	tools   []entry
	mark    uint64 // differs where what is found does
}

// Provider is a server with what there is to say of it.
type Provider struct {
	Server string `json:"server"`
	Tools  int    `json:"tools"`
	Note   string `json:"note,omitempty"` // why there are not more
}

// entry is a tool as it is found.
type entry struct {
	hit
	name, rest string // in lower case: the names, and what describes it
}

// hit is what a search says of a tool.
type hit struct {
	Server      string `json:"server"`
	Tool        string `json:"tool"`
	Signature   string `json:"signature"`
	Description string `json:"description,omitempty"`
}

// maxDescription bounds what a search says of a tool beside its signature, in bytes.
const maxDescription = 160

// NewCatalog makes a catalog of servers, in their order, and their tools.
func NewCatalog(servers []Provider, tools []upstream.Tool) *Catalog {
	c := &Catalog{servers: slices.Clone(servers)}
	mark := fnv.New64a()
	for _, t := range tools {
		h := hit{Server: t.Server, Tool: t.Name, Description: sentence(t.Description), Signature: typescript.Signature(typescript.Tool{
			Server: t.Server, Name: t.Name, Input: t.InputSchema, Output: t.OutputSchema,
		})}
		c.tools = append(c.tools, entry{h, strings.ToLower(t.Server + " " + t.Name), strings.ToLower(t.Title + " " + t.Description)})
		fmt.Fprintf(mark, "%q %q\n", h.Signature, h.Description)
	}
	for _, s := range c.servers {
		fmt.Fprintf(mark, "%q %q\n", s.Server, s.Note)
	}
	c.mark = mark.Sum64()
	return c
}

// sentence is the first one of a description.
func sentence(text string) string {
	text = clean(text, maxDescription)
	if first, _, more := strings.Cut(text, ". "); more {
		return first + "."
	}
	return text
}

// Bounds of a search.
const (
	maxQuery     = 1 << 10 // bytes
	maxWords     = 32
	defaultLimit = 10
	maxLimit     = 50
)

// found is what a search answers. Total counts all that there is, on whichever page.
type found struct {
	Total   int        `json:"total"`
	Tools   []hit      `json:"tools,omitempty"`
	Servers []Provider `json:"servers,omitempty"` // without a query
	Next    string     `json:"next_cursor,omitempty"`
}

func (s *Server) search(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args := struct {
		Query  string `json:"query"`
		Limit  *int   `json:"limit"`
		Cursor string `json:"cursor"`
	}{}
	if err := decode(r, &args); err != nil {
		return nil, err
	}
	limit := defaultLimit
	if args.Limit != nil {
		limit = *args.Limit
	}
	switch {
	case limit < 1 || limit > maxLimit:
		return nil, fmt.Errorf("arguments: limit must be 1 to %d", maxLimit)
	case len(args.Query) > maxQuery:
		return nil, fmt.Errorf("arguments: query has %d bytes, at most %d", len(args.Query), maxQuery)
	}
	c, err := s.options.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	f, text, err := c.search(args.Query, limit, args.Cursor)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{StructuredContent: f, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

// search returns a page, and the same as text.
func (c *Catalog) search(query string, limit int, cursor string) (f found, text string, err error) {
	words := wordsOf(query)
	from, err := c.offset(words, cursor)
	if err != nil {
		return f, "", err
	}
	var b strings.Builder
	if len(words) == 0 {
		f.Total = len(c.servers)
		f.Servers = page(c.servers, from, limit)
		for _, s := range f.Servers {
			fmt.Fprintf(&b, "tools.%s: %d", clean(s.Server, maxDoing), s.Tools)
			if s.Note != "" {
				fmt.Fprintf(&b, " (%s)", s.Note)
			}
			b.WriteByte('\n')
		}
	} else {
		hits := c.hits(words)
		f.Total = len(hits)
		f.Tools = page(hits, from, limit)
		for _, h := range f.Tools {
			b.WriteString(h.Signature)
			if h.Description != "" {
				b.WriteString(" // " + h.Description)
			}
			b.WriteByte('\n')
		}
	}
	shown := len(f.Tools) + len(f.Servers)
	if end := from + shown; end < f.Total {
		f.Next = c.cursor(words, end)
	}
	return f, c.summary(words, f, from, shown) + b.String(), nil
}

// summary is the line above a page.
func (c *Catalog) summary(words []string, f found, from, shown int) string {
	what := "tools"
	if len(words) == 0 {
		what = "servers"
	}
	switch {
	case f.Total == 0 && len(words) == 0:
		return "There are no servers: programs can compute, and call nothing.\n"
	case f.Total == 0:
		return "No tool has any of these words in its name or description" + c.instead(words) + ". Without a query: the servers.\n"
	case f.Next != "":
		return fmt.Sprintf("%s %d to %d of %d, more with cursor %q:\n", what, from+1, from+shown, f.Total, f.Next)
	}
	return fmt.Sprintf("%s %d to %d of %d:\n", what, from+1, from+shown, f.Total)
}

// instead names tools that are spelt like what was sought.
func (c *Catalog) instead(words []string) string {
	names := make([]string, len(c.tools))
	for i, t := range c.tools {
		names[i] = t.Tool
	}
	like := near.Names(strings.Join(words, "_"), names)
	if len(like) == 0 {
		return ""
	}
	return "; there are " + clean(strings.Join(like, ", "), maxDoing)
}

func page[T any](all []T, from, limit int) []T {
	from = min(from, len(all))
	return all[from:min(from+limit, len(all))]
}

// hits are the tools that have at least one of the words, those with most of them first, and those that have them in their names.
func (c *Catalog) hits(words []string) []hit {
	type scored struct {
		hit
		words, score int
	}
	var all []scored
	for _, t := range c.tools {
		s := scored{hit: t.hit}
		for _, w := range words {
			switch {
			case strings.Contains(t.name, w):
				s.words, s.score = s.words+1, s.score+3
			case strings.Contains(t.rest, w):
				s.words, s.score = s.words+1, s.score+1
			}
		}
		if s.words > 0 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(b.score, a.score))
	})
	hits := make([]hit, len(all))
	for i, s := range all {
		hits[i] = s.hit
	}
	return hits
}

// wordsOf are the words of a query, in lower case and each once.
func wordsOf(query string) (words []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(words) < maxWords && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// cursor says where the next page of a search begins. It is good for that search only, and while the catalog is what it was.
func (c *Catalog) cursor(words []string, from int) string {
	of := fnv.New32a()
	of.Write(binary.BigEndian.AppendUint64(nil, c.mark))
	of.Write([]byte(strings.Join(words, " ")))
	return strconv.Itoa(from) + "-" + hex.EncodeToString(of.Sum(nil))
}

func (c *Catalog) offset(words []string, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	number, _, _ := strings.Cut(cursor, "-")
	from, err := strconv.Atoi(number)
	if err != nil || from < 1 || c.cursor(words, from) != cursor {
		return 0, errors.New("arguments: cursor is not one of this search, or the tools have changed since: search again without it")
	}
	return from, nil
}
