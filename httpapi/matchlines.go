package httpapi

import (
	"time"

	"github.com/trawlsearch/trawl/query"
)

// MatchLines writes matches as a stream with chunk matches would send them, but
// whole and one a line. It is used by one goroutine.
type MatchLines struct{ encoder matchEncoder }

// NewMatchLines returns a writer; ages of commits are relative to now.
func NewMatchLines(now func() time.Time) *MatchLines {
	return &MatchLines{matchEncoder{chunks: true, now: now}}
}

// Append appends m and a newline.
func (l *MatchLines) Append(dst []byte, m query.Match) []byte {
	return append(l.encoder.append(dst, m), '\n')
}
