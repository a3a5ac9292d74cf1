package shardplan

import (
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
)

// What a plan holds of thousands of patterns is bounded. Beyond that they may
// match anywhere, but in no document that was ruled out.
func TestPlansAreBounded(t *testing.T) {
	const basics, room = 500, 1 << 20
	p := &Plan{}
	forgot := 0
	for range basics {
		bp := &Basic{Docs: postings.NewSet(1, 2, 3), Atoms: make([]Atom, 2)}
		for i := range bp.Atoms {
			bp.Atoms[i].Content = postings.Candidates{Docs: postings.Full(postings.MaxBlocks), Blocks: postings.Full(postings.MaxBlocks)}
			bp.Atoms[i].Path = postings.Candidates{Docs: &postings.Set{}}
		}
		p.limitSize(bp, room)
		for i := range bp.Atoms {
			switch ap := &bp.Atoms[i]; {
			case ap.Path.All:
				t.Fatal("a path that is not searched may match")
			case ap.Content.All:
				forgot++
			}
		}
		if bp.Docs.Len() != 3 {
			t.Fatal("documents that were ruled out are back")
		}
	}
	if p.held > room+basics*16 || forgot < 2*basics*9/10 {
		t.Errorf("holds %d bytes, of %d patterns %d are forgotten; want at most %d bytes", p.held, 2*basics, forgot, room)
	}
}

// Few shards are planned together when their plans are large.
func TestShardsTogether(t *testing.T) {
	for _, tt := range []struct{ basics, atoms, want int }{
		{1, 0, MostTogether},
		{1, 5, MostTogether},
		{10, 2, MostTogether},
		{1, 100, 2 * fullPlans},
		{1, 10_000, fullPlans},
		{1000, 10, fullPlans},
	} {
		queries := make([]*target.Query, tt.basics)
		for i := range queries {
			queries[i] = &target.Query{Query: &compile.Query{Atoms: make([]*compile.Atom, tt.atoms)}}
		}
		if got := Together(DefaultBytes, queries); got != tt.want {
			t.Errorf("%d queries of %d patterns: %d shards together, want %d", tt.basics, tt.atoms, got, tt.want)
		}
	}
}
