package service

import (
	"strings"
	"testing"
	"time"
)

// take returns what is begun when as many may be at work as want to.
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
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	var a agenda
	check := func(when, want string) {
		t.Helper()
		if got := a.take(now); got != want {
			t.Errorf("%s: began %q, want %q", when, got, want)
		}
	}
	a.open([]string{"a", "b", "c", "d"})
	if name, _ := a.next(now); name != "a" {
		t.Errorf("the first is %q, want a", name)
	}
	a.ask([]string{"c", "a", "c"})
	check("asked for c, and for a, which is at work", "c b d")
	a.end("a", false)
	check("a has ended", "a")
	if a.len() != 0 || a.idle() {
		t.Errorf("%d are still to be begun, idle %t; want none, and 4 at work", a.len(), a.idle())
	}
	// Of a new round only what is at work already is left out.
	for _, name := range []string{"a", "b", "c"} {
		a.end(name, false)
	}
	a.open([]string{"a", "b", "c", "d"})
	check("a second round while d is at work", "a b c")

	// Those for which git was busy go one by one, once.
	for _, name := range []string{"a", "b", "c"} {
		a.end(name, name != "b")
	}
	check("git was busy, and d is at work", "")
	a.end("d", false)
	check("nothing is at work", "a")
	a.end("a", true)
	check("a was too much alone", "c")
	a.end("c", false)
	check("all have been tried", "")
	if !a.idle() {
		t.Error("it is not idle, want it to be")
	}

	a.rest("b", now.Add(time.Minute))
	a.open([]string{"a", "b"})
	check("b rests", "a")
	a.ask([]string{"b"})
	check("b is asked for", "b")
	a.end("a", false)
	a.end("b", false)
	a.open([]string{"a", "b"})
	check("b has not failed again", "a b")
	a.open([]string{"c"})
	a.drop()
	check("the round was dropped", "")
}
