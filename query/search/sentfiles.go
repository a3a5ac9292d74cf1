package search

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
)

// sentFiles remembers the files sent, for a search whose basic queries differ
// in limit or selection and so are run one after the other: a range or symbol
// that two of them find counts once. The nil value remembers nothing.
type sentFiles map[fileKey]sentFile

// sentFile is what was sent of a file.
type sentFile struct {
	ranges  []query.Range
	symbols []query.Symbol
}

type fileKey struct {
	repo uint32
	rev  string
	path string
}

func keyOf(f *query.FileMatch) fileKey { return fileKey{f.Repo.ID, f.Rev, f.Path} }

// rest returns what of f was not sent before, or nil.
func (s sentFiles) rest(f *query.FileMatch) query.Match {
	sent, again := s[keyOf(f)]
	if !again {
		return f
	}
	if f = without(f, sent); f == nil {
		return nil
	}
	return f
}

// add remembers that m was sent.
func (s sentFiles) add(m query.Match) {
	f, ok := m.(*query.FileMatch)
	if s == nil || !ok {
		return
	}
	sent := s[keyOf(f)]
	for _, c := range f.Chunks {
		sent.ranges = append(sent.ranges, c.Ranges...)
	}
	sent.symbols = append(sent.symbols, f.Symbols...)
	s[keyOf(f)] = sent
}

// without returns f with the ranges that overlap none of sent and the symbols
// that are not among those; nil if there is nothing left.
func without(f *query.FileMatch, sent sentFile) *query.FileMatch {
	out := *f
	out.Chunks = nil
	out.Symbols = slices.DeleteFunc(slices.Clone(f.Symbols), func(s query.Symbol) bool { return slices.Contains(sent.symbols, s) })
	for _, c := range f.Chunks {
		c.Ranges = slices.DeleteFunc(slices.Clone(c.Ranges), func(r query.Range) bool {
			return slices.ContainsFunc(sent.ranges, func(o query.Range) bool {
				return r.Start.Offset < o.End.Offset && o.Start.Offset < r.End.Offset
			})
		})
		if len(c.Ranges) > 0 {
			out.Chunks = append(out.Chunks, c)
		}
	}
	if len(out.Chunks) == 0 && len(out.Symbols) == 0 {
		return nil
	}
	return &out
}
