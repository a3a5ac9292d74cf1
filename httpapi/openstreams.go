package httpapi

import "sync"

// What a stream holds whatever it sends: an outbox with what it may hold at
// least, the memory of an event beyond what is in it, two goroutines, the
// buffers of a connection. Those of the first streams count as the program's own.
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
	loans []func()
}

// begin counts a stream, and reports false if there are too many.
func (o *openStreams) begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open >= o.most {
		return false
	}
	o.open++
	if o.lend != nil && o.open > freeStreams+len(o.loans)*streamsALoan {
		o.loans = append(o.loans, o.lend(streamsALoan*streamBytes))
	}
	return true
}

// end counts a stream that has ended. The last loan is given back when half as
// many streams as it is for have ended, so that it does not come and go.
func (o *openStreams) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	if n := len(o.loans); n > 0 && o.open <= freeStreams+(n-1)*streamsALoan-streamsALoan/2 {
		o.loans[n-1]()
		o.loans = o.loans[:n-1]
	}
}

// MostStreams returns how many streams may be open when so many bytes may be
// lent to them.
func MostStreams(bytes int64) int { return freeStreams + int(bytes/streamBytes) }
