package match

import (
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query/match/dfa"
)

// engine finds the matches of one pattern in text at hand: by automaton where
// that gives what Go's engine gives, else by Go's engine. It belongs to one
// goroutine; release it.
type engine struct {
	m *Matcher
	s *dfa.Searcher
}

func (m *Matcher) engine() engine {
	if m.automaton == nil {
		return engine{m: m}
	}
	return engine{m, m.automaton.Searcher()}
}

func (e engine) release() {
	if e.s != nil {
		e.s.Release()
	}
}

// find is Brute, faster.
func (e engine) find(dst []Span, text []byte) ([]Span, bool) {
	if e.s == nil || !utf8.Valid(text) {
		return e.m.Brute(dst, text)
	}
	n := len(dst)
	for at := 0; ; {
		start, end, ok, err := e.s.Next(text, at)
		if err != nil {
			// Too many states: Go's engine needs none.
			return e.m.Brute(dst[:n], text)
		}
		if !ok {
			return dst, len(dst) > n
		}
		dst = append(dst, Span{uint32(start), uint32(end)})
		at = end
	}
}
