package dfa

import (
	"fmt"
	"regexp/syntax"
	"sync"
)

// Regexp is a compiled regexp. It is safe for concurrent use.
type Regexp struct {
	forward, backward *program
	factors           factors
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
	return &Regexp{forward: forward, backward: backward, factors: newFactors(backward)}, nil
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
	// Stop, if set, gets the number of bytes looked at since its last call, at
	// least once for each match and emptied cache, and reports whether to give
	// up. Release forgets it.
	Stop func(bytes int) bool

	re                *Regexp
	forward, backward *automaton
	// anchored is forward without seeking: its matches begin where it does.
	anchored *automaton
	skip     skipper
}

// Searcher returns an idle searcher or a new one. Give it back with Release.
func (r *Regexp) Searcher() *Searcher {
	if s, ok := r.idle.Get().(*Searcher); ok {
		return s
	}
	return &Searcher{
		re:       r,
		forward:  newAutomaton(r.forward, leftmost, []uint32{r.forward.start}),
		backward: newAutomaton(r.backward, longest, []uint32{r.backward.start}),
		anchored: newAutomaton(r.forward, anchored, []uint32{r.forward.start}),
		skip:     skipper{factors: &r.factors, states: newAutomaton(r.backward, partial, r.factors.entry)},
	}
}

// Release gives s back for others to use.
func (s *Searcher) Release() {
	s.Stop = nil
	s.re.idle.Put(s)
}

// stopped reports the bytes looked at to Stop.
func (s *Searcher) stopped(bytes int) bool { return s.Stop != nil && s.Stop(bytes) }

// fullCost is the cost of filling the cache of an automaton, in bytes that
// could be looked at instead.
const fullCost = 1 << 20

// Next returns the leftmost-first match in text that begins at from or behind;
// ok is false if there is none. Assertions see the text before from. Text must
// be valid UTF-8, and from must not be inside a rune. The error is ErrBudget or
// ErrStopped.
func (s *Searcher) Next(text []byte, from int) (start, end int, ok bool, err error) {
	end, seen, err := s.forwards(text, from)
	switch {
	case err != nil:
		return 0, 0, false, err
	case s.stopped(seen - from + 1):
		return 0, 0, false, ErrStopped
	case end < 0:
		return 0, 0, false, nil
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

// At returns where the match that begins at from ends; ok is false if none
// begins there. It depends on no byte of text behind seen, which is len(text)
// if it depends on where text ends. Text must be valid UTF-8 from the byte
// before from up to seen. The error is ErrBudget.
func (s *Searcher) At(text []byte, from int) (end, seen int, ok bool, err error) {
	a := s.anchored
	r := a.begin(a.contextAt(text, from))
	for i := from; ; i++ {
		atEnd := i >= len(text)
		column, b := a.classes, byte(0)
		if !atEnd {
			b = text[i]
			column = int(a.classOf[b])
		}
		e := a.table[int(r)+column]
		if e == unknown {
			if a.full() {
				if i-from < minBytesPerReset {
					return 0, 0, false, ErrBudget
				}
				r = a.restart(r)
			}
			e = a.step(r, b, atEnd)
		}
		if e&matched != 0 {
			end, ok = i, true
		}
		if e == dead || atEnd {
			return end, i, ok, nil
		}
		r = e & rowMask
	}
}

// forwards returns where the leftmost-first match from from on ends, or -1, and
// how far it looked.
func (s *Searcher) forwards(text []byte, from int) (end, seen int, err error) {
	a := s.forward
	i := s.skip.next(text, from)
	if i < 0 {
		return -1, len(text), nil
	}
	r := a.begin(a.contextAt(text, i))
	end = -1
	for lastReset := i; ; i++ {
		i, r = s.run(text, i, r)
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
					return -1, i, ErrBudget
				}
				if s.stopped(fullCost) {
					return -1, i, ErrStopped
				}
				lastReset = i
				r = a.restart(r)
			}
			e = a.step(r, b, atEnd)
		}
		if e&matched != 0 {
			end = i
		}
		if e == dead || atEnd {
			return end, i, nil
		}
		r = e & rowMask
		if e&initial != 0 {
			next := s.skip.next(text, i+1)
			if next < 0 {
				return -1, len(text), nil
			}
			if next > i+1 {
				i = next - 1
				r = a.begin(a.contextAt(text, next))
			}
		}
	}
}

// run follows the table from i in the state of row r as long as entries need
// no attention, and returns where it got. While skipping does not pay, initial
// states need none.
func (s *Searcher) run(text []byte, i int, r uint32) (int, uint32) {
	table, classOf := s.forward.table, &s.forward.classOf
	if s.skip.paused == 0 {
		for i < len(text) {
			e := table[r+uint32(classOf[text[i]])]
			if e > rowMask {
				break
			}
			r = e
			i++
		}
		return i, r
	}
	from := i
	for stop := min(len(text), i+s.skip.paused); i < stop; i++ {
		e := table[r+uint32(classOf[text[i]])] &^ initial
		if e > rowMask {
			break
		}
		r = e
	}
	s.skip.paused -= i - from
	return i, r
}

// contextAt returns the context of assertions at i.
func (a *automaton) contextAt(text []byte, i int) context {
	if i == 0 {
		return a.edgeContext()
	}
	return a.contextOf(text[i-1])
}

// backwards returns the smallest offset, at least from, at which a match that
// ends at end begins, or -1.
func (a *automaton) backwards(text []byte, from, end int) (int, error) {
	c := a.edgeContext()
	if end < len(text) {
		c = a.contextOf(text[end])
	}
	start, lastReset := -1, end
	r := a.begin(c)
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
		if e&matched != 0 {
			start = i
		}
		if e == dead || i <= from {
			return start, nil
		}
		r = e & rowMask
	}
}

// restart empties the cache but for the state at hand, and returns its row.
func (a *automaton) restart(r uint32) uint32 {
	s := a.states[int(r)/a.stride]
	a.reset()
	return a.intern(s) & rowMask
}
