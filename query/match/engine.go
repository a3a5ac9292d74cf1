package match

import (
	"errors"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query/match/dfa"
)

// engine finds the matches of one pattern in text at hand: by automaton where
// that gives what Go's engine gives, else by Go's engine. It belongs to one
// goroutine; release it.
type engine struct {
	m      *Matcher
	s      *dfa.Searcher
	budget *Budget
}

func (m *Matcher) engine(l *Budget) engine {
	if m.automaton == nil {
		return engine{m: m, budget: l}
	}
	e := engine{m, m.automaton.Searcher(), l}
	if l != nil {
		e.s.Stop = l.spend
	}
	return e
}

func (e engine) release() {
	if e.s != nil {
		e.s.Release()
	}
}

// find is BruteOn, faster.
func (e engine) find(dst []Span, text []byte) ([]Span, bool, error) {
	if e.s == nil || !utf8.Valid(text) {
		return e.m.BruteWithin(e.budget, dst, text)
	}
	n := len(dst)
	for at := 0; ; {
		start, end, ok, err := e.s.Next(text, at)
		switch {
		case errors.Is(err, dfa.ErrBudget):
			// Too many states: Go's engine needs none.
			return e.m.BruteWithin(e.budget, dst[:n], text)
		case err != nil:
			return dst, len(dst) > n, err
		case !ok || e.budget.full(len(dst)-n):
			return dst, len(dst) > n, nil
		}
		dst = append(dst, Span{uint32(start), uint32(end)})
		at = end
	}
}
