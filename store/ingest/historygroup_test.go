package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// manyRepos makes small repositories of three commits, one of them with a mailmap and
// one with a merge.
func manyRepos(t *testing.T, n int) map[string]*repo {
	t.Helper()
	repos := map[string]*repo{}
	for i := range n {
		name := fmt.Sprint("r", i)
		r := newRepo(t)
		for k := range 3 {
			r.write(map[string]string{"same.txt": fmt.Sprint("line ", k), fmt.Sprintf("f%d.txt", k): "text of " + name})
			r.commitAt(10*i+k, fmt.Sprintf("commit %d of %s", k, name))
		}
		switch i {
		case 1:
			r.write(map[string]string{".mailmap": "Known <known@example.org> <author@example.org>"})
			r.commitAt(10*i+5, "mailmap")
		case 2:
			r.git("checkout", "-qb", "side", "HEAD~1")
			r.write(map[string]string{"side.txt": "side"})
			r.commitAt(10*i+5, "side")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "-m", "merged", "side")
		}
		repos[name] = r
	}
	return repos
}

func (f *fixture) addAll(repos map[string]*repo) {
	f.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(repos)) {
		if _, err := f.ix.Add(context.Background(), ingest.Source{Name: name, Location: repos[name].dir}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// historyShards returns the shards of commits.
func (f *fixture) historyShards() (ids []uint32) {
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		if v.Header.IsHistory() {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// TestHistoriesShareShards: the histories of many repositories are written together,
// by three processes of git for each, its text included, and none once they are
// read. What happens to one of them leaves the others alone, beside merges too.
func TestHistoriesShareShards(t *testing.T) {
	repos := manyRepos(t, 9)
	f := newFixture(t, ingest.Options{})
	f.addAll(repos)
	ran := countGit(t)
	f.syncAll(slices.Sorted(maps.Keys(repos)))
	began := time.Now()
	if res := f.history(); res.Repositories != len(repos) || res.Commits != 3*len(repos)+3 {
		t.Errorf("History read %+v", res)
	}
	took := time.Since(began)
	counts := map[string]int{}
	for _, name := range strings.Fields(ran()) {
		counts[name]++
	}
	// The mailmap takes four more: for its size, twice, its id and whom it knows.
	want := map[string]int{"ls-tree": 9, "cat-file": 9 + 2, "log": 9, "rev-parse": 1, "check-mailmap": 1}
	if !maps.Equal(counts, want) {
		t.Errorf("git ran %v, want %v", counts, want)
	}
	// A group is gathered for a second, in which a slow machine reads little.
	if shards := f.historyShards(); len(shards) > min(max(3, 1+int(took/time.Second)), len(repos)-1) {
		t.Errorf("%d histories are in the shards %v after %v", len(repos), shards, took)
	}
	f.checkHistories(repos)
	ran()
	if f.history(); ran() != "" {
		t.Error("git ran although nothing has changed")
	}
	if people := f.people("r1"); len(people) != 1 {
		t.Errorf("people of r1 are %v", people)
	}

	merging, end := context.WithCancel(context.Background())
	var merges sync.WaitGroup
	merges.Go(func() {
		for merging.Err() == nil {
			if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
				t.Error(err)
			}
		}
	})
	defer merges.Wait()
	defer end()
	for round := range 4 {
		for i, name := range slices.Sorted(maps.Keys(repos)) {
			r := repos[name]
			r.write(map[string]string{"new.txt": fmt.Sprint(round)})
			if i%3 == round%3 {
				r.git("reset", "-q", "--soft", "HEAD~1") // rewritten
			}
			r.commitAt(200+round, fmt.Sprintf("round %d of %s", round, name))
		}
		f.syncAll(slices.Sorted(maps.Keys(repos)))
		f.history()
		f.checkHistories(repos)
	}
	if err := f.ix.Remove(context.Background(), "r4"); err != nil {
		t.Fatal(err)
	}
	delete(repos, "r4")
	f.checkHistories(repos)

	end()
	merges.Wait()

	// Other settings.
	f.ix = ingest.New(f.st, ingest.Options{MinFreeBytes: -1, HistoryCommits: 2, HistoryDiffs: 1})
	f.history()
	for name := range repos {
		if h := f.record(name).History; h.Commits != 2 || h.Diffs != 1 || !h.More {
			t.Errorf("of 2 commits and 1 diff of %s are kept %+v", name, h)
		}
	}
	f.ix = ingest.New(f.st, ingest.Options{MinFreeBytes: -1})
	f.history()
	f.checkHistories(repos)
	f.merge()
	f.checkHistories(repos)
	if shards := f.historyShards(); len(shards) > 3 {
		t.Errorf("%d histories are in the shards %v once they are merged", len(repos), shards)
	}
	f.wantSound(t)
}

// checkHistories holds what is kept of all repositories against git.
func (f *fixture) checkHistories(repos map[string]*repo) {
	f.t.Helper()
	for name, r := range repos {
		f.checkHistory(name, r, ingest.AllHistory)
	}
}

func (f *fixture) people(name string) store.People {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	people, err := sn.People(f.record(name).ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return people
}

// TestGroupsCrash: the power fails at calls of the file system while groups of several
// repositories are written, and while they are merged. What was acknowledged is
// there, each repository is at its last or its next state, whole, and the next pass
// goes on.
func TestGroupsCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := &crasher{mem: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(5, 6)), now: crash{acknowledged: map[string]map[string]string{}}}
	options := ingest.Options{ShardBlocks: 60, MinFreeBytes: -1}
	st, err := store.Open("data", store.Options{FS: errorfs.Wrap(c.mem, c), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, st, ingest.New(st, options)}
	repos := manyRepos(t, 5)
	names := slices.Sorted(maps.Keys(repos))
	f.addAll(repos)
	crashes := 0
	before := map[string]string{}
	for round := range race.Scaled(6, 3) {
		for i, name := range names {
			r := repos[name]
			r.write(map[string]string{"new.txt": fmt.Sprintf("%s in round %d", name, round)})
			if round > 0 && i == rng.IntN(len(names)) {
				r.git("reset", "-q", "--soft", "HEAD~1")
			}
			r.commitAt(300+round, fmt.Sprint("round ", round))
		}
		after := map[string]string{}
		for name, r := range repos {
			after[name] = r.git("rev-parse", "HEAD")
		}
		f.syncAll(names)
		f.history()
		if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		for _, crash := range c.take(race.Scaled(12, 5)) {
			crashes++
			crash.checkGroups(t, options, repos, before, after)
		}
		if t.Failed() {
			t.FailNow()
		}
		before = after
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if crashes < race.Scaled(30, 8) {
		t.Errorf("%d crashes", crashes)
	}
}

// checkGroups opens what a crash left. Each repository has the text and the commits of a
// commit before or after.
func (c crash) checkGroups(t *testing.T, options ingest.Options, repos map[string]*repo, before, after map[string]string) {
	t.Helper()
	st, err := store.Open("data", store.Options{FS: c.fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, st, ingest.New(st, options)}
	sn := st.Snapshot()
	for _, known := range sn.Repositories() {
		name := known.Name
		if at := known.Commit(); at != "" || before[name] != "" {
			if at != before[name] && at != after[name] {
				t.Errorf("the text of %s is at %q, not at %q or %q", name, at, before[name], after[name])
			}
			f.want(name, repos[name].files(at))
		}
		h := known.History
		if h.Tip != before[name] && h.Tip != after[name] || h.Reading != "" {
			t.Errorf("the history of %s is at %q (%q), not at %q or %q", name, h.Tip, h.Reading, before[name], after[name])
		}
		if h.Tip != "" {
			f.checkHistoryAt(name, repos[name], h.Tip, ingest.AllHistory)
		}
	}
	sn.Close()
	checkLists(t, st)
	f.wantSound(t)
	f.addAll(repos)
	f.syncAll(slices.Sorted(maps.Keys(repos)))
	if res, err := f.ix.Histories.Read(context.Background(), nil); err != nil || len(res.Failed) > 0 {
		t.Error(errors.Join(err, fmt.Errorf("failed %q", res.Failed)))
	}
	f.merge()
	f.checkHistories(repos)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// files returns the files of a commit.
func (r *repo) files(commit string) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for _, path := range strings.Fields(r.git("ls-tree", "-r", "--name-only", commit)) {
		out[path] = r.git("show", commit+":"+path)
	}
	return out
}
