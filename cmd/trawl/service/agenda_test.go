package service

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
)

// take returns what is begun when as many are at work as may be.
func (a *agenda) take(now time.Time) string {
	var names []string
	for {
		name, ok := a.next(now)
		if !ok {
			return strings.Join(names, " ")
		}
		names = append(names, name)
	}
}

func TestAgenda(t *testing.T) {
	now := clock.New(time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC))
	var a agenda
	check := func(when, want string) {
		t.Helper()
		if got := a.take(now.Now()); got != want {
			t.Errorf("%s: began %q, want %q", when, got, want)
		}
	}
	// Never indexed, due, due later.
	late := a.learn("late", "", time.Time{}, now.Now().Add(time.Minute))
	due := a.learn("due", "", time.Time{}, now.Now())
	a.learn("new", "", time.Time{}, time.Time{})
	check("the first go by their times", "new due")
	a.ask(late)
	a.ask(due)
	a.ask(due)
	check("asked for one that is due later and one at work", "late")
	if wait, ok := a.until(now.Now()); ok {
		t.Errorf("something is due in %v, want nothing", wait)
	}
	a.again(a.end("due"), now.Now().Add(time.Hour))
	check("one that was asked for during its sync", "due")
	a.again(a.end("late"), now.Now().Add(time.Minute))
	a.again(a.end("new"), now.Now().Add(2*time.Minute))
	check("nothing is due", "")
	if wait, ok := a.until(now.Now()); !ok || wait != time.Minute {
		t.Errorf("the next is due in %v, %t; want a minute", wait, ok)
	}
	now.Add(time.Minute)
	check("a minute later", "late")
	a.forget("late")
	if v := a.end("late"); v != nil {
		t.Errorf("a repository that was removed during its sync has the visit %+v, want none", v)
	}

	// Those for which git was busy go alone, once.
	if !a.retry(a.end("due")) {
		t.Error("git was busy once: it is not begun again")
	}
	now.Add(time.Minute)
	check("something else is due", "new")
	a.again(a.end("new"), now.Now().Add(time.Hour))
	check("nothing is at work", "due")
	if v := a.end("due"); a.retry(v) {
		t.Error("git was busy twice: it is begun again at once")
	}
	if !a.idle() {
		t.Error("it is not idle, want it to be")
	}
}

// TestAgendaOfHosts: of one host so many are at work, of all remotes so many, and
// none of them keeps a local repository waiting.
func TestAgendaOfHosts(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	var a agenda
	for n := range 6 {
		for _, host := range []string{"a.example", "b.example", "c.example", ""} {
			a.learn(fmt.Sprint(host, n), host, time.Time{}, now.Add(time.Duration(n)*time.Second))
		}
	}
	now = now.Add(time.Minute)
	begun := 0
	for rounds := 0; !a.idle() || len(a.waiting) > 0; rounds++ {
		if rounds > 100 {
			t.Fatal("it does not end")
		}
		begun += len(strings.Fields(a.take(now)))
		of := map[string]int{}
		remotes := 0
		for _, v := range a.atWork {
			of[v.host]++
			if v.host != "" {
				remotes++
			}
		}
		for host, n := range of {
			if host != "" && n > remotesOfHost || n > localsAtOnce {
				t.Errorf("%d of host %q are at work", n, host)
			}
		}
		if remotes > remotesAtOnce {
			t.Errorf("%d remotes are at work, want at most %d", remotes, remotesAtOnce)
		}
		if rounds == 0 && (remotes != remotesAtOnce || of[""] != 6) {
			t.Errorf("%d remotes and %d local ones are at work at first, want all that may be", remotes, of[""])
		}
		for name := range a.atWork {
			a.end(name)
			break
		}
	}
	if begun != 24 || len(a.hosts) != 0 {
		t.Errorf("%d were begun, and hosts are %v; want 24 and none", begun, a.hosts)
	}
}

// TestAgendaWaits: of 10,000 repositories none is begun before it is due, each is
// soon after, and nothing is looked at again before the next is due.
func TestAgendaWaits(t *testing.T) {
	start := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	now := clock.New(start)
	var a agenda
	for n := range 10_000 {
		a.learn(fmt.Sprint(n), "", time.Time{}, start.Add(time.Duration(n*7919%10_000)*time.Second))
	}
	wakes, begun := 0, 0
	for {
		for _, name := range strings.Fields(a.take(now.Now())) {
			v := a.end(name)
			if late := now.Now().Sub(v.due); late != 0 {
				t.Fatalf("%s was begun %v after it was due", name, late)
			}
			begun++
		}
		wait, ok := a.until(now.Now())
		if !ok {
			break
		}
		if wait <= 0 {
			t.Fatalf("nothing can begin, and it waits for %v", wait)
		}
		wakes++
		now.Add(wait)
	}
	if begun != 10_000 || wakes != 9_999 {
		t.Errorf("%d were begun after %d waits, want 10,000 after 9,999", begun, wakes)
	}
}

