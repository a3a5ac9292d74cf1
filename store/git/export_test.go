package git

import (
	"testing"
	"time"
)

// TakenWithin returns the budget with another time for which the output of a
// process may lie there.
func TakenWithin(b *Budget, d time.Duration) *Budget {
	out := *b
	out.takenWithin = d
	return &out
}

// IdleWithin has the process of a reader end that has nothing to do for so long.
func IdleWithin(o *ObjectReader, d time.Duration) { o.idleWithin = d }

// Running reports whether a reader has a process.
func Running(o *ObjectReader) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.child != nil
}

// Ended is whether OccupyUntilEnded was.
type Ended struct{ reasons chan error }

// Wait returns why it was ended.
func (e Ended) Wait() error { return <-e.reasons }

// OccupyUntilEnded is Occupy by a process that can be ended.
func OccupyUntilEnded(b *Budget, bytes int64) (e Ended, leave func()) {
	e = Ended{make(chan error, 1)}
	return e, b.enter(&member{taken: func() int64 { return bytes }, end: func(why error) { e.reasons <- why }})
}

// Occupy takes so many bytes of a budget until leave is called, as a process
// would that cannot be ended.
func Occupy(b *Budget, bytes int64) (leave func()) {
	left := b.enter(&member{taken: func() int64 { return bytes }, end: func(error) {}})
	b.mu.Lock()
	b.set(bytes, 0)
	if b.syncs {
		b.set(bytes, bytes)
	}
	b.mu.Unlock()
	return left
}

// SetOwner sets who files belong to, for a test.
func SetOwner(t *testing.T, of func(path string) (user int, ok bool)) {
	before := owner
	owner = of
	t.Cleanup(func() { owner = before })
}
