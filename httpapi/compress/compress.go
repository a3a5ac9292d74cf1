package compress

import (
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Least is the size in bytes from which a text is worth compressing: with its headers a
// smaller one fits a packet or two of a network as it is.
const Least = 1 << 10

// Accepts reports whether a client's Accept-Encoding allows gzip: by name,
// or by * without naming it, and not with a quality of zero.
func Accepts(header string) bool {
	wildcard := false
	for entry := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(entry, ";")
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return quality(params) > 0
		case "*":
			wildcard = quality(params) > 0
		}
	}
	return wildcard
}

// quality reads "q=0.5"; what it cannot read is 1.
func quality(params string) float64 {
	name, value, ok := strings.Cut(strings.TrimSpace(params), "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 1
	}
	return q
}

// Pool keeps compressors, which hold about a megabyte each, for the next
// answer. It is safe for concurrent use.
type Pool struct {
	left *semaphore.Weighted // of those that may be in use
	pool sync.Pool
}

// NewPool returns a pool of which so many compressors are in use at once.
func NewPool(most int) *Pool { return &Pool{left: semaphore.NewWeighted(int64(most))} }

// Get returns a compressor, or nil when too many are in use.
func (p *Pool) Get(w io.Writer) *gzip.Writer {
	if !p.left.TryAcquire(1) {
		return nil
	}
	if z, ok := p.pool.Get().(*gzip.Writer); ok {
		z.Reset(w)
		return z
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic("compress: gzip refuses its own level: " + err.Error())
	}
	return z
}

// Put takes a compressor back.
func (p *Pool) Put(z *gzip.Writer) {
	z.Reset(io.Discard) // it must not keep the response alive
	p.pool.Put(z)
	p.left.Release(1)
}
