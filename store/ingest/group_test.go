package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
)

// TestGroups: small repositories that are synced side by side share shards, a
// large one beside them has its own, and each has its documents.
func TestGroups(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	all := map[string]map[string]string{}
	repos := map[string]*repo{}
	for i := range 12 {
		name := fmt.Sprintf("r%d", i)
		r := newRepo(t)
		all[name] = map[string]string{"a.go": "package a // " + name, "b/c.txt": "text of " + name, "same": "the same text"}
		if i == 3 {
			all[name]["large"] = strings.Repeat("more than a group takes\n", 200_000)
		}
		r.write(all[name])
		r.commit()
		repos[name] = r
		if _, err := f.ix.Add(context.Background(), ingest.Source{Name: name, Location: r.dir}); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	f.syncAll(slices.Sorted(maps.Keys(all)))
	took := time.Since(began)
	for name, files := range all {
		f.want(name, files)
	}
	// A group waits half a second, in which a slow machine reads little.
	most := min(max(len(all)/2, 3+int(took/(500*time.Millisecond))), len(all))
	if n := f.st.Metrics().Shards; n >= most {
		t.Errorf("%d repositories are in %d shards", len(all), n)
	}

	// Changes of all of them, beside merges.
	ctx, end := context.WithCancel(context.Background())
	var merges sync.WaitGroup
	merged := 0
	merges.Go(func() {
		for ctx.Err() == nil {
			n, err := f.ix.Merger.Merge(context.Background(), nil)
			if merged += n; err != nil {
				t.Error(err)
			}
		}
	})
	for round := range 6 {
		for name, r := range repos {
			all[name]["b/c.txt"] = fmt.Sprintf("%s in round %d", name, round)
			all[name][fmt.Sprintf("new%d", round)] = name
			r.write(all[name])
			r.commit()
		}
		f.syncAll(slices.Sorted(maps.Keys(all)))
		for name, files := range all {
			f.want(name, files)
		}
	}
	end()
	merges.Wait()
	if merged == 0 {
		t.Error("nothing was merged meanwhile")
	}
}

// syncAll syncs repositories side by side.
func (f *fixture) syncAll(names []string) {
	f.t.Helper()
	var syncs sync.WaitGroup
	defer syncs.Wait()
	for _, name := range names {
		syncs.Go(func() {
			if _, err := f.ix.Sync(context.Background(), name, nil); err != nil {
				f.t.Error(err)
			}
		})
	}
}