// TestRhythm: a source rests for half of the time since it last changed, within
// bounds, and longer after each failure.
func TestRhythm(t *testing.T) {
	for _, random := range []float64{0, 0.5, 0.999} {
		about := func(what string, got, want time.Duration) {
			t.Helper()
			if lo, hi := time.Duration(float64(want)*0.9), time.Duration(float64(want)*1.1); got < lo-1 || got > hi {
				t.Errorf("random %v, %s: got %v, want about %v", random, what, got, want)
			}
		}
		r := rhythm{least: 45 * time.Second, random: func() float64 { return random }}
		for _, c := range []struct {
			local       bool
			since, want time.Duration
		}{
			{false, -time.Hour, 45 * time.Second},
			{false, 0, 45 * time.Second},
			{false, 10 * time.Minute, 5 * time.Minute},
			{false, 10 * time.Hour, 5 * time.Hour},
			{false, 1000 * time.Hour, 8 * time.Hour},
			{true, 0, 45 * time.Second},
			{true, 4 * time.Minute, 2 * time.Minute},
			{true, 1000 * time.Hour, 5 * time.Minute},
		} {
			about(fmt.Sprintf("local %t, %v after a change", c.local, c.since), r.rest(c.local, c.since), c.want)
		}
		for failures, want := range map[int]time.Duration{1: 45 * time.Second, 2: 90 * time.Second, 4: 6 * time.Minute, 8: time.Hour, 5000: time.Hour} {
			about(fmt.Sprint(failures, " failures"), r.backoff(false, failures), want)
			about(fmt.Sprint(failures, " failures of a local one"), r.backoff(true, failures), min(want, 5*time.Minute))
		}
		rare := rhythm{least: 12 * time.Hour, random: r.random}
		about("a longer interval", rare.rest(true, time.Minute), 12*time.Hour)
		about("a longer interval, failed", rare.backoff(false, 3), 12*time.Hour)
	}
}

// TestFirstVisits: after a restart, those never indexed go first, then those of this
// machine and those to be reindexed; remotes wait as they would have, and those overdue are spread.
func TestFirstVisits(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	remote := func(seen, changed time.Duration) *store.Repository {
		return &store.Repository{Mirror: true, Generation: 1, Admission: "1/1", LastFetched: now.Add(-seen), LastIndexed: now.Add(-changed)}
	}
	for _, c := range []struct {
		name     string
		rec      *store.Repository
		from, to time.Duration // of now
	}{
		{"local", &store.Repository{Generation: 1, LastFetched: now.Add(-time.Second)}, 0, 0},
		{"failed", &store.Repository{Mirror: true, LastError: "x"}, 0, 0},
		{"to be reindexed", &store.Repository{Mirror: true, Generation: 1, LastFetched: now}, 0, 0},
		{"looked at a minute ago, changed long ago", remote(time.Minute, 1000*time.Hour), 7 * time.Hour, 9 * time.Hour},
		{"looked at and changed a minute ago", remote(0, time.Minute), 40 * time.Second, 50 * time.Second},
		{"overdue", remote(20*time.Hour, 100*time.Hour), 0, 30 * time.Minute},
		{"overdue, changed soon before", remote(20*time.Hour, 20*time.Hour+time.Minute), 0, 50 * time.Second},
		{"looked at in the future", remote(-1000*time.Hour, time.Minute), 40 * time.Second, 9 * time.Hour},
	} {
		var dues []time.Duration
		for _, random := range []float64{0, 0.3, 0.6, 0.999} {
			r := rhythm{least: 45 * time.Second, random: func() float64 { return random }}
			dues = append(dues, r.first(c.rec, now, 30*time.Minute).Sub(now))
		}
		if slices.Min(dues) < c.from || slices.Max(dues) > c.to || c.to > 0 && slices.Max(dues) == slices.Min(dues) {
			t.Errorf("%s: due in %v, want from %v to %v", c.name, dues, c.from, c.to)
		}
	}
	if due := (rhythm{}).first(&store.Repository{Mirror: true}, now, time.Hour); !due.IsZero() {
		t.Errorf("never indexed: due at %v, want before all others", due)
	}
}

func TestHostOf(t *testing.T) {
	for source, want := range map[string]string{
		"https://me:secret@Git.Example.org/lab/kiln": "git.example.org",
		"ssh://git@example.org:2222/kiln":            "example.org:2222",
		"git@example.org:lab/kiln":                   "example.org",
		"file:///srv/kiln":                           "file",
	} {
		if got := hostOf(&store.Repository{Mirror: true, Source: source}); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
	if got := hostOf(&store.Repository{Source: "/srv/kiln"}); got != "" {
		t.Errorf("a local one has the host %q", got)
	}
}

// A repository that a user pushed to goes before those that are new, although they
// were asked for before and all places are taken.
func TestAgendaPushedGoesFirst(t *testing.T) {
	now := time.Now()
	a := &agenda{}
	for i := range 10 {
		a.ask(a.learn(fmt.Sprint("new", i), "hub", time.Time{}, now))
	}
	for range remotesOfHost {
		if name, ok := a.next(now); !ok || !strings.HasPrefix(name, "new") {
			t.Fatalf("got %q, want a new one", name)
		}
	}
	if name, ok := a.next(now); ok {
		t.Fatalf("got %q beside as many of its host as there may be", name)
	}
	for _, name := range []string{"pushed", "later"} {
		a.ask(a.learn(name, "hub", now.Add(-time.Hour), now.Add(time.Hour)))
	}
	if name, ok := a.next(now); !ok || name != "pushed" {
		t.Fatalf("got %q, want the one that was pushed to", name)
	}
	if name, ok := a.next(now); ok {
		t.Fatalf("got %q beside one more than there may be", name)
	}
	a.end("new0")
	a.end("pushed")
	if name, ok := a.next(now); !ok || name != "later" {
		t.Fatalf("got %q, want the other that was pushed to", name)
	}
}
