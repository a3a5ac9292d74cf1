package store

import "time"

// Sharing is how a node gets along with what it shares with others.
type Sharing struct {
	Version Version
	// Confirmed is that of Store.
	Confirmed time.Time
	// Waiting is why the next version cannot be shown, "" if nothing is wrong.
	Waiting string
	// Fetching counts the quarantined shards that are fetched again, Hopeless those that
	// cannot be: neither this store of objects nor another node has had them. Mended
	// counts the shards that were, since the store was opened.
	Fetching, Hopeless int
	Mended             int64
}

// Sharing reports ok only for a store that shares a log.
func (s *Store) Sharing() (out Sharing, ok bool) {
	a, ok := s.authority.(*sharedAuthority)
	if !ok {
		return Sharing{}, false
	}
	out = Sharing{Version: Version(a.at()), Confirmed: *a.confirmed.Load()}
	if _, why := a.arrivals.attempt(); why != nil {
		out.Waiting = why.Error()
	}
	r := a.refetch
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Mended = r.mended
	for _, f := range r.shards {
		if f.hopeless() {
			out.Hopeless++
		} else {
			out.Fetching++
		}
	}
	return out, true
}
