package gitobject

import (
	"context"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store/git"
)

// symbolConnection is the type SymbolConnection.
type symbolConnection struct {
	Nodes    []*Symbol
	PageInfo wire.ForwardPage
}

// maxSymbols is how many symbols a page may have.
const maxSymbols = 10_000

// symbolsArgs choose symbols of a file or a tree.
type symbolsArgs struct {
	First wire.Int
	Query wire.String
}

// Symbols lists the definitions of a file or below a tree.
func (e *entry) Symbols(ctx context.Context, args symbolsArgs) (*symbolConnection, error) {
	path := "^" + regexp.QuoteMeta(e.path) + "$"
	if e.IsDirectory() {
		path = "^" + regexp.QuoteMeta(e.path) + "/"
		if e.path == "" {
			path = ""
		}
	}
	return e.commit.findSymbols(ctx, args, []string{path})
}

// Symbols lists the definitions of a commit.
func (c *Commit) Symbols(ctx context.Context, args struct {
	First           wire.Int
	Query           wire.String
	IncludePatterns *[]string
}) (*symbolConnection, error) {
	var paths []string
	if args.IncludePatterns != nil {
		paths = *args.IncludePatterns
	}
	return c.findSymbols(ctx, symbolsArgs{args.First, args.Query}, paths)
}

// findSymbols is a search for symbols, so it knows those of what is indexed.
func (c *Commit) findSymbols(ctx context.Context, args symbolsArgs, paths []string) (*symbolConnection, error) {
	out := &symbolConnection{Nodes: []*Symbol{}}
	if c.oid != c.repo.rec.Commit() {
		return out, nil
	}
	if args.First.Or(0) < 0 {
		return nil, wire.Refuse("a page cannot have a negative length")
	}
	most := wire.PageLength(args.First.Or(0), maxSymbols)
	b := query.Basic{Filters: []query.Filter{
		{Field: "type", Value: "symbol"}, {Field: "repo", Value: "^" + regexp.QuoteMeta(c.repo.rec.Name) + "$"},
	}}
	for _, p := range paths {
		if p != "" {
			b.Filters = append(b.Filters, query.Filter{Field: "file", Value: p})
		}
	}
	pattern := args.Query.Or("")
	for _, text := range append([]string{pattern}, paths...) {
		if _, err := syntax.Parse(text, syntax.Perl); err != nil {
			return nil, wire.Refuse("%s", err.Error())
		}
	}
	if pattern != "" {
		b.Pattern = &query.Pattern{Value: pattern, IsRegexp: true}
	}
	sink := answer.SinkFunc(func(matches []query.Match) error {
		for _, m := range matches {
			if f, ok := m.(*query.FileMatch); ok {
				out.Nodes = append(out.Nodes, NewSymbols(c.repo, f)...)
			}
		}
		return nil
	})
	q := &query.Query{PatternType: query.Regexp, Basics: []query.Basic{b}}
	found := c.repo.s.search(ctx, q, search.Options{DefaultCount: most + 1}, sink)
	if found.Err != nil {
		return nil, found.Err
	}
	if len(out.Nodes) > most {
		out.Nodes, out.PageInfo.HasNextPage = out.Nodes[:most], true
	}
	return out, c.repo.s.Reserve(ctx, len(out.Nodes))
}

// Symbol finds the definition whose name stands at a place.
func (b *Blob) Symbol(ctx context.Context, args placeArgs) (*Symbol, error) {
	all, err := b.Symbols(ctx, symbolsArgs{})
	if err != nil {
		return nil, err
	}
	for _, s := range all.Nodes {
		p := s.place()
		if p.Start.Line == args.Line && p.Start.Character <= args.Character && args.Character < p.End.Character {
			return s, nil
		}
	}
	return nil, nil
}

// BlobAt is the file at a path where a search found one. If it went away since,
// it is without content, as is a directory that select: made.
func (c *Commit) BlobAt(ctx context.Context, path string) (*Blob, error) {
	if strings.HasSuffix(path, "/") {
		return &Blob{entry: &entry{c, path, git.Entry{Mode: git.ModeTree}}}, nil
	}
	e, err := c.at(ctx, path)
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = &entry{c, path, git.Entry{Mode: git.ModeSubmodule}}
	}
	return &Blob{entry: e}, nil
}

// Valid is text whose wrong bytes are replaced.
func Valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// Place is the type Range.
type Place struct{ Start, End Position }

// Position is the type Position.
type Position struct{ Line, Character int32 }

// NewPosition is a place of a match.
func NewPosition(l query.Location) Position {
	return Position{wire.Int32(l.Line), wire.Int32(l.Column)}
}

// NewPlaces are the ranges of a match.
func NewPlaces(ranges []query.Range) []*Place {
	out := make([]*Place, len(ranges))
	for i, r := range ranges {
		out[i] = &Place{NewPosition(r.Start), NewPosition(r.End)}
	}
	return out
}

// Symbol is the type Symbol.
type Symbol struct {
	commit *Commit
	path   string
	lang   string
	s      query.Symbol
}

// NewSymbols are those that a search found in a document.
func NewSymbols(r *Repository, m *query.FileMatch) []*Symbol {
	out := []*Symbol{}
	for _, s := range m.Symbols {
		out = append(out, &Symbol{&Commit{repo: r, oid: m.Commit, rev: m.Rev}, m.Path, m.Language, s})
	}
	return out
}

func (s *Symbol) Name() string           { return s.s.Name }
func (s *Symbol) ContainerName() *string { return wire.TextOrNull(s.s.Container) }
func (s *Symbol) Kind() string           { return event.KindWord(s.s.Kind) }
func (s *Symbol) Language() string       { return s.lang }
func (s *Symbol) FileLocal() bool        { return false }
func (s *Symbol) Location() *location    { return &location{s} }
func (s *Symbol) URL() string            { return s.urlAt(s.commit.rev) }
func (s *Symbol) CanonicalURL() string   { return s.urlAt(s.commit.oid) }

// urlAt points at the name, in lines and characters counted from one.
func (s *Symbol) urlAt(rev string) string {
	r := s.place()
	line := strconv.Itoa(int(r.Start.Line) + 1)
	return code.BlobURL(s.commit.repo.rec.Name, rev, s.path) + "?L" + line + ":" + strconv.Itoa(int(r.Start.Character)+1) +
		"-" + line + ":" + strconv.Itoa(int(r.End.Character)+1)
}

// place is that of the name.
func (s *Symbol) place() *Place {
	line, column := wire.Int32(max(s.s.Line, 1)-1), wire.Int32(s.s.Column)
	return &Place{Position{line, column}, Position{line, column + wire.Int32(utf8.RuneCountInString(s.s.Name))}}
}

// location is the type Location.
type location struct{ s *Symbol }

func (l *location) Range() *Place        { return l.s.place() }
func (l *location) URL() string          { return l.s.URL() }
func (l *location) CanonicalURL() string { return l.s.CanonicalURL() }

// Resource is the document.
func (l *location) Resource(ctx context.Context) (*Blob, error) {
	return l.s.commit.BlobAt(ctx, l.s.path)
}
