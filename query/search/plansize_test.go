package search

import (
	"testing"

	"github.com/trawlsearch/trawl/postings"
)

// What a plan holds of thousands of patterns is bounded. Beyond that they may
// match anywhere, but in no document that was ruled out.
func TestPlansAreBounded(t *testing.T) {
	const basics, room = 500, 1 << 20
	p := &shardPlan{}
	forgot := 0
	for range basics {
		bp := &basicPlan{docs: postings.NewSet(1, 2, 3), atoms: make([]atomPlan, 2)}
		for i := range bp.atoms {
			bp.atoms[i].content = postings.Candidates{Docs: postings.Full(postings.MaxBlocks), Blocks: postings.Full(postings.MaxBlocks)}
			bp.atoms[i].path = postings.Candidates{Docs: &postings.Set{}}
		}
		p.settle(bp, room)
		for i := range bp.atoms {
			switch ap := &bp.atoms[i]; {
			case ap.path.All:
				t.Fatal("a path that is not searched may match")
			case ap.content.All:
				forgot++
			}
		}
		if bp.docs.Len() != 3 {
			t.Fatal("documents that were ruled out are back")
		}
	}
	if p.held > room+basics*16 || forgot < 2*basics*9/10 {
		t.Errorf("holds %d bytes, of %d patterns %d are forgotten; want at most %d bytes", p.held, 2*basics, forgot, room)
	}
}

// Few shards are planned together when their plans are large.
func TestShardsTogether(t *testing.T) {
	s := New(nil, Settings{})
	for _, tt := range []struct{ basics, atoms, want int }{
		{1, 0, shardsAtOnce},
		{1, 5, shardsAtOnce},
		{10, 2, shardsAtOnce},
		{1, 100, 2 * plansFull},
		{1, 10_000, plansFull},
		{1000, 10, plansFull},
	} {
		pass := make([]*basic, tt.basics)
		for i := range pass {
			pass[i] = &basic{atoms: make([]*atom, tt.atoms)}
		}
		if got := s.shardsTogether(pass); got != tt.want {
			t.Errorf("%d queries of %d patterns: %d shards together, want %d", tt.basics, tt.atoms, got, tt.want)
		}
	}
}
