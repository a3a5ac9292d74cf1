package graphql

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store/git"
)

// searchResult is the union SearchResult.
type searchResult struct{ result any }

// ToFileMatch tells whether it is a document.
func (r *searchResult) ToFileMatch() (*fileMatch, bool) { m, ok := r.result.(*fileMatch); return m, ok }

// ToCommitSearchResult tells whether it is a commit.
func (r *searchResult) ToCommitSearchResult() (*commitMatch, bool) {
	m, ok := r.result.(*commitMatch)
	return m, ok
}

// ToRepository tells whether it is a repository.
func (r *searchResult) ToRepository() (*repository, bool) {
	m, ok := r.result.(*repository)
	return m, ok
}

// fileMatch is the type FileMatch.
type fileMatch struct {
	repo *repository
	m    *query.FileMatch
}

func newFileMatch(r *repository, m *query.FileMatch) *fileMatch { return &fileMatch{r, m} }

func (f *fileMatch) Repository() *repository { return f.repo }
func (f *fileMatch) LimitHit() bool          { return false }

func (f *fileMatch) commit() *commit {
	return &commit{repo: f.repo, oid: f.m.Commit, rev: f.m.Rev}
}

// File is looked for in the index first, so that the contents of many results
// cost no git. A directory that select: made is a file without content.
func (f *fileMatch) File(ctx context.Context) (*blob, error) {
	if strings.HasSuffix(f.m.Path, "/") {
		return &blob{entry: &entry{f.commit(), f.m.Path, git.Entry{Mode: git.ModeTree}}}, nil
	}
	return f.commit().blobAt(ctx, f.m.Path)
}

// blobAt is the file at a path where a search found one. If it went away since,
// it is without content.
func (c *commit) blobAt(ctx context.Context, path string) (*blob, error) {
	e, err := c.at(ctx, path)
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = &entry{c, path, git.Entry{Mode: git.ModeSubmodule}}
	}
	return &blob{entry: e}, nil
}

// RevSpec is what stands behind the at sign.
func (f *fileMatch) RevSpec() *revSpec {
	if f.m.Rev == "" {
		return nil
	}
	return newRevSpec(f.commit())
}

// Languages is at most one.
func (f *fileMatch) Languages() []string {
	if f.m.Language == "" {
		return []string{}
	}
	return []string{f.m.Language}
}

// Symbols are those that matched.
func (f *fileMatch) Symbols(ctx context.Context) ([]*symbol, error) {
	return newSymbols(f.repo, f.m), f.repo.s.Reserve(ctx, len(f.m.Symbols))
}

