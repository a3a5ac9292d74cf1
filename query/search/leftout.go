package search

import "slices"

// LeftOut returns the names of repositories that were not searched, or not all
// of them: not yet indexed, without a readable source, and out of time.
func (r *Results) LeftOut() (cloning, missing, timedOut []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &r.left
	return slices.Concat(l.cloning.names, l.indexing.names), append([]string(nil), l.missing.names...), append([]string(nil), l.timedOut.names...)
}

// LimitHit reports whether a limit ended or narrowed the search.
func (r *Results) LimitHit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hitLimit
}
