package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
	"golang.org/x/sync/semaphore"
)

// aheadBytes is about how much of later versions is fetched with the runs of the next
// one.
const aheadBytes = 256 << 20

// lackingError is that of a version which needs runs that this node has not taken in.
type lackingError struct {
	version Version
	files   []shard.File
	// why is why the last attempt to fetch runs failed.
	why error
}

func (e *lackingError) Error() string {
	first := e.files[0]
	text := fmt.Sprintf("version %d needs %d runs that are not here, the %v of shard %d first", e.version, len(e.files), first.Part, first.Shard)
	if e.why != nil {
		text = fmt.Sprintf("%s: %v", text, e.why)
	}
	return text
}

// Unwrap returns why the runs are not here.
func (e *lackingError) Unwrap() error { return e.why }

// arrivals are the runs of other nodes that were taken in, or could not be, for headers
// that are yet to be applied. They are fetched while the order of versions is free.
type arrivals struct {
	// fetching is 1 while runs are fetched, so that none is taken in by two at once.
	fetching *semaphore.Weighted

	mu sync.Mutex // guards all below
	// there are the runs that were taken in, and into which engine: one that was opened
	// again may lack them.
	there map[shard.File]*database
	// absent are those whose objects are missing or damaged.
	absent map[shard.File]*object.DamagedError
	// why is the error of the last attempt.
	why error
	// ended is closed at the end of the present or next attempt.
	ended chan struct{}
}

func newArrivals() *arrivals {
	return &arrivals{fetching: semaphore.NewWeighted(1), there: map[shard.File]*database{}, absent: map[shard.File]*object.DamagedError{}, ended: make(chan struct{})}
}

// attempt returns a channel that is closed when an attempt to fetch runs ends, and why
// the last one failed.
func (r *arrivals) attempt() (ended <-chan struct{}, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.why
}

func (r *arrivals) end(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why = why
	close(r.ended)
	r.ended = make(chan struct{})
}

// nothingToFetch reports whether there is nothing to fetch of a run: it is in the engine, or
// has no sound object.
func (r *arrivals) nothingToFetch(f shard.File, in *database) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.there[f] == in || r.absent[f] != nil
}

// note says how a run arrived: why is nil, or that its object is missing or damaged.
func (r *arrivals) note(f shard.File, in *database, why *object.DamagedError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why == nil {
		r.there[f] = in
	} else {
		r.absent[f] = why
	}
}

// missing returns what is wrong with the object of one of the runs, or nil.
func (r *arrivals) missing(files []shard.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range files {
		if why := r.absent[f]; why != nil {
			return why
		}
	}
	return nil
}

// haveSymbols reports whether symbols of a shard were taken in ahead of its header.
func (r *arrivals) haveSymbols(id uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for f := range r.there {
		if f.Shard == id && f.Part == shard.PartSymbols {
			return true
		}
	}
	return false
}

// applied forgets the runs whose headers were.
func (r *arrivals) applied(ops []operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, op := range ops {
		op, ok := op.(headerOperation)
		if !ok {
			continue
		}
		forget := func(f shard.File) {
			delete(r.there, f)
			delete(r.absent, f)
		}
		if op.header != nil {
			for _, f := range op.header.Files() {
				forget(f)
			}
			continue
		}
		for f := range r.there {
			if f.Shard == op.shard {
				forget(f)
			}
		}
		for f := range r.absent {
			if f.Shard == op.shard {
				forget(f)
			}
		}
	}
}

// filled forgets all runs, as those that are needed are in the catalogue, and returns
// what deletes the others.
func (r *arrivals) filled(c *catalogue) (ops []operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := map[uint32]bool{}
	for f := range r.there {
		if c.shard(f.Shard) == nil && !gone[f.Shard] {
			gone[f.Shard] = true
			ops = append(ops, headerOperation{shard: f.Shard})
		}
	}
	clear(r.there)
	clear(r.absent)
	return ops
}

// arrive takes in runs ahead of their headers. One whose object is missing or damaged
// is noted, and is no error: its shard is quarantined.
func (x *exchange) arrive(ctx context.Context, wanted []shard.File) (err error) {
	if err := x.arrivals.fetching.Acquire(ctx, 1); err != nil {
		return err
	}
	defer x.arrivals.fetching.Release(1)
	defer func() { x.arrivals.end(err) }()
	_, in := x.s.committer.current()
	var lacked []shard.File
	for _, f := range wanted {
		// It may have arrived, and its header been applied, while this waited for its turn.
		if !x.arrivals.nothingToFetch(f, in) && !x.has(f) {
			lacked = append(lacked, f)
		}
	}
	if len(lacked) == 0 {
		return nil
	}
	to := x.s.destination
	err = x.runs.Fetch(ctx, lacked, func(ctx context.Context, f shard.File, fill func(io.Writer) error) error {
		err := to.Import(ctx, f, fill)
		why := (*object.DamagedError)(nil)
		if errors.As(err, &why) {
			err = nil
		}
		if err == nil {
			x.arrivals.note(f, in, why)
		}
		return err
	})
	return err
}

// has reports whether a header that is applied has the run.
func (x *exchange) has(f shard.File) bool {
	c, _ := x.s.committer.current()
	sh := c.shard(f.Shard)
	return sh != nil && slices.Contains(sh.Header.Files(), f)
}
