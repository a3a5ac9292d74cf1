package answer

import (
	"hash/maphash"
	"slices"

	"github.com/trawlsearch/trawl/query"
)

// sent remembers the files and commits sent, for a search whose basic queries
// differ in limit or selection and so are run one after the other: a result of two of
// them counts once. A nil sent remembers nothing.
type sent struct {
	files   map[fileKey]sentFile
	commits map[commitKey][]query.Range
	seed    maphash.Seed
}

func newSent() *sent {
	return &sent{files: map[fileKey]sentFile{}, commits: map[commitKey][]query.Range{}, seed: maphash.MakeSeed()}
}

// sentFile has the ranges and symbols of a file that were sent.
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

// commitKey is the key of a result of a commit: two queries may show different lines
// of its diff. body is a hash.
type commitKey struct {
	repo   uint32
	oid    string
	isDiff bool
	body   uint64
}

func (s *sent) commitKey(m *query.CommitMatch) commitKey {
	return commitKey{m.Repo.ID, m.OID, m.IsDiff, maphash.String(s.seed, m.Body)}
}

// appendRest appends the parts of f that were not sent before, if any.
func (s *sent) appendRest(dst []query.Match, f *query.FileMatch) []query.Match {
	if s == nil {
		return append(dst, f)
	}
	if before, again := s.files[keyOf(f)]; again {
		f = without(f, before)
	}
	if f == nil {
		return dst
	}
	return append(dst, f)
}

// appendRestOfCommit appends the parts of m that were not sent before, if any.
func (s *sent) appendRestOfCommit(dst []query.Match, m *query.CommitMatch) []query.Match {
	if s == nil {
		return append(dst, m)
	}
	before, again := s.commits[s.commitKey(m)]
	if !again {
		return append(dst, m)
	}
	rest := *m
	rest.Ranges, rest.Hidden = withoutRanges(m.Ranges, before), 0
	if len(rest.Ranges) == 0 {
		return dst
	}
	return append(dst, &rest)
}

// add remembers that m was sent.
func (s *sent) add(m query.Match) {
	if s == nil {
		return
	}
	switch m := m.(type) {
	case *query.FileMatch:
		f := s.files[keyOf(m)]
		for _, c := range m.Chunks {
			f.ranges = append(f.ranges, c.Ranges...)
		}
		f.symbols = append(f.symbols, m.Symbols...)
		s.files[keyOf(m)] = f
	case *query.CommitMatch:
		key := s.commitKey(m)
		s.commits[key] = append(s.commits[key], m.Ranges...)
	}
}

// without returns f with the ranges that overlap none of before and the symbols
// that are not among those; nil if there is nothing left.
func without(f *query.FileMatch, before sentFile) *query.FileMatch {
	out := *f
	out.Chunks = nil
	out.Symbols = slices.DeleteFunc(slices.Clone(f.Symbols), func(s query.Symbol) bool { return slices.Contains(before.symbols, s) })
	for _, c := range f.Chunks {
		c.Ranges = withoutRanges(c.Ranges, before.ranges)
		if len(c.Ranges) > 0 {
			out.Chunks = append(out.Chunks, c)
		}
	}
	if len(out.Chunks) == 0 && len(out.Symbols) == 0 {
		return nil
	}
	return &out
}

// withoutRanges returns the ranges that overlap none of before.
func withoutRanges(ranges, before []query.Range) []query.Range {
	return slices.DeleteFunc(slices.Clone(ranges), func(r query.Range) bool {
		return slices.ContainsFunc(before, func(o query.Range) bool {
			return r.Start.Offset < o.End.Offset && o.Start.Offset < r.End.Offset
		})
	})
}
