package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// ErrBusy says that git's processes took all the memory that they may have
// together, so that one was not started or was ended. Nothing is wrong with the
// repository: what was asked for may be asked for again.
var ErrBusy = errors.New("git is busy")

// Budget bounds the memory of all of git's processes together. Each has a bound
// of its own, which a few ordinary ones come near; several processes for
// hostile repositories would together take several times that. Reserving each
// bound beforehand would let one process run at a time, although nearly all
// take some megabytes. So the memory that they really take is watched:
//
//   - Above half of the budget a process that may need much is not started. Its
//     caller waits for a bounded time, and then gets ErrBusy. Since the wait is
//     bounded, and for no particular process, it may hold others meanwhile.
//   - Above seven eighths the one that takes most is ended with ErrBusy. What
//     remains is for how much they take between two looks.
//
// Syncs come first, since no client can ask for them again. The memory of
// requests is not counted against the budget of syncs, which ForSyncs returns.
// So no request keeps a sync waiting or ends it; the processes of requests end
// instead.
//
// A process of a request ends, too, when its output is not read for
// takenWithin.
//
// Memory up to the size of the repository on disk does not count, nor does it
// for a process's own bound: git needs some memory for each object.
//
// Questions with a short answer never wait. A nil Budget is no bound. It is safe
// for concurrent use.
type Budget struct {
	*pool
	// patience is how long a caller waits for room.
	patience time.Duration
	// syncs says that the processes are those of syncs.
	syncs bool
	// behind says that the processes leave processors to others.
	behind bool
	// takenWithin is how long the output of a request's process may lie there.
	takenWithin time.Duration
}

// takenWithin is the default of the time to read output: most output is
// processed at once, and only output that is streamed to a client may take
// longer.
const takenWithin = 30 * time.Second

var errUntaken = fmt.Errorf("%w: nothing took the output of a process for too long", ErrBusy)

// NewBudget returns a budget of so many bytes, in which callers do not wait. It
// has to be larger than the bound of one process: LeastBudget.
func NewBudget(bytes int64) *Budget {
	p := &pool{most: max(bytes, LeastBudget), members: map[*member]bool{}, changed: make(chan struct{}), changedForSyncs: make(chan struct{})}
	return &Budget{pool: p, takenWithin: takenWithin}
}

// LeastBudget is the smallest budget in which a process may take as much as it
// may by itself, in bytes.
const LeastBudget = childBytes * 6 / 5

// Patient returns the same budget for callers that wait up to a time of their
// own.
func (b *Budget) Patient(d time.Duration) *Budget {
	out := *b
	out.patience = d
	return &out
}

// ForSyncs returns the same budget for processes of syncs.
func (b *Budget) ForSyncs() *Budget {
	out := *b
	out.syncs = true
	return &out
}

// Behind returns the same budget for processes that leave processors to others:
// those of searches, where a search of diffs runs hundreds and a page runs a few and
// is over, and those of syncs beside searches.
func (b *Budget) Behind() *Budget {
	out := *b
	out.behind = true
	return &out
}

// untaken is how long the output of a process may lie there, 0 for ever.
func (b *Budget) untaken() time.Duration {
	if b == nil || b.syncs {
		return 0
	}
	return b.takenWithin
}

// lookEvery is the time between two looks: in 10 ms a process that fills memory
// takes some 5 MiB on a machine that is busy with it.
const lookEvery = 10 * time.Millisecond

// pool is what all callers share.
type pool struct {
	most int64
	// confined has the time at which repositories of other users were looked
	// through, by their folders.
	confined sync.Map
	// buffers has those of children that have ended, as *bufio.Reader.
	buffers sync.Pool

	mu sync.Mutex // guards all below
	// members are the processes at work; true is one that was ended.
	members map[*member]bool
	// used is their memory at the last look, usedBySyncs the part of syncs.
	used, usedBySyncs int64
	// changed is closed and made anew when there may be room again for requests,
	// changedForSyncs when there may be for syncs.
	changed, changedForSyncs chan struct{}
	// stop ends the goroutine that looks, which runs while there are members;
	// stopped is closed when it has ended.
	stop, stopped chan struct{}
}

// member is a process at work.
type member struct {
	// taken is its memory in bytes, without the part that does not count.
	taken func() int64
	// end ends it for a reason.
	end func(error)
	// syncs says that it is one of a sync.
	syncs bool
}

// wait waits until one more may be started.
func (b *Budget) wait(ctx context.Context) error {
	if b == nil {
		return nil
	}
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	for {
		b.mu.Lock()
		changed, used := b.changed, b.used
		if b.syncs {
			changed, used = b.changedForSyncs, b.usedBySyncs
		}
		b.mu.Unlock()
		full := used > b.most/2
		if !full {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return fmt.Errorf("%w: its processes take more than half of the %d MiB that they may have together; try again later", ErrBusy, b.most>>20)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter counts a process that has been started, until leave is called.
func (b *Budget) enter(m *member) (leave func()) {
	if b == nil {
		return func() {}
	}
	m.syncs = b.syncs
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members[m] = false
	if len(b.members) == 1 {
		b.stop, b.stopped = make(chan struct{}), make(chan struct{})
		go b.look(b.stop, b.stopped)
	}
	return func() { b.leave(m) }
}

func (p *pool) leave(m *member) {
	p.mu.Lock()
	delete(p.members, m)
	var stopped chan struct{}
	if len(p.members) == 0 {
		close(p.stop)
		stopped = p.stopped
		p.set(0, 0)
	}
	p.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}

// set notes what is taken. The lock is held.
func (p *pool) set(used, bySyncs int64) {
	p.used, p.usedBySyncs = used, bySyncs
	if used <= p.most/2 {
		close(p.changed)
		p.changed = make(chan struct{})
	}
	if bySyncs <= p.most/2 {
		close(p.changedForSyncs)
		p.changedForSyncs = make(chan struct{})
	}
}

// look looks at the processes again and again.
func (p *pool) look(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			p.judge(stop)
		}
	}
}

// share is the memory of a part of the processes.
type share struct {
	// at is what those take that go on, going what those still take that were
	// ended.
	at, going int64
	largest   *member // nil for none
	most      int64
}

func (u *share) add(m *member, bytes int64, ended bool) {
	if ended {
		u.going += bytes
		return
	}
	if u.at += bytes; bytes > u.most {
		u.most, u.largest = bytes, m
	}
}

// judge ends the process that takes most if all take too much: one of a request
// as long as those of syncs do not take too much by themselves. A process may
// take a moment to end. Until then no other is started, but none is ended for
// it either.
func (p *pool) judge(stop <-chan struct{}) {
	p.mu.Lock()
	at := maps.Clone(p.members)
	p.mu.Unlock()
	var requests, syncs share
	for m, ended := range at {
		u := &requests
		if m.syncs {
			u = &syncs
		}
		u.add(m, m.taken(), ended)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-stop:
		return // others may have begun, and are looked at by another
	default:
	}
	bySyncs := syncs.at + syncs.going
	p.set(requests.at+requests.going+bySyncs, bySyncs)
	allowed, sum := p.most-p.most/8, requests.at+syncs.at
	if sum <= allowed {
		return
	}
	largest := requests.largest
	if syncs.at > allowed {
		largest = syncs.largest
	}
	if _, here := p.members[largest]; here {
		p.members[largest] = true
		largest.end(fmt.Errorf("%w: its processes took %d MiB together, more than they may, and the one for this repository most; try again later", ErrBusy, sum>>20))
	}
}
