package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// reindex marks a repository.
func (f *fixture) reindex(name string) *store.Repository {
	f.t.Helper()
	before := f.repository(name)
	r, err := f.st.Repositories().Reindex(name)
	if err != nil {
		f.t.Fatal(err)
	}
	if !r.Reindexes() || r.Generation != before.Generation || !reflect.DeepEqual(r.Shards, before.Shards) {
		f.t.Fatalf("got %+v, want a mark and the index of before", r)
	}
	return r
}

// wantReindexed checks that a repository was read again: it holds what it held before in
// other shards, and those of before are gone unless others are in them.
func (f *fixture) wantReindexed(before *store.Repository, shared bool) {
	f.t.Helper()
	after := f.repository(before.Name)
	if after.Reindexes() || after.Generation != before.Generation+1 {
		f.t.Errorf("%s: got generation %d, to be reindexed %v, want generation %d", after.Name, after.Generation, after.Reindexes(), before.Generation+1)
	}
	if after.Documents != before.Documents || after.TextBytes != before.TextBytes || after.Skipped != before.Skipped || !reflect.DeepEqual(after.Branches, before.Branches) {
		f.t.Errorf("%s: got %d documents, %d bytes, %d skipped of %v, want %d, %d, %d of %v", after.Name,
			after.Documents, after.TextBytes, after.Skipped, after.Branches, before.Documents, before.TextBytes, before.Skipped, before.Branches)
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, id := range before.Shards {
		if _, there := sn.Shard(id); there != shared {
			f.t.Errorf("%s: shard %d of before is there: %v, want %v", after.Name, id, there, shared)
		}
	}
	if stray := strayShards(f.st); !shared && len(stray) > len(after.History.Shards) {
		f.t.Errorf("%s: shards %v belong to nothing", after.Name, stray)
	}
}

// indexedTexts are documents of two branches, some of which differ.
func indexedTexts(t *testing.T, bytes int) *repo {
	t.Helper()
	r := newRepo(t)
	r.write(map[string]string{"a": "of both", "b/c": "of main", "large": strings.Repeat("some text\n", bytes/10), "d": "\x00\x01"})
	r.commitAt(1, "first")
	r.git("checkout", "-q", "-b", "next")
	r.write(map[string]string{"b/c": "of next", "e": "of next alone"})
	r.commitAt(2, "second")
	r.git("checkout", "-q", "main")
	return r
}

// TestReindex: all that is indexed is read again although nothing has changed, also as
// one of a group and beside others in a shard.
func TestReindex(t *testing.T) {
	for _, c := range []struct {
		name   string
		bytes  int
		shared bool
	}{{"small", 100, false}, {"small beside another", 100, true}, {"large", 5 << 20, false}} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, ingest.Options{})
			r, other := indexedTexts(t, c.bytes), newRepo(t)
			other.write(map[string]string{"a": "another"})
			other.commit()
			f.sync("r", r)
			branches := []string{"next"}
			if _, err := f.st.Repositories().ChangeFacts("r", store.FactsChange{Branches: &branches}); err != nil {
				t.Fatal(err)
			}
			f.sync("r", r)
			if c.shared {
				for i := range 3 {
					f.sync(fmt.Sprint("other", i), other)
				}
				f.merge()
			}
			f.history()
			main, next := f.branch("r", 0), f.branch("r", 1)
			before := f.reindex("r")
			f.wantBranch("r", 0, main)
			res := f.sync("r", r)
			if res.AsBefore || res.Added != before.Documents || res.Removed != before.Documents || res.Unchanged != 0 {
				t.Errorf("got %+v, want %d documents added and removed", res, before.Documents)
			}
			f.wantReindexed(before, c.shared)
			f.wantBranch("r", 0, main)
			f.wantBranch("r", 1, next)
			if res := f.sync("r", r); !res.AsBefore {
				t.Errorf("got %+v, want nothing to do", res)
			}
			if res := f.history(); res.Repositories != 1 || res.Commits != 1 {
				t.Errorf("got %+v, want the commit of main", res)
			}
			if c.bytes < 1<<20 { // a larger diff is not kept
				f.checkHistory("r", r, 10)
			}
			if res := f.history(); res.Commits != 0 {
				t.Errorf("got %+v, want no commits left to read", res)
			}
		})
	}
}

