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

// Budget bounds what git's processes take of memory together. Each has a bound
// of its own, which a few ordinary ones come near; several for repositories that
// were made to take as much as they can would together take several times that.
// To reserve each bound beforehand would let one process run at a time, where
// nearly all take some megabytes. So what they really take is looked at:
//
//   - Above half of the budget a process that may need much is not started. Its
//     caller waits for a bounded time, and is then told ErrBusy. Since the wait is
//     bounded, and for no particular process, it may hold others meanwhile.
//   - Above seven eighths the one that takes most is ended with ErrBusy. What
//     remains is for how much they take between two looks.
//
// As much as a repository has on disk does not count, as it does not for a
// process's own bound: git needs some memory for each object that there is.
//
// Questions with a short answer never wait. A nil Budget is no bound. It is safe
// for concurrent use.
type Budget struct {
	*pool
	// patience is how long a caller waits for room.
	patience time.Duration
}

// NewBudget returns a budget of so many bytes, in which callers do not wait. It
// has to be larger than the bound of one process: LeastBudget.
func NewBudget(bytes int64) *Budget {
	return &Budget{pool: &pool{most: max(bytes, LeastBudget), members: map[*member]bool{}, changed: make(chan struct{})}}
}

// LeastBudget is the smallest budget in which a process may take as much as it
// may by itself, in bytes.
const LeastBudget = childBytes * 6 / 5

// Patient returns the same budget for callers who wait so long.
func (b *Budget) Patient(d time.Duration) *Budget { return &Budget{b.pool, d} }

// lookEvery is the time between two looks: in 10 ms a process that fills memory
// takes some 5 MiB on a machine that is busy with it.
const lookEvery = 10 * time.Millisecond

// pool is what all callers share.
type pool struct {
	most int64
	// confined has the time at which repositories of other users were looked
	// through, by their folders.
	confined sync.Map

	mu sync.Mutex // guards all below
	// members are the processes at work; true is one that was ended.
	members map[*member]bool
	// used is what they took when they were last looked at.
	used int64
	// changed is closed and made anew when there may be room again.
	changed chan struct{}
	// stop ends the goroutine that looks, which runs while there are members;
	// stopped is closed when it has ended.
	stop, stopped chan struct{}
}

// member is a process at work.
type member struct {
	// taken is what it takes in bytes, without what does not count.
	taken func() int64
	// end ends it for a reason.
	end func(error)
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
		changed, full := b.changed, b.used > b.most/2
		b.mu.Unlock()
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
		p.set(0)
	}
	p.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}

// set notes what is taken. The lock is held.
func (p *pool) set(used int64) {
	p.used = used
	if used <= p.most/2 {
		close(p.changed)
		p.changed = make(chan struct{})
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

// judge ends the process that takes most if all take too much. One that was
// ended before may take a moment to go: until then it keeps others from being
// started, and no longer has others ended.
func (p *pool) judge(stop <-chan struct{}) {
	p.mu.Lock()
	at := maps.Clone(p.members)
	p.mu.Unlock()
	sum, going, most := int64(0), int64(0), int64(0)
	var largest *member
	for m, ended := range at {
		n := m.taken()
		if ended {
			going += n
			continue
		}
		if sum += n; n > most {
			most, largest = n, m
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-stop:
		return // others may have begun, and are looked at by another
	default:
	}
	p.set(sum + going)
	if sum <= p.most-p.most/8 {
		return
	}
	if _, here := p.members[largest]; here {
		p.members[largest] = true
		largest.end(fmt.Errorf("%w: its processes took %d MiB together, more than they may, and the one for this repository most; try again later", ErrBusy, sum>>20))
	}
}
