package store

import "sync"

// room bounds what readers together hold of documents that are read whole and
// are large: a search of all text by two workers may have two files of 32 MiB
// in hand, and sixteen searches at once had half a gigabyte. Those who would
// hold too much wait, first come first, for others to be done with theirs. One
// who wants more than there is gets all of it.
type room struct {
	most int64

	mu   sync.Mutex // guards all below
	held int64
	line []*waiter
}

// waiter is one who waits for bytes; ready is closed when they are his.
type waiter struct {
	bytes int64
	ready chan struct{}
}

// share is what somebody who wants so many bytes is counted for.
func (r *room) share(bytes int64) int64 { return min(bytes, r.most) }

// take waits for room for so many bytes, by means of idle if that is not nil. It
// reports false, and takes nothing, when done is closed before there is room.
func (r *room) take(bytes int64, done <-chan struct{}, idle func(wait func())) bool {
	bytes = r.share(bytes)
	r.mu.Lock()
	if len(r.line) == 0 && r.held+bytes <= r.most {
		r.held += bytes
		r.mu.Unlock()
		return true
	}
	w := &waiter{bytes, make(chan struct{})}
	r.line = append(r.line, w)
	r.mu.Unlock()
	granted := false
	wait := func() {
		select {
		case <-w.ready:
			granted = true
		case <-done:
			r.leave(w)
		}
	}
	if idle == nil {
		wait()
	} else {
		idle(wait)
	}
	return granted
}

// leave takes w out of the line, or gives back what it was given meanwhile.
func (r *room) leave(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.line {
		if other == w {
			r.line = append(r.line[:i:i], r.line[i+1:]...)
			r.admit() // w may have stood before smaller ones
			return
		}
	}
	r.held -= w.bytes
	r.admit()
}

// give ends a take of so many bytes.
func (r *room) give(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= r.share(bytes)
	r.admit()
}

// admit lets in who fits. The lock is held.
func (r *room) admit() {
	for len(r.line) > 0 && r.held+r.line[0].bytes <= r.most {
		w := r.line[0]
		r.line = r.line[1:]
		r.held += w.bytes
		close(w.ready)
	}
}

// holding returns how many bytes are taken.
func (r *room) holding() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}
