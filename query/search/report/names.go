package report

// NameSet keeps repository names once each, in the order they came.
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
