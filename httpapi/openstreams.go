package httpapi

import "sync"

// The memory of a stream whatever it sends: an outbox at its smallest, the
// overhead of an event, two goroutines, the buffers of a connection. Those of
// the first streams count as the program's own.
const (
	streamBytes    = 160 << 10
	freeStreams    = 64
	streamsALoan   = 32
	defaultStreams = 4096
)

// openStreams counts the streams that are open and has others lend the memory
// for those beyond the first, so that a thousand clients that read slowly make
// caches smaller, and not the process larger.
type openStreams struct {
	// most is how many may be open. lend makes room for so many bytes and
	// returns what gives them back.
	most int
	lend func(bytes int64) (giveBack func())

	mu    sync.Mutex // guards all below
	open  int
	by    map[string]int // of them, by client
	loans []func()
	// settling says that a goroutine takes or gives back a loan.
	settling bool
}

// keptShare is the part of the streams, one in so many, that the client with
// all the others cannot have: a client that opens thousands keeps only itself
// from searching.
const keptShare = 8

// begin counts a stream of a client, and reports false if there are too many,
// in all or of that client.
func (o *openStreams) begin(asker string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open >= o.most || o.by[asker] >= o.most-o.most/keptShare {
		return false
	}
	if o.by == nil {
		o.by = map[string]int{}
	}
	o.by[asker]++
	o.open++
	o.settle()
	return true
}

// end counts the end of a client's stream.
func (o *openStreams) end(asker string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by[asker]--; o.by[asker] == 0 {
		delete(o.by, asker)
	}
	o.open--
	o.settle()
}

// settle takes and gives back loans until they fit the streams. Lending may
// take long, so the lock is not held then, and no stream waits: one goroutine
// settles for all. The lock is held before and after.
func (o *openStreams) settle() {
	for o.lend != nil && !o.settling && o.wanted() != len(o.loans) {
		o.settling = true
		if n := len(o.loans); o.wanted() < n {
			last := o.loans[n-1]
			o.loans = o.loans[:n-1]
			o.unlocked(last)
		} else {
			var loan func()
			o.unlocked(func() { loan = o.lend(streamsALoan * streamBytes) })
			o.loans = append(o.loans, loan)
		}
		o.settling = false
	}
}

func (o *openStreams) unlocked(f func()) {
	o.mu.Unlock()
	defer o.mu.Lock()
	f()
}

// wanted is how many loans there should be, one more or less than now at most.
// The last is given back when half as many streams as it is for have ended, so
// that it does not come and go.
func (o *openStreams) wanted() int {
	n := len(o.loans)
	switch {
	case o.open > freeStreams+n*streamsALoan:
		return n + 1
	case n > 0 && o.open <= freeStreams+(n-1)*streamsALoan-streamsALoan/2:
		return n - 1
	}
	return n
}

// MostStreams returns how many streams may be open when so many bytes may be
// lent to them.
func MostStreams(bytes int64) int { return freeStreams + int(bytes/streamBytes) }
