package search

import (
	"context"
	"slices"
	"sync"
)

// Turns lets so many searches work at once as there is memory for; the others
// wait in line. A turn goes to whoever of those who wait has fewest, first come
// first among equals, and a quarter is kept for those who have hardly any, so
// that one user with hundreds of searches does not keep others from theirs.
//
// A search whose client reads slowly holds its turn without working. That harms
// nobody until somebody waits; then the one that has stood still longest is
// asked to yield: it ends, keeps no more than a Bookmark, and comes back when
// its client has read what is there. It finds much a second time then, for a
// client that is in no hurry, so at most an eighth of the turns are for such
// searches, and no more than half the processors, or two, have work with, and
// others go before them seven times out of eight. Turns is safe for concurrent use.
type Turns struct {
	most int
	// mostAgain is how many turns those have at once who come back.
	mostAgain int

	mu   sync.Mutex // guards all below and the fields of turns
	free int
	line []*waiting
	// again is how many have turns who came back, passed how many went before
	// those of them who wait.
	again, passed int
	// held counts turns by asker.
	held map[string]int
	// still are the turns that stand still and were not asked to yield, the
	// longest first; asked counts those that were and have not yet ended.
	still []*Turn
	asked int
}

// waiting is one who waits; turn is set before ready is closed.
type waiting struct {
	asker string
	again bool
	turn  *Turn
	ready chan struct{}
}

// Turn is what a search has while it works. A nil Turn is never asked to yield.
type Turn struct {
	turns *Turns
	asker string
	again bool
	// yield is closed when the turn is wanted by others.
	yield chan struct{}
	// stands says that the sink waits, asked that yield is closed.
	stands, asked bool
}

// NewTurns returns n turns for searches that share so many processors.
func NewTurns(n, processors int) *Turns {
	return &Turns{most: n, mostAgain: max(min(n/oneInTurns, max(processors/2, 2)), 1), free: n, held: map[string]int{}}
}

// Take waits for a turn until ctx ends, which is the error then. again says that
// the search comes back after it has yielded.
func (t *Turns) Take(ctx context.Context, asker string, again bool) (*Turn, error) {
	t.mu.Lock()
	w := &waiting{asker: asker, again: again, ready: make(chan struct{})}
	t.line = append(t.line, w)
	t.serve()
	t.press()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return w.turn, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.turn != nil { // it came at the same moment
		t.end(w.turn)
	} else {
		t.line = slices.DeleteFunc(t.line, func(o *waiting) bool { return o == w })
	}
	return nil, ctx.Err()
}

// Give ends a turn. It is called once.
func (t *Turn) Give() {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.turns.end(t)
}

// Stand tells that the search cannot go on until its client reads, and returns
// what is closed when it should yield. Go must follow.
func (t *Turn) Stand() <-chan struct{} {
	if t == nil {
		return nil
	}
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.stands = true
	t.turns.still = append(t.turns.still, t)
	t.turns.press()
	return t.yield
}

// Go tells that the search goes on, or ends, after Stand. One that was asked to
// yield and goes on all the same, since its client read at that moment, has
// somebody else asked.
func (t *Turn) Go() {
	if t == nil {
		return
	}
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.turns.move(t)
	t.turns.press()
}

// Waiting returns how many wait for a turn.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.line)
}

// Working returns how many turns are taken.
func (t *Turns) Working() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.most - t.free
}

// Most returns how many turns there are.
func (t *Turns) Most() int { return t.most }

// The lock is held in all that follows.

func (t *Turns) grant(w *waiting) {
	t.free--
	t.held[w.asker]++
	if w.again {
		t.again++
	}
	w.turn = &Turn{turns: t, asker: w.asker, again: w.again, yield: make(chan struct{})}
	close(w.ready)
}

func (t *Turns) end(turn *Turn) {
	t.move(turn)
	t.free++
	if t.held[turn.asker]--; t.held[turn.asker] == 0 {
		delete(t.held, turn.asker)
	}
	if turn.again {
		t.again--
	}
	t.serve()
	t.press()
}

// keptFor is how many turns somebody has less than to have one of those that are
// kept, which are one in keptOneIn.
const (
	keptFor   = 2
	keptOneIn = 4
)

// isFor reports whether there is a turn for w. None is kept from the program
// itself, which asks without a name.
func (t *Turns) isFor(w *waiting) bool {
	return t.free > t.most/keptOneIn || t.free > 0 && (w.asker == "" || t.held[w.asker] < keptFor)
}

// oneInTurns is the share of turns that those have who come back, and of the
// moments at which they go first.
const oneInTurns = 8

// serve gives the turns that are free.
func (t *Turns) serve() {
	for t.free > 0 {
		fresh, again := t.first(false), -1
		if t.again < t.mostAgain {
			again = t.first(true)
		}
		best := fresh
		switch {
		case fresh < 0 && again < 0:
			return
		case fresh < 0 || again >= 0 && t.passed >= oneInTurns-1:
			best, t.passed = again, 0
		case again >= 0:
			t.passed++
		}
		w := t.line[best]
		t.line = slices.Delete(t.line, best, best+1)
		t.grant(w)
	}
}

// first returns the place in line of who is next among those who come back, or
// of the others; -1 if there is nobody to whom a turn may go.
func (t *Turns) first(again bool) int {
	best := -1
	for i, w := range t.line {
		if w.again == again && t.isFor(w) && (best < 0 || t.held[w.asker] < t.held[t.line[best].asker]) {
			best = i
		}
	}
	return best
}

// move makes a turn one that does not stand still.
func (t *Turns) move(turn *Turn) {
	switch {
	case turn.asked:
		t.asked--
		turn.asked, turn.yield = false, make(chan struct{})
	case turn.stands:
		t.still = slices.DeleteFunc(t.still, func(o *Turn) bool { return o == turn })
	}
	turn.stands = false
}

// wanted returns how many of those who wait could have a turn if others yielded.
func (t *Turns) wanted() int {
	again := 0
	for _, w := range t.line {
		if w.again {
			again++
		}
	}
	return len(t.line) - again + min(again, max(t.mostAgain-t.again, 0))
}

// press asks as many to yield as wait and could have a turn then.
func (t *Turns) press() {
	if len(t.still) == 0 {
		return
	}
	for wanted := t.wanted(); len(t.still) > 0 && t.asked < wanted; {
		turn := t.still[0]
		t.still = t.still[1:]
		t.asked++
		turn.asked = true
		close(turn.yield)
	}
}