// TestReindexFails: what is indexed stays, and so does the mark, over a failure, an
// interruption and a restart.
func TestReindexFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	f := reopen(t, nil, dir)
	defer func() { f.close(t) }()
	r := indexedTexts(t, 100)
	f.sync("r", r)
	want := f.documents("r")
	before := f.reindex("r")
	if err := os.Rename(r.dir, r.dir+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Sync(context.Background(), "r", nil); err == nil {
		t.Error("synced without a source")
	}
	if now := f.repository("r"); !now.Reindexes() || now.LastError == "" {
		t.Errorf("got %+v, want a mark and an error", now)
	}
	f.want("r", want)
	if err := os.Rename(r.dir+".away", r.dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := f.ix.Sync(ctx, "r", func(p ingest.Progress) {
		if p.Phase == "list" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an interruption", err)
	}
	f.want("r", want)
	f = reopen(t, f, dir)
	f.want("r", want)
	if !f.repository("r").Reindexes() {
		t.Error("the mark is lost over a restart")
	}
	f.sync("r", r)
	f.want("r", want)
	f.wantReindexed(before, false)
}

// TestReindexDuringSync: reindexing that is asked for while a sync commits something else
// is left to the next one.
func TestReindexDuringSync(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := indexedTexts(t, 100)
	f.sync("r", r)
	r.write(map[string]string{"new": "new"})
	r.commitAt(3, "third")
	asked := false
	_, err := f.ix.Sync(context.Background(), "r", func(p ingest.Progress) {
		if p.Phase == "index" && !asked {
			asked = true
			f.reindex("r")
		}
	})
	if err != nil || !asked {
		t.Fatalf("sync: %v, asked %v", err, asked)
	}
	before := f.repository("r")
	if !before.Reindexes() || before.Documents != 5 {
		t.Fatalf("got %d documents, to be reindexed %v, want the new one and the mark", before.Documents, before.Reindexes())
	}
	f.sync("r", r)
	f.wantReindexed(before, false)
}

// TestReindexLargeHistory: the commits of a history that is not small are replaced at
// once, by those of the same tip or of another, under another mailmap.
func TestReindexLargeHistory(t *testing.T) {
	f := newFixture(t, ingest.Options{ShardBlocks: 40})
	r := newRepo(t)
	var stream strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Co <co@example.org> %d +0000\ndata 4\nfile\n", 1_700_000_000+i)
		fmt.Fprintf(&stream, "M 100644 inline f\ndata %d\n%d\n", len(fmt.Sprint(i)), i)
	}
	gitrepo.Run(t, r.dir, nil, stream.String(), "fast-import", "--quiet")
	r.git("reset", "-q", "--hard")
	f.sync("r", r)
	f.history()
	f.checkHistory("r", r, 2000)
	before := f.reindex("r")
	interruptHistory(t, f, 0)
	if _, h := f.keptCommits("r"); !reflect.DeepEqual(h, before.History) {
		t.Errorf("got %+v after an interruption, want %+v", h, before.History)
	}
	f.checkHistory("r", r, 2000)
	if stray := strayShards(f.st); len(stray) != len(before.History.Shards) {
		t.Errorf("got shards %v beside texts, want %v", stray, before.History.Shards)
	}
	if res := f.history(); res.Commits != 1100 {
		t.Errorf("got %+v, want 1100 commits", res)
	}
	f.checkHistory("r", r, 2000)
	_, h := f.keptCommits("r")
	if h.Again() || h.Commits != before.History.Commits || h.Diffs != before.History.Diffs || h.Shards[0] == before.History.Shards[0] {
		t.Errorf("got %+v, want as many in other shards: %+v", h, before.History)
	}
	f.sync("r", r)
	f.reindex("r")
	r.write(map[string]string{".mailmap": "New <new@example.org> <co@example.org>\n"})
	r.commitAt(5000, "mailmap")
	f.sync("r", r)
	if res := f.history(); res.Commits != 1101 {
		t.Errorf("got %+v, want 1101 commits", res)
	}
	f.checkHistory("r", r, 2000)
}
