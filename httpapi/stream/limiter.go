package stream

import "sync"

// The memory of a stream whatever it sends: a buffer at its smallest, the
// overhead of an event, two goroutines, the buffers of a connection. Those of
// the first streams count as the program's own.
const (
	streamBytes  = 160 << 10
	freeStreams  = 64
	streamsALoan = 32
)

// limiter counts the streams that are open and has others lend the memory
// for those beyond the first, so that a thousand clients that read slowly make
// caches smaller, and not the process larger.
type limiter struct {
	// most is how many may be open. lend makes room for so many bytes and
	// returns what gives them back.
	most int
	lend func(bytes int64) (giveBack func())

	mu    sync.Mutex // guards all below
	open  int
	by    map[string]int // of them, by client
	loans []func()
	// adjusting says that a goroutine takes or gives back a loan.
	adjusting bool
}

// keptShare is the part of the streams, one in so many, that the client with
// all the others cannot have: a client that opens thousands keeps only itself
// from searching.
const keptShare = 8

// acquire counts a stream of a client, and reports false if there are too many,
// in all or of that client.
func (l *limiter) acquire(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || l.by[client] >= l.most-l.most/keptShare {
		return false
	}
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.by[client]++
	l.open++
	l.adjustLoans()
	return true
}

// release counts the end of a client's stream.
func (l *limiter) release(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by[client]--; l.by[client] == 0 {
		delete(l.by, client)
	}
	l.open--
	l.adjustLoans()
}

// adjustLoans takes and gives back loans until they fit the streams. Lending may
// take long, so the lock is not held then, and no stream waits: one goroutine
// does it for all. The lock is held before and after.
func (l *limiter) adjustLoans() {
	for l.lend != nil && !l.adjusting && l.wantedLoans() != len(l.loans) {
		l.adjusting = true
		if n := len(l.loans); l.wantedLoans() < n {
			last := l.loans[n-1]
			l.loans = l.loans[:n-1]
			l.unlocked(last)
		} else {
			var loan func()
			l.unlocked(func() { loan = l.lend(streamsALoan * streamBytes) })
			l.loans = append(l.loans, loan)
		}
		l.adjusting = false
	}
}

func (l *limiter) unlocked(f func()) {
	l.mu.Unlock()
	defer l.mu.Lock()
	f()
}

// wantedLoans is how many loans there should be, one more or less than now at most.
// The last is given back when half as many streams as it is for have ended, so
// that it does not come and go.
func (l *limiter) wantedLoans() int {
	n := len(l.loans)
	switch {
	case l.open > freeStreams+n*streamsALoan:
		return n + 1
	case n > 0 && l.open <= freeStreams+(n-1)*streamsALoan-streamsALoan/2:
		return n - 1
	}
	return n
}

// MostOpen returns how many streams may be open when so many bytes may be
// lent to them.
func MostOpen(bytes int64) int { return freeStreams + int(bytes/streamBytes) }
