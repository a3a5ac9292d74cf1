package graphql

import (
	"context"
	"regexp"
	"regexp/syntax"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// symbolConnection is the type SymbolConnection.
type symbolConnection struct {
	Nodes    []*symbol
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
func (c *commit) Symbols(ctx context.Context, args struct {
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
func (c *commit) findSymbols(ctx context.Context, args symbolsArgs, paths []string) (*symbolConnection, error) {
	out := &symbolConnection{Nodes: []*symbol{}}
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
				out.Nodes = append(out.Nodes, newSymbols(c.repo, f)...)
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
func (b *blob) Symbol(ctx context.Context, args placeArgs) (*symbol, error) {
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
