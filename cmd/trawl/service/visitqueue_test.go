package service

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// plainAgenda is an agenda that looks at all it has.
type plainAgenda struct {
	visits        map[string]*plainVisit
	asked, ready  []*plainVisit
	waiting, busy []*plainVisit
	atWork        map[string]*plainVisit
}

type plainVisit struct {
	name, host string
	due        time.Time
	isIndexed  bool
	retried    bool
}

func (a *plainAgenda) leave(v *plainVisit) {
	for _, list := range []*[]*plainVisit{&a.asked, &a.ready, &a.waiting, &a.busy} {
		*list = slices.DeleteFunc(*list, func(o *plainVisit) bool { return o == v })
	}
}

func (a *plainAgenda) wait(v *plainVisit, due time.Time) {
	a.leave(v)
	v.due = due
	a.waiting = append(a.waiting, v)
}

func (a *plainAgenda) ask(v *plainVisit) {
	if !slices.Contains(a.asked, v) {
		a.leave(v)
		a.asked = append(a.asked, v)
	}
}

func (a *plainAgenda) isFree(v *plainVisit, more int) bool {
	locals, remotes, ofHost := 0, 0, 0
	for _, o := range a.atWork {
		switch {
		case o.host == "":
			locals++
		case o.host == v.host:
			ofHost++
			fallthrough
		default:
			remotes++
		}
	}
	switch {
	case a.atWork[v.name] != nil:
		return false
	case v.host == "":
		return locals < localsAtOnce
	}
	return remotes < remotesAtOnce+more && ofHost < remotesOfHost+more
}

func (a *plainAgenda) next(now time.Time) string {
	slices.SortFunc(a.waiting, func(v, w *plainVisit) int { return v.due.Compare(w.due) })
	for len(a.waiting) > 0 && !a.waiting[0].due.After(now) {
		a.ready, a.waiting = append(a.ready, a.waiting[0]), a.waiting[1:]
	}
	for _, c := range []struct {
		list *[]*plainVisit
		free func(*plainVisit) bool
	}{
		{&a.asked, func(v *plainVisit) bool { return v.isIndexed && a.isFree(v, remotesAsked) }},
		{&a.asked, func(v *plainVisit) bool { return a.isFree(v, 0) }},
		{&a.ready, func(v *plainVisit) bool { return a.isFree(v, 0) }},
	} {
		if i := slices.IndexFunc(*c.list, c.free); i >= 0 {
			return a.begin((*c.list)[i])
		}
	}
	if len(a.busy) > 0 && len(a.atWork) == 0 {
		return a.begin(a.busy[0])
	}
	return ""
}

func (a *plainAgenda) begin(v *plainVisit) string {
	a.leave(v)
	a.atWork[v.name] = v
	return v.name
}

func (a *plainAgenda) end(name string) *plainVisit {
	v := a.atWork[name]
	delete(a.atWork, name)
	if a.visits[name] != v {
		return nil
	}
	return v
}

// TestAgendaAgainstPlain: whatever happens, the agenda begins what one does that looks at
// all repositories each time.
func TestAgendaAgainstPlain(t *testing.T) {
	start := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a, plain := &agenda{}, &plainAgenda{visits: map[string]*plainVisit{}, atWork: map[string]*plainVisit{}}
		now, tick := start, 0
		later := func() time.Time { // never the same twice
			tick++
			return now.Add(time.Duration(rng.IntN(100))*time.Second + time.Duration(tick))
		}
		var log []string
		for range 800 {
			name := fmt.Sprint("r", rng.IntN(12))
			v, p := a.visits[name], plain.visits[name]
			step := ""
			switch op := rng.IntN(9); {
			case op < 2 && v == nil:
				host, indexed, due := []string{"", "a", "b"}[rng.IntN(3)], rng.IntN(2) == 0, later()
				changed := time.Time{}
				if indexed {
					changed = start
				}
				step = "learn"
				a.learn(name, host, changed, due)
				plain.visits[name] = &plainVisit{name: name, host: host, isIndexed: indexed}
				plain.wait(plain.visits[name], due)
			case op == 2 && v != nil && rng.IntN(4) == 0:
				step = "forget"
				a.forget(name)
				delete(plain.visits, name)
				plain.leave(p)
			case op == 3 && v != nil:
				step = "ask"
				a.ask(v)
				plain.ask(p)
			case op == 4 || op == 5:
				names := make([]string, 0, len(plain.atWork))
				for name := range plain.atWork {
					names = append(names, name)
				}
				if len(names) == 0 {
					continue
				}
				slices.Sort(names)
				name = names[rng.IntN(len(names))]
				step = "end"
				v, p = a.end(name), plain.end(name)
				if (v == nil) != (p == nil) {
					t.Fatalf("seed %d: the visit of %s is %v, want %v", seed, name, v, p)
				}
				if v == nil {
					break
				}
				if rng.IntN(3) == 0 && !p.retried {
					step = "end, busy"
					p.retried = true
					if !a.retry(v) {
						t.Fatalf("seed %d: %s is not tried again", seed, name)
					}
					if !slices.Contains(plain.asked, p) {
						plain.busy = append(plain.busy, p)
					}
					break
				}
				v.retried, p.retried, v.changed = false, false, now
				wasIndexed, due := p.isIndexed, later()
				p.isIndexed = true
				a.again(v, due)
				if !slices.Contains(plain.asked, p) {
					plain.wait(p, due)
				} else if !wasIndexed { // it comes to those that are
					plain.leave(p)
					plain.asked = append(plain.asked, p)
				}
			case op == 6 && rng.IntN(8) == 0:
				step = "drop"
				a.drop(now)
				plain.waiting = slices.DeleteFunc(plain.waiting, func(p *plainVisit) bool { return !p.due.After(now) })
				plain.ready, plain.busy = nil, nil
			default:
				step, name = "next", ""
				now = now.Add(time.Duration(rng.IntN(20)) * time.Second)
				got, _ := a.next(now)
				if want := plain.next(now); got != want {
					t.Fatalf("seed %d: began %q, want %q, after %s", seed, got, want, strings.Join(log[max(0, len(log)-40):], ", "))
				}
				name = got
			}
			log = append(log, step+" "+name)
			if got, want := a.len(), len(plain.asked)+len(plain.ready)+len(plain.busy); got != want {
				t.Fatalf("seed %d: %d are to begin, want %d, after %s", seed, got, want, strings.Join(log, ", "))
			}
		}
	}
}

// BenchmarkAgenda is the end of a sync beside 10,000 repositories of this machine that are
// due, as when all are indexed, and the choice of the next one.
func BenchmarkAgenda(b *testing.B) {
	now := time.Now()
	var a agenda
	var atWork []string
	take := func() {
		for name, ok := a.next(now); ok; name, ok = a.next(now) {
			atWork = append(atWork, name)
		}
	}
	for n := range 10_000 {
		a.learn(fmt.Sprint(n), "", time.Time{}, now)
	}
	take()
	for b.Loop() {
		name := atWork[0]
		atWork = atWork[1:]
		a.again(a.end(name), now)
		take()
	}
}
