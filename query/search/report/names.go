package report

import "github.com/trawlsearch/trawl/store"

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

// Len returns how many names there are.
func (s *NameSet) Len() int { return len(s.Names) }

// unready are repositories that were not searched. There may be very many that have
// no generation, whose names are looked up when they are told.
type unready struct {
	ids  store.IDs
	name func(id uint32) string
	// others have a generation.
	others NameSet
}

// len returns how many repositories there are.
func (u *unready) len() int { return u.ids.Len() + u.others.Len() }

// names returns up to most names.
func (u *unready) names(most int) (out []string) {
	for id := range u.ids.All() {
		if len(out) == most {
			return out
		}
		out = append(out, u.name(id))
	}
	return append(out, u.others.Names[:min(u.others.Len(), most-len(out))]...)
}
