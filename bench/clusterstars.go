package bench

import "fmt"

// clusterStars are the stars that a repository was given: 1 by the first change, and
// one more by each that follows. One client at a time changes a repository.
type clusterStars struct {
	writes []starsWrite
	// unsure is whether the last change had no answer: it may be made later, and what
	// follows it could be overtaken. late is whether that may be so for long.
	unsure, late bool
}

// starsWrite is a change of stars: when it was asked for and when acknowledged, by the
// clock of the history; 0 is never.
type starsWrite struct{ asked, acknowledged int64 }

// starsBetween are the stars that are right once all is quiet: any from those that
// were acknowledged last to those that were asked for last.
type starsBetween struct{ acknowledged, tried int }

func (s *clusterStars) between() starsBetween {
	out := starsBetween{tried: len(s.writes)}
	for i, w := range s.writes {
		if w.acknowledged > 0 {
			out.acknowledged = i + 1
		}
	}
	return out
}

// askStars returns the next stars of a repository, which the caller asks for now; 0
// if the outcome of the last change is unknown.
func (h *clusterHistory) askStars(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stars[name]
	if s == nil {
		s = &clusterStars{}
		h.stars[name] = s
	}
	if s.unsure {
		return 0
	}
	h.clock++
	s.writes = append(s.writes, starsWrite{asked: h.clock})
	return len(s.writes)
}

// starred notes what became of the change that was asked for last. A late one had no
// answer in all the time that there was, and may still be under way.
func (h *clusterHistory) starred(name string, err error, late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stars[name]
	if s.unsure = !h.note(err); s.unsure {
		s.late = late
		return
	}
	h.clock++
	s.writes[len(s.writes)-1].acknowledged = h.clock
}

// settle says that nothing is under way any more: what had no answer was made, or
// never will be.
func (h *clusterHistory) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.stars {
		s.unsure = s.unsure && s.late
	}
}

// disorder returns what the stars that a node showed at one moment contradict: a change
// is not there without those that were acknowledged before it was asked for.
func (h *clusterHistory) disorder(shown map[string]int) (wrong []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var last int64
	var with string
	for name, stars := range shown {
		s := h.stars[name]
		if s == nil || stars < 1 || stars > len(s.writes) {
			continue
		}
		if asked := s.writes[stars-1].asked; asked > last {
			last, with = asked, name
		}
	}
	for _, name := range sortedKeys(h.stars) {
		stars := 0
		for i, w := range h.stars[name].writes {
			if w.acknowledged > 0 && w.acknowledged < last {
				stars = i + 1
			}
		}
		if shown[name] < stars {
			wrong = append(wrong, fmt.Sprintf("%s has %d stars, but %d were acknowledged before the %d of %s were asked for", name, shown[name], stars, shown[with], with))
		}
	}
	return wrong
}
