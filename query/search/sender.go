package search

import (
	"path"

	"github.com/trawlsearch/trawl/query"
)

// sender counts matches against the limits and sends them on. It belongs to
// one goroutine.
type sender struct {
	sink    Sink
	results *Results
	// left is what the whole search may still count, leftHere what the basic
	// queries at hand may, display what may still be sent.
	left, leftHere, display int
	sel                     []string
	// seen are the keys of converted matches already sent.
	seen map[string]bool
	// earlier, if not nil, holds the files that were sent.
	earlier sentFiles
	sent    int
	// err is what the sink said; after it nothing more is sent.
	err error
}

func newSender(sink Sink, o Options, limit int) *sender {
	s := &sender{sink: sink, results: o.Results, left: limit, display: o.Display, seen: map[string]bool{}}
	if s.display < 0 || s.display > limit {
		s.display = limit
	}
	return s
}

// begin sets the limit and the selection of the basic queries that follow.
func (s *sender) begin(b *basic) { s.leftHere, s.sel = min(b.limit, s.left), b.sel }

// full reports whether the search may stop: its limit is used up.
func (s *sender) full() bool { return s.left == 0 }

// fullHere reports whether the basic queries at hand may stop.
func (s *sender) fullHere() bool { return s.leftHere == 0 }

// batchSize is how many matches go to the sink at once.
const batchSize = 64

// send converts, limits, counts and sends matches in order.
func (s *sender) send(matches []query.Match) error {
	if s.err != nil {
		return s.err
	}
	var counted, shown []query.Match
	for _, m := range matches {
		if s.leftHere == 0 {
			break
		}
		if m = s.convert(m); m == nil {
			continue
		}
		m = query.Truncate(m, s.leftHere)
		s.earlier.add(m)
		n := m.Count()
		s.left -= n
		s.leftHere -= n
		counted = append(counted, m)
		if s.display > 0 {
			m = query.Truncate(m, s.display)
			s.display -= m.Count()
			shown = append(shown, m)
		}
	}
	s.results.Add(counted)
	if s.leftHere == 0 {
		s.results.HitLimit()
	}
	s.sent += len(counted)
	for len(shown) > 0 {
		n := min(batchSize, len(shown))
		if err := s.sink.Send(shown[:n:n]); err != nil {
			s.err = err
			return err
		}
		shown = shown[n:]
	}
	return nil
}

// convert applies select:, and returns nil for what it drops or what was sent
// before.
func (s *sender) convert(m query.Match) query.Match {
	f, isFile := m.(*query.FileMatch)
	if !isFile && (len(s.sel) == 0 || s.sel[0] == "repo") {
		return s.once(nameKey(m), m)
	}
	if len(s.sel) == 0 {
		return s.earlier.rest(f)
	}
	switch s.sel[0] {
	case "repo":
		return s.once(f.Repo.Name, &query.RepoMatch{Repo: f.Repo})
	case "file":
		if !isFile || len(s.sel) > 1 && s.sel[1] == "owners" {
			return nil
		}
		out := *f
		out.Chunks, out.Symbols = nil, nil
		if len(s.sel) > 1 && s.sel[1] == "directory" {
			out.Path, out.PathRanges, out.Language = path.Dir(f.Path)+"/", nil, ""
		}
		return s.once(f.Repo.Name+"\x00"+f.Rev+"\x00"+out.Path, &out)
	case "content":
		if !isFile || len(f.Chunks) == 0 {
			return nil
		}
		out := *f
		out.PathRanges, out.Symbols = nil, nil
		return s.earlier.rest(&out)
	case "symbol":
		if !isFile || len(f.Symbols) == 0 {
			return nil
		}
		if f = selectSymbols(f, s.sel); f == nil {
			return nil
		}
		return s.earlier.rest(f)
	}
	return nil
}

// nameKey is what makes two repositories the same result.
func nameKey(m query.Match) string {
	if r, ok := m.(*query.RepoMatch); ok && r.HasRev {
		return r.Repo.Name + "\x00" + r.Rev
	}
	return m.In().Name
}

func (s *sender) once(key string, m query.Match) query.Match {
	if s.seen[key] {
		return nil
	}
	s.seen[key] = true
	return m
}
