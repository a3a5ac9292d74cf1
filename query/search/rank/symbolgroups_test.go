package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestLikelyIsTheBeginningOfASort: of more groups than may be read the first by
// rank are, and those of one rank in their order.
func TestLikelyIsTheBeginningOfASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &ranker{}
	all := []*target.Query{{Query: &compile.Query{}, Repositories: target.NewRepositories(
		&target.Repository{Stored: &store.Repository{}, Revisions: []*target.Revision{{}}},
	)}}
	var list []groupPlace
	for n := range 3 {
		var m shard.Memory
		const docs = 200
		for i := range docs {
			path := strings.Repeat("d/", rng.IntN(4)) + fmt.Sprint(i)
			m.Add(shard.Document{Path: path, Quality: byte(rng.IntN(3)), Language: []string{"C", "Markdown", ""}[rng.IntN(3)]}, []byte("x"))
		}
		view, err := m.View()
		if err != nil {
			t.Fatal(err)
		}
		p, err := shardplan.New(t.Context(), view, nil, nil, all, shardplan.DefaultBytes, true)
		if err != nil {
			t.Fatal(err)
		}
		r.plans = append(r.plans, NewPlan(p))
		for block := range 2 * docs {
			list = append(list, groupPlace{n, uint16(block), uint16(block / 2)})
		}
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b groupPlace) int { return int(r.rank(a)) - int(r.rank(b)) })
	if slices.Equal(sorted, list) {
		t.Fatal("the groups are in order already")
	}
	for _, n := range []int{-1, 0, 1, 2, 100, len(list) - 1, len(list), len(list) + 1} {
		want := sorted[:min(max(n, 0), len(list))]
		if n >= len(list) {
			want = list // nothing has to be chosen
		}
		if got := r.likely(list, n); !slices.Equal(got, want) {
			t.Errorf("the likely %d of %d are %v, want %v", n, len(list), got, want)
		}
	}
}
