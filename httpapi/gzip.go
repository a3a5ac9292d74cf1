package httpapi

import (
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"
)

// acceptsGzip reports whether a client's Accept-Encoding allows gzip: by name,
// or by * without naming it, and not with a quality of zero.
func acceptsGzip(header string) bool {
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

// zipPool keeps compressors, which hold about a megabyte each, for the next
// stream. As many as left allows are in use; nil is without a limit.
type zipPool struct {
	left *semaphore.Weighted
	pool sync.Pool
}

// get returns a compressor, or nil when too many are in use.
func (p *zipPool) get(w io.Writer) *gzip.Writer {
	if p.left != nil && !p.left.TryAcquire(1) {
		return nil
	}
	if z, ok := p.pool.Get().(*gzip.Writer); ok {
		z.Reset(w)
		return z
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic("httpapi: gzip refuses its own level: " + err.Error())
	}
	return z
}

func (p *zipPool) put(z *gzip.Writer) {
	z.Reset(io.Discard) // it must not keep the response alive
	p.pool.Put(z)
	if p.left != nil {
		p.left.Release(1)
	}
}
