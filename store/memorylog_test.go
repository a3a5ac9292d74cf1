package store_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store/cluster"
)

// memoryLog is a log in memory, whose appends fail in every way that they may.
type memoryLog struct {
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
	grown chan struct{}
	// unknown counts the appends that failed without saying whether they were made.
	unknown int
}

func newMemoryLog(seed uint64, faults bool) *memoryLog {
	return &memoryLog{rng: rand.New(rand.NewPCG(seed, 1)), faults: faults, records: map[string][]byte{}, grown: make(chan struct{})}
}

func (l *memoryLog) Append(_ context.Context, base cluster.Version, id cluster.ID, writes []cluster.Write) error {
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

func (l *memoryLog) Head(context.Context) (cluster.Version, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return 0, fmt.Errorf("head: no connection")
	}
	return cluster.Version(l.cut + len(l.entries)), nil
}

func (l *memoryLog) Tail(_ context.Context, after cluster.Version, limit int) ([]cluster.Entry, error) {
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

func (l *memoryLog) Records(_ context.Context, each func(key, value []byte) error) (cluster.Version, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(l.records)) {
		if err := each([]byte(key), l.records[key]); err != nil {
			return 0, err
		}
	}
	return cluster.Version(l.cut + len(l.entries)), nil
}

func (l *memoryLog) Wait(ctx context.Context, after cluster.Version) error {
	l.mu.Lock()
	grown, there := l.grown, l.cut+len(l.entries) > int(after)
	l.mu.Unlock()
	if there {
		return nil
	}
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *memoryLog) Reserve(_ context.Context, n uint32) (uint32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shards += n
	return l.shards - n + 1, nil
}

func (l *memoryLog) Cut(context.Context) error { l.cutAll(); return nil }
func (l *memoryLog) Close()                    {}

// cutAll forgets all entries but the last.
func (l *memoryLog) cutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.entries) - 1
	l.cut, l.entries = l.cut+n, l.entries[n:]
}

// breakNext has the log go away behind the next append.
func (l *memoryLog) breakNext() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaks = true
}

func (l *memoryLog) setAway(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
}

// all returns all records in words.
func (l *memoryLog) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(l.records)) {
		fmt.Fprintf(&b, "%q %q\n", key, l.records[key])
	}
	return b.String()
}
