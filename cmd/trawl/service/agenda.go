package service

import (
	"slices"
	"time"
)

// agenda orders the repositories to sync: first those asked for by users, then
// those of a round, and last, one by one, those for which git had no memory
// beside others. No repository is synced twice at once.
type agenda struct {
	asked, round, busy []string
	atWork             map[string]bool
	// again are those of round that have been among busy.
	again map[string]bool
	// resting are repositories that failed slowly, until when.
	resting map[string]time.Time
}

// open begins a round of the repositories.
func (a *agenda) open(names []string) {
	a.round, a.busy, a.again = names, nil, map[string]bool{}
}

// drop forgets what is left of the round.
func (a *agenda) drop() { a.round, a.busy = nil, nil }

// ask adds repositories that go first.
func (a *agenda) ask(names []string) {
	for _, name := range names {
		if !slices.Contains(a.asked, name) {
			a.asked = append(a.asked, name)
		}
	}
}

// next chooses a repository and notes that it is at work.
func (a *agenda) next(now time.Time) (name string, ok bool) {
	// A repository that was asked for during its sync may have changed since
	// its fetch.
	for i, name := range a.asked {
		if !a.atWork[name] {
			a.asked = slices.Delete(a.asked, i, i+1)
			a.round = slices.DeleteFunc(a.round, func(n string) bool { return n == name })
			return a.begin(name), true
		}
	}
	for len(a.round) > 0 {
		name := a.round[0]
		a.round = a.round[1:]
		if !a.atWork[name] && !now.Before(a.resting[name]) {
			return a.begin(name), true
		}
	}
	if len(a.busy) > 0 && len(a.atWork) == 0 {
		name := a.busy[0]
		a.busy = a.busy[1:]
		return a.begin(name), true
	}
	return "", false
}

func (a *agenda) begin(name string) string {
	if a.atWork == nil {
		a.atWork = map[string]bool{}
	}
	a.atWork[name] = true
	return name
}

// end notes that a repository is at work no more. One for which git was too busy
// comes again in this round, once.
func (a *agenda) end(name string, busy bool) {
	delete(a.atWork, name)
	delete(a.resting, name)
	if busy && a.again != nil && !a.again[name] {
		a.again[name] = true
		a.busy = append(a.busy, name)
	}
}

// rest leaves a repository out of rounds until then.
func (a *agenda) rest(name string, until time.Time) {
	if a.resting == nil {
		a.resting = map[string]time.Time{}
	}
	a.resting[name] = until
}

// len counts what is still to be begun.
func (a *agenda) len() int { return len(a.asked) + len(a.round) + len(a.busy) }

// idle reports whether there is nothing to do and nothing at work.
func (a *agenda) idle() bool { return a.len()+len(a.atWork) == 0 }
