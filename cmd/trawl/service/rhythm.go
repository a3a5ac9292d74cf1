package service

import (
	"math"
	"time"

	"github.com/trawlsearch/trawl/store"
)

const (
	// mostBetweenRemotes and mostBetweenLocals bound the time between two looks at
	// a source. A look at a repository of this machine costs next to nothing.
	mostBetweenRemotes = 8 * time.Hour
	mostBetweenLocals  = 5 * time.Minute
	// mostBackoff bounds the time after failures, for a remote.
	mostBackoff = time.Hour
	// jitterShare is how much shorter or longer a time may be, so that what began
	// together does not stay together.
	jitterShare = 0.1
)

// rhythm says when the source of a repository is looked at again: after half of the
// time since it last changed. What changed a minute ago is likely to change soon,
// what has not for a month is not. So a change waits for at most half as long as
// the one before it has been there.
type rhythm struct {
	// least is the least time between two looks.
	least time.Duration
	// random returns numbers from 0 to 1.
	random func() float64
}

// rest is how long a source rests that was looked at so long after its last change.
func (r rhythm) rest(local bool, sinceChange time.Duration) time.Duration {
	return r.jitter(min(max(sinceChange/2, r.least), r.most(local)))
}

// backoff is how long it rests after so many failures in a row.
func (r rhythm) backoff(local bool, failures int) time.Duration {
	d := float64(r.least) * math.Exp2(float64(failures-1))
	return r.jitter(time.Duration(min(d, float64(max(min(mostBackoff, r.most(local)), r.least)))))
}

func (r rhythm) most(local bool) time.Duration {
	if local {
		return max(mostBetweenLocals, r.least)
	}
	return max(mostBetweenRemotes, r.least)
}

func (r rhythm) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 - jitterShare + 2*jitterShare*r.random()))
}

// first is when a source is looked at that this process has not looked at. Sources
// never indexed go before all others. Those of this machine, and those to be
// reindexed, are looked at at once, remotes when they would have been without a restart.
// Those for which that time has passed are spread over a time, and over no more than they
// usually rest.
func (r rhythm) first(rec *store.Repository, now time.Time, spread time.Duration) time.Time {
	switch {
	case !rec.Indexed() && rec.LastError == "":
		return time.Time{}
	case !rec.Mirror || rec.LastError != "" || rec.Reindexes():
		return now
	}
	seen := rec.Fetched()
	if seen.After(now) {
		seen = now // the clock was set back
	}
	rest := r.rest(false, seen.Sub(rec.LastIndexed))
	if due := seen.Add(rest); due.After(now) {
		return due
	}
	return now.Add(time.Duration(r.random() * float64(min(rest, spread))))
}
