package memorylog

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
)

// pollTime is after how long a caller of Wait looks by itself.
const pollTime = 50 * time.Millisecond

// Log is a log in memory, whose appends fail in every way that they may. It is safe
// for concurrent use.
type Log struct {
	mu      sync.Mutex // guards all below
	rng     *rand.Rand
	faults  bool
	entries []cluster.Entry
	// cut is how many of the first entries are gone.
	cut     int
	records map[string][]byte
	shards  uint32
	// away says that the log cannot be reached, breaks that it is so behind the next
	// append, which is made.
	away, breaks bool
	// grown is closed when there is a new version.
	grown   chan struct{}
	unknown int
}

// New returns a log without a version. With faults one append in five fails without
// saying whether it was made.
func New(seed uint64, faults bool) *Log {
	return &Log{rng: rand.New(rand.NewPCG(seed, 1)), faults: faults, records: map[string][]byte{}, grown: make(chan struct{})}
}

// Append implements cluster.Log.
func (l *Log) Append(_ context.Context, base cluster.Version, id cluster.ID, writes []cluster.Write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return fmt.Errorf("append: no connection")
	}
	fault := 9
	if l.faults {
		fault = l.rng.IntN(10)
	}
	if fault == 0 {
		l.unknown++
		return fmt.Errorf("append, lost before: %w", cluster.ErrUnknown)
	}
	if at := int(base) - l.cut; at >= 0 && at < len(l.entries) && l.entries[at].ID == id {
		return nil // an earlier attempt
	}
	if int(base) != l.cut+len(l.entries) {
		return fmt.Errorf("append behind %d: %w", base, cluster.ErrBeaten)
	}
	e := cluster.Entry{Version: base + 1, ID: id}
	for _, w := range writes {
		e.Writes = append(e.Writes, cluster.Write{Key: bytes.Clone(w.Key), Value: bytes.Clone(w.Value)})
		if w.Value == nil {
			delete(l.records, string(w.Key))
		} else {
			l.records[string(w.Key)] = bytes.Clone(w.Value)
		}
	}
	l.entries = append(l.entries, e)
	close(l.grown)
	l.grown = make(chan struct{})
	if fault == 1 || l.breaks {
		l.away, l.breaks = l.away || l.breaks, false
		l.unknown++
		return fmt.Errorf("append, lost behind: %w", cluster.ErrUnknown)
	}
	return nil
}

// Head implements cluster.Log.
func (l *Log) Head(context.Context) (cluster.Version, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return 0, fmt.Errorf("head: no connection")
	}
	return cluster.Version(l.cut + len(l.entries)), nil
}

// Tail implements cluster.Log.
func (l *Log) Tail(_ context.Context, after cluster.Version, limit int) ([]cluster.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, fmt.Errorf("tail: no connection")
	}
	if int(after) < l.cut {
		return nil, fmt.Errorf("tail behind %d: %w", after, cluster.ErrCut)
	}
	if int(after) >= l.cut+len(l.entries) {
		return nil, nil
	}
	rest := l.entries[int(after)-l.cut:]
	if limit == 1 {
		return rest[:1], nil
	}
	return slices.Clone(rest[:min(len(rest), 3)]), nil
}

// Records implements cluster.Log.
func (l *Log) Records(_ context.Context, each func(key, value []byte) error) (cluster.Version, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(l.records)) {
		if err := each([]byte(key), l.records[key]); err != nil {
			return 0, err
		}
	}
	return cluster.Version(l.cut + len(l.entries)), nil
}

// Wait implements cluster.Log.
func (l *Log) Wait(ctx context.Context, after cluster.Version) error {
	l.mu.Lock()
	grown, there := l.grown, l.cut+len(l.entries) > int(after)
	l.mu.Unlock()
	if there {
		return nil
	}
	poll := time.NewTimer(pollTime)
	defer poll.Stop()
	select {
	case <-grown:
		return nil
	case <-poll.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reserve implements cluster.Log.
func (l *Log) Reserve(_ context.Context, n uint32) (uint32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shards += n
	return l.shards - n + 1, nil
}

// Cut implements cluster.Log.
func (l *Log) Cut(context.Context) error { l.CutAll(); return nil }

// CutAll forgets all entries but the last.
func (l *Log) CutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.entries) - 1
	l.cut, l.entries = l.cut+n, l.entries[n:]
}

// BreakNext has the log go away behind the next append.
func (l *Log) BreakNext() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaks = true
}

// SetAway has Append, Head and Tail fail until it is called with false.
func (l *Log) SetAway(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
}

// Unknown returns how many appends failed without saying whether they were made.
func (l *Log) Unknown() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unknown
}

// All returns all records in words.
func (l *Log) All() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(l.records)) {
		fmt.Fprintf(&b, "%q %q\n", key, l.records[key])
	}
	return b.String()
}
