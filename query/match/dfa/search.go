package dfa

import (
	"fmt"
	"regexp/syntax"
	"sync"
)

// Regexp is a compiled regexp. It is safe for concurrent use.
type Regexp struct {
	forward, backward *program
	idle              sync.Pool
}

// Compile compiles a parsed regexp. The error wraps ErrUnsupported.
func Compile(t *syntax.Regexp) (*Regexp, error) {
	if mayBeEmpty(t) {
		return nil, fmt.Errorf("%w: it may match the empty string", ErrUnsupported)
	}
	forward, err := compile(t, false)
	if err != nil {
		return nil, err
	}
	backward, err := compile(reverse(t), true)
	if err != nil {
		return nil, err
	}
	return &Regexp{forward: forward, backward: backward}, nil
}

func compile(t *syntax.Regexp, backwards bool) (*program, error) {
	p, err := syntax.Compile(t.Simplify())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return assemble(p, backwards)
}

// Searcher finds matches in one text after the other. It holds the automata
// and belongs to one goroutine.
type Searcher struct {
	re                *Regexp
	forward, backward *automaton
}

// Searcher returns an idle searcher or a new one. Give it back with Release.
func (r *Regexp) Searcher() *Searcher {
	if s, ok := r.idle.Get().(*Searcher); ok {
		return s
	}
	return &Searcher{re: r, forward: newAutomaton(r.forward, false), backward: newAutomaton(r.backward, true)}
}

// Release gives s back for others to use.
func (s *Searcher) Release() { s.re.idle.Put(s) }

// Next returns the leftmost-first match in text that begins at from or behind;
// ok is false if there is none. Assertions see the text before from. Text must
// be valid UTF-8, and from must not be inside a rune. The error is ErrBudget.
func (s *Searcher) Next(text []byte, from int) (start, end int, ok bool, err error) {
	end, err = s.forward.forwards(text, from)
	if end < 0 || err != nil {
		return 0, 0, false, err
	}
	start, err = s.backward.backwards(text, from, end)
	if err != nil {
		return 0, 0, false, err
	}
	if start < 0 {
		panic(fmt.Sprintf("dfa: a match ends at %d and begins nowhere", end))
	}
	return start, end, true, nil
}

// forwards returns where the leftmost-first match from from on ends, or -1.
func (a *automaton) forwards(text []byte, from int) (int, error) {
	c := a.edgeContext()
	if from > 0 {
		c = a.contextOf(text[from-1])
	}
	end, lastReset := -1, from
	r := row(a.begin(c))
	for i := from; ; i++ {
		// The inner loop: as long as entries need no attention.
		table, classOf := a.table, &a.classOf
		for i < len(text) {
			e := table[int(r)+int(classOf[text[i]])]
			if e < 0 {
				break
			}
			r = e
			i++
		}
		atEnd := i >= len(text)
		column, b := a.classes, byte(0)
		if !atEnd {
			b = text[i]
			column = int(a.classOf[b])
		}
		e := a.table[int(r)+column]
		if e == unknown {
			if a.full() {
				if i-lastReset < minBytesPerReset {
					return -1, ErrBudget
				}
				lastReset = i
				r = a.restart(r)
			}
			e = a.step(r, b, atEnd)
		}
		if e <= matched {
			end = i
		}
		if e == dead || atEnd {
			return end, nil
		}
		r = row(e)
	}
}

// backwards returns the smallest offset, at least from, at which a match that
// ends at end begins, or -1.
func (a *automaton) backwards(text []byte, from, end int) (int, error) {
	c := a.edgeContext()
	if end < len(text) {
		c = a.contextOf(text[end])
	}
	start, lastReset := -1, end
	r := row(a.begin(c))
	for i := end; ; i-- {
		// text[i-1] is the next byte; at from it is looked at and not taken.
		atEnd := i == 0
		column, b := a.classes, byte(0)
		if !atEnd {
			b = text[i-1]
			column = int(a.classOf[b])
		}
		e := a.table[int(r)+column]
		if e == unknown {
			if a.full() {
				if lastReset-i < minBytesPerReset && lastReset != end {
					return -1, ErrBudget
				}
				lastReset = i
				r = a.restart(r)
			}
			e = a.step(r, b, atEnd)
		}
		if e <= matched {
			start = i
		}
		if e == dead || i <= from {
			return start, nil
		}
		r = row(e)
	}
}

// restart empties the cache but for the state at hand, and returns its row.
func (a *automaton) restart(r int32) int32 {
	s := a.states[int(r)/a.stride]
	a.reset()
	return row(a.intern(s))
}
