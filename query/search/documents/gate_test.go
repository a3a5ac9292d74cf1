package documents

import (
	"context"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// A gate opens to the group after those that were sent, and to others while too
// few matches were found; to none when nothing more is wanted, as the search ends
// right after.
func TestGate(t *testing.T) {
	matches := []query.Match{&query.RepoMatch{}, &query.RepoMatch{}}
	tests := []struct {
		name        string
		left        int
		found, sent bool
		leftAfter   int
		group       int
		want        bool
	}{
		{name: "first group", left: 2, group: 0, want: true},
		{name: "ahead while too few were found", left: 3, found: true, group: 5, want: true},
		{name: "ahead when enough were found", left: 2, found: true, group: 1},
		{name: "next group when what was found was not enough", left: 2, found: true, sent: true, leftAfter: 1, group: 1, want: true},
		{name: "next group when nothing more is wanted", left: 2, found: true, sent: true, leftAfter: 0, group: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate(0, tt.left, false)
			if tt.found {
				g.noteFound(matches)
			}
			if tt.sent {
				g.noteSent(len(matches), tt.leftAfter)
			}
			ctx := t.Context()
			if !tt.want {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
			}
			if got := g.wait(ctx, tt.group) == nil; got != tt.want {
				t.Errorf("open is %t, want %t", got, tt.want)
			}
		})
	}
}
