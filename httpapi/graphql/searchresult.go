package graphql

import (
	"context"

	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
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
func (r *searchResult) ToRepository() (*gitobject.Repository, bool) {
	m, ok := r.result.(*gitobject.Repository)
	return m, ok
}

// fileMatch is the type FileMatch.
type fileMatch struct {
	s    *session
	repo *gitobject.Repository
	m    *query.FileMatch
}

func (f *fileMatch) Repository() *gitobject.Repository { return f.repo }
func (f *fileMatch) LimitHit() bool                    { return false }

func (f *fileMatch) commit() *gitobject.Commit {
	return gitobject.NewCommit(f.repo, f.m.Commit, f.m.Rev)
}

// File is looked for in the index first, so that the contents of many results
// cost no git. A directory that select: made is a file without content.
func (f *fileMatch) File(ctx context.Context) (*gitobject.Blob, error) {
	return f.commit().BlobAt(ctx, f.m.Path)
}

// RevSpec is what stands behind the at sign.
func (f *fileMatch) RevSpec() *gitobject.RevSpec {
	if f.m.Rev == "" {
		return nil
	}
	return gitobject.NewRevSpec(f.commit())
}

// Languages is at most one.
func (f *fileMatch) Languages() []string {
	if f.m.Language == "" {
		return []string{}
	}
	return []string{f.m.Language}
}

// Symbols are those that matched.
func (f *fileMatch) Symbols(ctx context.Context) ([]*gitobject.Symbol, error) {
	return gitobject.NewSymbols(f.repo, f.m), f.s.Reserve(ctx, len(f.m.Symbols))
}

// LineMatches are those of a stream without chunks.
func (f *fileMatch) LineMatches(ctx context.Context) ([]lineMatch, error) {
	if f.s.Full() {
		return nil, f.s.FieldsError()
	}
	out := []lineMatch{}
	lines := event.Lines(f.m.Chunks)
	if err := f.s.Reserve(ctx, len(lines)); err != nil {
		return nil, err
	}
	for _, l := range lines {
		if err := f.s.ShowParts(l.Text, len(l.Pieces)); err != nil {
			return nil, err
		}
		m := lineMatch{Preview: gitobject.Valid(l.Text), LineNumber: wire.Int32(l.Number), OffsetAndLengths: [][]int32{}}
		for _, p := range l.Pieces {
			m.OffsetAndLengths = append(m.OffsetAndLengths, []int32{wire.Int32(p.Column), wire.Int32(p.Runes)})
		}
		out = append(out, m)
	}
	return out, nil
}

// ChunkMatches are those of a stream with chunks.
func (f *fileMatch) ChunkMatches(ctx context.Context) ([]chunkMatch, error) {
	out := []chunkMatch{}
	s, places := f.s, 0
	for _, c := range f.m.Chunks {
		if err := s.ShowParts(c.Content, len(c.Ranges)); err != nil {
			return nil, err
		}
		places += 1 + len(c.Ranges)
		out = append(out, chunkMatch{gitobject.Valid(c.Content), gitobject.NewPosition(c.Start), gitobject.NewPlaces(c.Ranges)})
	}
	return out, s.Reserve(ctx, places)
}

// PathMatches are places in the path.
func (f *fileMatch) PathMatches() []*gitobject.Place { return gitobject.NewPlaces(f.m.PathRanges) }

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
	ContentStart gitobject.Position
	Ranges       []*gitobject.Place
}
