package dfa

import (
	"encoding/binary"
	"errors"
	"regexp/syntax"
	"slices"
)

// ErrBudget says that a text needed more states than the cache may hold, over
// and over.
var ErrBudget = errors.New("automaton exceeds its budget")

// ErrStopped says that Stop ended a search.
var ErrStopped = errors.New("search stopped")

// Bounds of an automaton's cache. A state of a usual pattern takes about 200
// bytes with its row of the table; 64 classes make a row of 256 bytes. Those of
// hostile patterns have thousands of threads, so bytes count too.
const (
	maxStates     = 4096
	maxCacheBytes = 2 << 20
	// minBytesPerReset is how far the text must have moved on for the cache to
	// be worth emptying and filling again.
	minBytesPerReset = 64 << 10
)

// Entries of the transition table. A state is named by the index of its row.
// Entries up to rowMask need no attention; the others are looked at.
const (
	rowMask = 1<<28 - 1
	// initial marks a state in which no match has begun: wherever it is met, the
	// search may skip to the next place where one can.
	initial = 1 << 28
	// matched marks a state in which a match has ended one byte earlier.
	matched = 1 << 29
	dead    = 1 << 30
	unknown = 1 << 31
)

// kind says what an automaton looks for.
type kind uint8

const (
	// leftmost prefers threads that come first, and seeks: a new thread begins
	// at every byte until one has matched.
	leftmost kind = iota
	// anchored prefers threads that come first and does not seek.
	anchored
	// longest prefers the longest match: threads are in no order, and a match
	// does not end those behind it.
	longest
	// partial never matches and takes all assertions to hold: it is dead or not.
	partial
)

// automaton is a lazily built DFA of one program. It belongs to one goroutine.
type automaton struct {
	*program
	kind kind
	// entry are the threads before the first byte.
	entry []uint32

	// table has a row of stride entries per state: one a class, then one for
	// the end of the text.
	table  []uint32
	stride int
	states []state
	byKey  map[string]uint32
	starts [4]uint32
	// bytes is about what states take, their rows and keys included.
	bytes int

	// scratch
	threads, next []uint32
	seen          sparseSet
	stack         []uint32
	key           []byte
}

// state is the state between two bytes: the threads, not yet taken through
// splits and assertions, since those depend on the next byte too.
type state struct {
	threads []uint32
	context context
	seeking bool
	matched bool
}

// context is the part of the text before that assertions test.
type context uint8

const (
	contextOther context = iota
	contextText          // the edge of the text
	contextLine          // a newline
	contextWord          // a byte of a word
)

func newAutomaton(p *program, k kind, entry []uint32) *automaton {
	a := &automaton{program: p, kind: k, entry: entry, stride: p.classes + 1}
	a.seen.init(len(p.code))
	a.reset()
	return a
}

// reset empties the cache.
func (a *automaton) reset() {
	a.table, a.states, a.bytes = a.table[:0], a.states[:0], 0
	a.byKey = map[string]uint32{}
	for i := range a.starts {
		a.starts[i] = unknown
	}
}

// contextOf returns the context of a byte before.
func (a *automaton) contextOf(b byte) context {
	switch {
	case a.kind == partial:
		return contextOther
	case b == '\n' && a.looks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		return contextLine
	case isWord(b) && a.looks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		return contextWord
	}
	return contextOther
}

