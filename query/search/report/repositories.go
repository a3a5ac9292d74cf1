package report

import (
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// NameSet keeps names of repositories once each, in the order they came.
type NameSet struct {
	Names []string
	known map[string]struct{}
}

// Add adds names that are not in the set.
func (s *NameSet) Add(names []string) {
	if s.known == nil {
		s.known = map[string]struct{}{}
	}
	for _, n := range names {
		if _, ok := s.known[n]; !ok {
			s.known[n] = struct{}{}
			s.Names = append(s.Names, n)
		}
	}
}

// Has reports whether a name is in the set.
func (s *NameSet) Has(name string) bool {
	_, ok := s.known[name]
	return ok
}

// Len returns how many names there are.
func (s *NameSet) Len() int { return len(s.Names) }

// repositories are those that were skipped for one reason. There may be very many that
// have no generation, whose names are looked up when they are shown.
type repositories struct {
	// word and state say what is the matter with them, in a title and in a sentence.
	word, state string
	ids         store.IDs
	name        func(id uint32) string
	// others have a generation.
	others NameSet
}

// join adds repositories that were skipped for the same reason.
func (r *repositories) join(more *repositories) {
	if more.name != nil {
		r.ids.Join(&more.ids)
		r.name = more.name
	}
	r.others.Add(more.others.Names)
}

// len returns how many repositories there are.
func (r *repositories) len() int { return r.ids.Len() + r.others.Len() }

// names returns up to most names.
func (r *repositories) names(most int) (out []string) {
	for id := range r.ids.All() {
		if len(out) == most {
			return out
		}
		out = append(out, r.name(id))
	}
	return append(out, r.others.Names[:min(r.others.Len(), most-len(out))]...)
}

// entry returns e with how many there are and which.
func (r *repositories) entry(e query.Skipped) query.Skipped {
	var msg strings.Builder
	n, names := r.len(), r.names(MaxNamed)
	if n == 1 {
		fmt.Fprintf(&msg, "`%s` was %s.", names[0], r.state)
	} else {
		fmt.Fprintf(&msg, "%s repositories were %s.", formatCount(n), r.state)
	}
	msg.WriteString(" Search again, or narrow the query with `repo:` or another filter.")
	if n > 1 {
		msg.WriteString(listNames(names, n))
	}
	e.Title, e.Message = formatCount(n)+" "+r.word, msg.String()
	return e
}