// LineMatches are those of a stream without chunks.
func (f *fileMatch) LineMatches(ctx context.Context) ([]lineMatch, error) {
	if f.repo.s.Full() {
		return nil, f.repo.s.FieldsError()
	}
	out := []lineMatch{}
	lines := httpapi.Lines(f.m.Chunks)
	if err := f.repo.s.Reserve(ctx, len(lines)); err != nil {
		return nil, err
	}
	for _, l := range lines {
		if err := f.repo.s.ShowParts(l.Text, len(l.Pieces)); err != nil {
			return nil, err
		}
		m := lineMatch{Preview: valid(l.Text), LineNumber: wire.Int32(l.Number), OffsetAndLengths: [][]int32{}}
		for _, p := range l.Pieces {
			m.OffsetAndLengths = append(m.OffsetAndLengths, []int32{wire.Int32(p[0]), wire.Int32(p[1])})
		}
		out = append(out, m)
	}
	return out, nil
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// ChunkMatches are those of a stream with chunks.
func (f *fileMatch) ChunkMatches(ctx context.Context) ([]chunkMatch, error) {
	out := []chunkMatch{}
	s, places := f.repo.s, 0
	for _, c := range f.m.Chunks {
		if err := s.ShowParts(c.Content, len(c.Ranges)); err != nil {
			return nil, err
		}
		places += 1 + len(c.Ranges)
		out = append(out, chunkMatch{valid(c.Content), newPosition(c.Start), newPlaces(c.Ranges)})
	}
	return out, s.Reserve(ctx, places)
}

// PathMatches are places in the path.
func (f *fileMatch) PathMatches() []*place { return newPlaces(f.m.PathRanges) }

// lineMatch is the type LineMatch.
type lineMatch struct {
	Preview          string
	LineNumber       int32
	OffsetAndLengths [][]int32
	LimitHit         bool
}

// chunkMatch is the type ChunkMatch.
type chunkMatch struct {
	Content      string
	ContentStart position
	Ranges       []*place
}

// place is the type Range.
type place struct{ Start, End position }

// position is the type Position.
type position struct{ Line, Character int32 }

func newPosition(l query.Location) position {
	return position{wire.Int32(l.Line), wire.Int32(l.Column)}
}

func newPlaces(ranges []query.Range) []*place {
	out := make([]*place, len(ranges))
	for i, r := range ranges {
		out[i] = &place{newPosition(r.Start), newPosition(r.End)}
	}
	return out
}

// symbol is the type Symbol.
type symbol struct {
	commit *commit
	path   string
	lang   string
	s      query.Symbol
}

func newSymbols(r *repository, m *query.FileMatch) []*symbol {
	out := []*symbol{}
	for _, s := range m.Symbols {
		out = append(out, &symbol{&commit{repo: r, oid: m.Commit, rev: m.Rev}, m.Path, m.Language, s})
	}
	return out
}

func (s *symbol) Name() string           { return s.s.Name }
func (s *symbol) ContainerName() *string { return wire.TextOrNull(s.s.Container) }
func (s *symbol) Kind() string           { return httpapi.KindWord(s.s.Kind) }
func (s *symbol) Language() string       { return s.lang }
func (s *symbol) FileLocal() bool        { return false }
func (s *symbol) Location() *location    { return &location{s} }
func (s *symbol) URL() string            { return s.urlAt(s.commit.rev) }
func (s *symbol) CanonicalURL() string   { return s.urlAt(s.commit.oid) }

// urlAt points at the name, in lines and characters counted from one.
func (s *symbol) urlAt(rev string) string {
	r := s.place()
	line := strconv.Itoa(int(r.Start.Line) + 1)
	return code.BlobURL(s.commit.repo.rec.Name, rev, s.path) + "?L" + line + ":" + strconv.Itoa(int(r.Start.Character)+1) +
		"-" + line + ":" + strconv.Itoa(int(r.End.Character)+1)
}

// place is that of the name.
func (s *symbol) place() *place {
	line, column := wire.Int32(max(s.s.Line, 1)-1), wire.Int32(s.s.Column)
	return &place{position{line, column}, position{line, column + wire.Int32(utf8.RuneCountInString(s.s.Name))}}
}

// location is the type Location.
type location struct{ s *symbol }

func (l *location) Range() *place        { return l.s.place() }
func (l *location) URL() string          { return l.s.URL() }
func (l *location) CanonicalURL() string { return l.s.CanonicalURL() }

// Resource is the document.
func (l *location) Resource(ctx context.Context) (*blob, error) {
	return l.s.commit.blobAt(ctx, l.s.path)
}

// commitMatch is the type CommitSearchResult.
type commitMatch struct {
	repo  *repository
	m     *query.CommitMatch
	shown httpapi.CommitText
}

func newCommitMatch(r *repository, m *query.CommitMatch) *commitMatch {
	return &commitMatch{r, m, httpapi.NewCommitText(m, r.s.Now())}
}

func (c *commitMatch) URL() string        { return c.shown.URL }
func (c *commitMatch) Refs() []*ref       { return []*ref{} }
func (c *commitMatch) SourceRefs() []*ref { return []*ref{} }
func (c *commitMatch) Commit() *commit {
	return &commit{repo: c.repo, oid: c.m.OID}
}

func (c *commitMatch) highlights() []wire.Highlight {
	out := []wire.Highlight{}
	for _, h := range c.shown.Highlights {
		out = append(out, wire.Highlight{Line: wire.Int32(h[0]), Character: wire.Int32(h[1]), Length: wire.Int32(h[2])})
	}
	return out
}

// markdown returns a text that may be shown.
func (c *commitMatch) markdown(text, html string) (wire.Markdown, error) {
	return wire.Markdown{Text: text, HTML: html}, c.repo.s.ShowParts([]byte(text+html), 0)
}

// Label is a line with links.
func (c *commitMatch) Label() (wire.Markdown, error) {
	return c.markdown(c.shown.Label, c.shown.LabelHTML)
}

// Detail is a link with the date.
func (c *commitMatch) Detail() (wire.Markdown, error) {
	return c.markdown(c.shown.Detail, c.shown.DetailHTML)
}

// Matches is one: clients read the first.
func (c *commitMatch) Matches(ctx context.Context) ([]wire.Match, error) {
	body, err := c.markdown(c.shown.Body, c.shown.BodyHTML)
	if err == nil {
		err = c.repo.s.Reserve(ctx, len(c.shown.Highlights))
	}
	return []wire.Match{{URL: c.shown.URL, Body: body, Highlights: c.highlights()}}, err
}

// MessagePreview is null for a diff.
func (c *commitMatch) MessagePreview(ctx context.Context) (*wire.HighlightedString, error) {
	return c.preview(ctx, !c.m.IsDiff)
}

// DiffPreview is null for a message.
func (c *commitMatch) DiffPreview(ctx context.Context) (*wire.HighlightedString, error) {
	return c.preview(ctx, c.m.IsDiff)
}

func (c *commitMatch) preview(ctx context.Context, has bool) (*wire.HighlightedString, error) {
	if !has {
		return nil, nil
	}
	if err := c.repo.s.ShowParts([]byte(c.m.Body), 0); err != nil {
		return nil, err
	}
	return &wire.HighlightedString{Value: c.m.Body, Highlights: c.highlights()}, c.repo.s.Reserve(ctx, len(c.shown.Highlights))
}