func (a *automaton) edgeContext() context {
	if a.looks == 0 {
		return contextOther
	}
	return contextText
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// begin returns the row of the state before the first byte.
func (a *automaton) begin(c context) uint32 {
	if a.starts[c] == unknown {
		a.starts[c] = a.intern(state{threads: a.entry, context: c, seeking: a.kind == leftmost}) & rowMask
	}
	return a.starts[c]
}

// intern returns the table entry of a state, adding it if it is new.
func (a *automaton) intern(s state) uint32 {
	if len(s.threads) == 0 && !s.seeking && !s.matched {
		return dead
	}
	flags := byte(s.context) << 2
	if s.seeking {
		flags |= 1
	}
	if s.matched {
		flags |= 2
	}
	a.key = append(a.key[:0], flags)
	for _, t := range s.threads {
		a.key = binary.LittleEndian.AppendUint32(a.key, t)
	}
	if row, ok := a.byKey[string(a.key)]; ok {
		return entryOf(row, s, a.start)
	}
	row := uint32(len(a.table))
	s.threads = slices.Clone(s.threads)
	a.states = append(a.states, s)
	for range a.stride {
		a.table = append(a.table, unknown)
	}
	a.byKey[string(a.key)] = row
	a.bytes += stateBytes + 4*a.stride + 2*len(a.key)
	return entryOf(row, s, a.start)
}

// stateBytes is about what a state takes beside its row, threads and key.
const stateBytes = 120

// entryOf returns the table entry of a state with that row.
func entryOf(row uint32, s state, start uint32) uint32 {
	switch {
	case s.matched:
		return row | matched
	case s.seeking && len(s.threads) == 1 && s.threads[0] == start:
		return row | initial
	}
	return row
}

// full reports whether no state may be added.
func (a *automaton) full() bool { return len(a.states) >= maxStates || a.bytes >= maxCacheBytes }

// step computes the entry for a byte b, or the end of the text when atEnd,
// in the state of a row, and stores it.
func (a *automaton) step(r uint32, b byte, atEnd bool) uint32 {
	s := a.states[int(r)/a.stride]
	isMatch := a.close(s, a.lookAround(s.context, b, atEnd))
	next := state{matched: isMatch, seeking: s.seeking && !isMatch}
	a.next = a.next[:0]
	if !atEnd {
		next.context = a.contextOf(b)
		a.seen.clear()
		for _, t := range a.threads {
			if to, ok := a.code[t].follow(b); ok && a.seen.add(to) {
				a.next = append(a.next, to)
			}
		}
		if next.seeking && a.seen.add(a.start) {
			a.next = append(a.next, a.start)
		}
	} else {
		next.seeking = false
	}
	if a.kind == longest || a.kind == partial {
		slices.Sort(a.next)
	}
	next.threads = a.next
	e := a.intern(next)
	column := a.classes
	if !atEnd {
		column = int(a.classOf[b])
	}
	a.table[int(r)+column] = e
	return e
}

// follow returns where a byte leads.
func (in *instruction) follow(b byte) (uint32, bool) {
	for _, e := range in.edges {
		if b <= e.hi {
			return e.next, b >= e.lo
		}
	}
	return 0, false
}

// lookAround returns the assertions that hold between context and b.
func (a *automaton) lookAround(c context, b byte, atEnd bool) syntax.EmptyOp {
	switch {
	case a.kind == partial:
		return ^syntax.EmptyOp(0)
	case a.looks == 0:
		return 0
	}
	var flags syntax.EmptyOp
	if c == contextText {
		flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if c == contextLine {
		flags |= syntax.EmptyBeginLine
	}
	if atEnd {
		flags |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if b == '\n' {
		flags |= syntax.EmptyEndLine
	}
	if (c == contextWord) != (!atEnd && isWord(b)) {
		return flags | syntax.EmptyWordBoundary
	}
	return flags | syntax.EmptyNoWordBoundary
}

// close follows splits and assertions from the threads of s, in order of
// preference, into a.threads, and reports whether a match is reached. Unless
// the longest is wanted, threads behind a match are dropped.
func (a *automaton) close(s state, holds syntax.EmptyOp) (isMatch bool) {
	a.threads = a.threads[:0]
	a.seen.clear()
	for _, t := range s.threads {
		a.stack = append(a.stack[:0], t)
		for len(a.stack) > 0 {
			at := a.stack[len(a.stack)-1]
			a.stack = a.stack[:len(a.stack)-1]
			if !a.seen.add(at) {
				continue
			}
			switch in := &a.code[at]; in.op {
			case opSplit:
				a.stack = append(a.stack, in.out2, in.out)
			case opEmpty:
				if in.flags&^holds == 0 {
					a.stack = append(a.stack, in.out)
				}
			case opBytes:
				a.threads = append(a.threads, at)
			case opMatch:
				isMatch = a.kind != partial
				if a.kind == leftmost || a.kind == anchored {
					return true
				}
			}
		}
	}
	return isMatch
}

// sparseSet is a set of small numbers that is cleared at no cost.
type sparseSet struct {
	dense  []uint32
	sparse []uint32
}

func (s *sparseSet) init(n int) { s.sparse = make([]uint32, n) }
func (s *sparseSet) clear()     { s.dense = s.dense[:0] }
func (s *sparseSet) has(x uint32) bool {
	i := s.sparse[x]
	return int(i) < len(s.dense) && s.dense[i] == x
}

// add reports whether x was not in the set.
func (s *sparseSet) add(x uint32) bool {
	if s.has(x) {
		return false
	}
	s.sparse[x] = uint32(len(s.dense))
	s.dense = append(s.dense, x)
	return true
}
