package search

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
)

// sentFiles remembers the files sent, for a search whose basic queries differ
// in limit or selection and so are run one after the other: a range that two
// of them find counts once. The nil value remembers nothing.
type sentFiles map[fileKey][]query.Range

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
		sent = append(sent, c.Ranges...)
	}
	s[keyOf(f)] = sent
}

// without returns f with the ranges that overlap none of sent; nil if there
// are none.
func without(f *query.FileMatch, sent []query.Range) *query.FileMatch {
	out := *f
	out.Chunks = nil
	for _, c := range f.Chunks {
		c.Ranges = slices.DeleteFunc(slices.Clone(c.Ranges), func(r query.Range) bool {
			return slices.ContainsFunc(sent, func(o query.Range) bool {
				return r.Start.Offset < o.End.Offset && o.Start.Offset < r.End.Offset
			})
		})
		if len(c.Ranges) > 0 {
			out.Chunks = append(out.Chunks, c)
		}
	}
	if len(out.Chunks) == 0 {
		return nil
	}
	return &out
}
