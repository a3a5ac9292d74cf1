package service

import (
	"container/heap"
	"container/list"
	"slices"
	"time"
)

const (
	// remotesAtOnce is how many remotes are synced at once, which is to say fetched,
	// and remotesOfHost how many of one host. A slow remote keeps few others
	// waiting, and no local repository.
	remotesAtOnce = 3
	remotesOfHost = 2
	// remotesAsked is how many more remotes are that were asked for and are indexed:
	// a user pushed to them, and a listing of thousands of new repositories, which
	// take long, must not keep that waiting.
	remotesAsked = 1
	// localsAtOnce is how many repositories of this machine are. Most of them wait:
	// to be read, or for the group that they are written in.
	localsAtOnce = 256
)

// visit is the next sync of a repository.
type visit struct {
	name string
	// id is that of the repository. elsewhere says that another node synced it when it
	// was due last.
	id        uint32
	elsewhere bool
	// host is that of a remote, "" for a repository of this machine.
	host string
	// due is when it is to begin, index its place among agenda.waiting, -1 if it is
	// not there.
	due   time.Time
	index int
	// in is the queue that it is in, nil for none, element its place among those of its
	// host there, and came its place among all.
	in      *visitQueue
	came    uint64
	element *list.Element
	// changed is when the repository was last seen to have changed.
	changed time.Time
	// failures counts the last syncs, if they failed. retried says that it was
	// begun again since git was busy.
	failures int
	retried  bool
}

// agenda orders the syncs of repositories: first those that users asked for, and of these
// those that are indexed, then those that are due, by their time, and last, one by one,
// those for which git had no memory beside others. No repository is synced twice at once.
// Of ten thousand that are due the next one is found without looking at the others.
type agenda struct {
	// visits are those of all known repositories, by name.
	visits map[string]*visit
	// waiting are those that are not due.
	waiting visitHeap
	// pushed are those that were asked for and are indexed, asked those that are new,
	// ready those that are due, busy those for which git was.
	pushed, asked, ready visitQueue
	busy                 []*visit
	atWork               map[string]*visit
	// remotes and locals count those at work, hosts the remotes by host.
	remotes, locals int
	hosts           map[string]int
}

// learn has a repository synced when it is due, if it is not known.
func (a *agenda) learn(name, host string, changed, due time.Time) *visit {
	if v := a.visits[name]; v != nil {
		return v
	}
	if a.visits == nil {
		a.visits, a.atWork, a.hosts = map[string]*visit{}, map[string]*visit{}, map[string]int{}
	}
	v := &visit{name: name, host: host, changed: changed, index: -1}
	a.visits[name] = v
	a.wait(v, due)
	return v
}

// forget drops a repository. A sync of it that is at work goes on.
func (a *agenda) forget(name string) {
	if v := a.visits[name]; v != nil {
		delete(a.visits, name)
		a.leave(v)
	}
}

// wait has a visit begin at a time.
func (a *agenda) wait(v *visit, due time.Time) {
	a.leave(v)
	v.due = due
	heap.Push(&a.waiting, v)
}

// again has a visit that is over begin at a time, if it was not asked for since.
func (a *agenda) again(v *visit, due time.Time) {
	if v.isAsked(a) {
		a.ask(v) // it may be indexed by now
		return
	}
	a.wait(v, due)
}

// isAsked reports whether a visit was asked for and has not begun since.
func (v *visit) isAsked(a *agenda) bool {
	return v.in != nil && (v.in == &a.pushed || v.in == &a.asked)
}

// leave takes a visit out of all lists.
func (a *agenda) leave(v *visit) {
	switch {
	case v.index >= 0:
		heap.Remove(&a.waiting, v.index)
	case v.in != nil:
		v.in.remove(v)
	default:
		a.busy = slices.DeleteFunc(a.busy, func(o *visit) bool { return o == v })
	}
}

// drop forgets what would be begun now.
func (a *agenda) drop(now time.Time) {
	a.promote(now)
	a.ready.clear()
	a.busy = nil
}

// ask has a repository synced before others.
func (a *agenda) ask(v *visit) {
	to := &a.asked
	if !v.changed.IsZero() {
		to = &a.pushed
	}
	if v.in != to {
		a.leave(v)
		to.push(v)
	}
}

// promote moves what is due from those waiting to those ready.
func (a *agenda) promote(now time.Time) {
	for len(a.waiting) > 0 && !a.waiting[0].due.After(now) {
		a.ready.push(heap.Pop(&a.waiting).(*visit))
	}
}

// next chooses a repository and notes that it is at work.
func (a *agenda) next(now time.Time) (name string, ok bool) {
	a.promote(now)
	for _, from := range []struct {
		queue *visitQueue
		more  int
	}{{&a.pushed, remotesAsked}, {&a.asked, 0}, {&a.ready, 0}} {
		free := func(host string) bool { return a.hasRoom(host, from.more) }
		if v := from.queue.first(free, a.isFree); v != nil {
			from.queue.remove(v)
			return a.begin(v), true
		}
	}
	if len(a.busy) > 0 && len(a.atWork) == 0 {
		v := a.busy[0]
		a.busy = a.busy[1:]
		return a.begin(v), true
	}
	return "", false
}

// isFree reports whether a repository is not at work. One that was asked for during its
// sync may have changed since its fetch.
func (a *agenda) isFree(v *visit) bool { return a.atWork[v.name] == nil }

// hasRoom reports whether one of a host may begin beside those at work, and so many more
// than usual.
func (a *agenda) hasRoom(host string, more int) bool {
	if host == "" {
		return a.locals < localsAtOnce
	}
	return a.remotes < remotesAtOnce+more && a.hosts[host] < remotesOfHost+more
}

func (a *agenda) begin(v *visit) string {
	a.atWork[v.name] = v
	a.count(v, 1)
	return v.name
}

func (a *agenda) count(v *visit, n int) {
	if v.host == "" {
		a.locals += n
		return
	}
	a.remotes += n
	if a.hosts[v.host] += n; a.hosts[v.host] == 0 {
		delete(a.hosts, v.host)
	}
}

// end notes that a repository is at work no more, and returns its visit, nil if it
// was forgotten meanwhile.
func (a *agenda) end(name string) *visit {
	v := a.atWork[name]
	delete(a.atWork, name)
	a.count(v, -1)
	if a.visits[name] != v {
		return nil
	}
	return v
}

// retry has a visit for which git was busy begin again when nothing else is at
// work. It reports whether it does: not twice in a row.
func (a *agenda) retry(v *visit) bool {
	if v.retried {
		return false
	}
	v.retried = true
	if !v.isAsked(a) {
		a.busy = append(a.busy, v)
	}
	return true
}

// until is how long nothing more becomes due; ok is false if nothing ever does by
// itself.
func (a *agenda) until(now time.Time) (d time.Duration, ok bool) {
	a.promote(now)
	if len(a.waiting) == 0 {
		return 0, false
	}
	return a.waiting[0].due.Sub(now), true
}

// len counts what is due and not begun.
func (a *agenda) len() int { return a.pushed.n + a.asked.n + a.ready.n + len(a.busy) }

// idle reports whether nothing is due or at work.
func (a *agenda) idle() bool { return a.len()+len(a.atWork) == 0 }

// visitHeap has the visit that is due next at its top.
type visitHeap []*visit

func (h visitHeap) Len() int           { return len(h) }
func (h visitHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

func (h visitHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *visitHeap) Push(x any) {
	v := x.(*visit)
	v.index = len(*h)
	*h = append(*h, v)
}

// Pop implements heap.Interface.
func (h *visitHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	v.index = -1
	return v
}
