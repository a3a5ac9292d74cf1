package ingest_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// commitAt commits everything with a message, so many seconds after a moment.
func (r *repo) commitAt(second int, message string) {
	r.t.Helper()
	date := fmt.Sprintf("%d +0100", 1_700_000_000+second)
	r.git("add", "-A")
	gitrepo.Run(r.t, r.dir, []string{"GIT_AUTHOR_NAME=Au Thor", "GIT_AUTHOR_EMAIL=author@example.org",
		"GIT_COMMITTER_NAME=Co", "GIT_COMMITTER_EMAIL=co@example.org", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date},
		"", "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
}

func (f *fixture) history() ingest.HistoryResult {
	f.t.Helper()
	res, err := f.ix.Histories.Read(context.Background(), nil)
	if err != nil || len(res.Failed) > 0 {
		f.t.Fatalf("History: %v, failed %q", err, res.Failed)
	}
	return res
}

// keptCommit is a commit as the store has it.
type keptCommit struct {
	table  *shard.Commits
	i      int
	show   string
	commit shard.Commit
}

// keptCommits returns the commits of a repository in log order, and the record.
func (f *fixture) keptCommits(name string) ([]keptCommit, store.History) {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	var out []keptCommit
	for _, id := range r.History.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			f.t.Fatalf("shard %d of %s is not there", id, name)
		}
		table, err := v.Commits()
		if err != nil {
			f.t.Fatal(err)
		}
		docs, err := v.Documents()
		if err != nil {
			f.t.Fatal(err)
		}
		text := v.Text()
		n := 0
		for i := range table.Len() {
			if table.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(uint16(table.Message[i])) {
				continue
			}
			n++
			var b strings.Builder
			for d := table.Message[i]; d < table.Message[i+1]; d++ {
				slice, err := text.Slice(docs.TextStart[d], docs.TextStart[d+1])
				if err != nil {
					f.t.Fatal(err)
				}
				fmt.Fprintf(&b, "%q %q %q %q\n%s", table.Status[d], table.OldPath(int(d)), docs.Path(int(d)), docs.Reason[d], slice)
			}
			out = append(out, keptCommit{table, i, b.String(), table.At(i)})
		}
		if n == 0 {
			f.t.Errorf("shard %d is one of %s and has nothing of it", id, name)
		}
		text.Close()
	}
	slices.SortFunc(out, func(a, b keptCommit) int { return shard.CompareLog(a.table, a.i, b.table, b.i) })
	return out, r.History
}

// checkHistory compares what is kept with what git tells.
func (f *fixture) checkHistory(name string, r *repo, diffs int) {
	f.t.Helper()
	f.checkHistoryAt(name, r, r.git("rev-parse", "HEAD"), diffs)
}

// checkHistoryAt is checkHistory of another tip than HEAD.
func (f *fixture) checkHistoryAt(name string, r *repo, tip string, diffs int) {
	f.t.Helper()
	kept, h := f.keptCommits(name)
	g, err := git.Open(context.Background(), r.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	var oids []string
	if err := g.RevList(context.Background(), []string{tip}, nil, func(l git.Listed) error {
		oids = append(oids, l.OID)
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, k := range kept {
		got = append(got, hex.EncodeToString(k.commit.OID))
	}
	if !slices.Equal(got, oids) {
		f.t.Fatalf("commits of %s\n got %q\nwant %q", name, got, oids)
	}
	if h.Tip != tip || h.Reading != "" || h.Commits != len(oids) {
		f.t.Errorf("history %+v, want tip %s and %d commits", h, tip, len(oids))
	}
	withDiffs, at := 0, 0
	err = g.Log(context.Background(), oids, git.LogOptions{Depth: git.LogHunks}, func(c *git.Commit) error {
		k := kept[at]
		at++
		var b strings.Builder
		fmt.Fprintf(&b, "%q %q %q %q\n%s", byte(0), "", "", "", c.Message)
		for _, d := range c.Files {
			reason := ""
			switch {
			case k.commit.State == shard.CommitPaths:
				d.Hunks, reason = nil, "too-old"
			case d.State == git.DiffBinary:
				reason = "binary"
			}
			fmt.Fprintf(&b, "%q %q %q %q\n%s", d.Status, d.OldPath, d.Path, reason, d.Hunks)
		}
		if k.show != b.String() {
			f.t.Errorf("commit %s\n got %s\nwant %s", c.OID, k.show, b.String())
		}
		if k.commit.State == shard.CommitRead {
			withDiffs++
		}
		if (k.commit.State == shard.CommitMerge) != c.Merge() {
			f.t.Errorf("commit %s with %d parents is in state %d", c.OID, len(c.Parents), k.commit.State)
		}
		if k.commit.Author.Seconds != c.Author.Seconds || k.commit.Author.Person != shard.Person(c.Author.Person) ||
			k.commit.Committer.Seconds != c.Committer.Seconds || int(k.commit.Author.ZoneMinutes) != c.Author.ZoneMinutes {
			f.t.Errorf("commit %s is %+v, want %+v", c.OID, k.commit, c)
		}
		if at <= diffs && k.commit.State == shard.CommitPaths {
			f.t.Errorf("commit %d has no diffs", at)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if withDiffs != h.Diffs {
		f.t.Errorf("%d commits with diffs, counted are %d", withDiffs, h.Diffs)
	}
}

// TestHistoryOfRandomChanges commits, merges, rewinds and removes at random,
// reads after each step, sometimes with an interruption, and merges shards.
func TestHistoryOfRandomChanges(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 0))
			diffs := []int{1, 4, 1000}[seed]
			f := newFixture(t, ingest.Options{ShardBlocks: 12, HistoryDiffs: diffs})
			r := newRepo(t)
			clock := 0
			commit := func() {
				clock += rng.IntN(3) // many of the same second
				r.write(map[string]string{fmt.Sprintf("d%d/f%d", rng.IntN(3), rng.IntN(4)): strings.Repeat(fmt.Sprintf("line %d\n", rng.IntN(50)), 1+rng.IntN(900))})
				r.commitAt(clock, fmt.Sprintf("change %d\n\nbody", clock))
			}
			commit()
			for step := range 12 {
				for range 1 + rng.IntN(6) {
					commit()
				}
				switch rng.IntN(4) {
				case 0:
					r.git("checkout", "-q", "-b", fmt.Sprint("side", step), "HEAD~1")
					clock++
					commit()
					r.git("checkout", "-q", "main")
					clock++
					r.git("merge", "-q", "-s", "ours", "-m", "merge", fmt.Sprint("side", step))
				case 1:
					r.git("reset", "-q", "--hard", "HEAD~1")
					r.git("reflog", "expire", "--expire=now", "--all")
					r.git("gc", "-q", "--prune=now")
				case 2:
					r.git("mv", "-k", "-f", fmt.Sprintf("d%d", rng.IntN(3)), fmt.Sprint("moved", step))
					r.commitAt(clock, "moved")
				}
				f.sync("r", r)
				if rng.IntN(2) == 0 {
					interruptHistory(t, f, rng.IntN(3))
				}
				f.history()
				f.checkHistory("r", r, diffs)
				if rng.IntN(3) == 0 {
					f.merge()
					f.checkHistory("r", r, diffs)
				}
				if again := f.history(); again.Commits != 0 {
					t.Errorf("nothing is new, but %d commits were read", again.Commits)
				}
			}
			if err := f.ix.Remove(context.Background(), "r"); err != nil {
				t.Fatal(err)
			}
			sn := f.st.Snapshot()
			defer sn.Close()
			if n := len(sn.Shards()); n > 0 {
				t.Errorf("%d shards are left of a removed repository", n)
			}
		})
	}
}

// interruptHistory ends a pass at one of its reports of progress.
func interruptHistory(t *testing.T, f *fixture, after int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := f.ix.Histories.Read(ctx, func(ingest.Progress) {
		if after--; after < 0 {
			cancel()
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func (f *fixture) merge() {
	f.t.Helper()
	if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
		f.t.Fatal(err)
	}
}

// TestHistoryOfSkewedClocks reads commits on one that is dated in the future,
// and on one before 1970.
func TestHistoryOfSkewedClocks(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	for _, second := range []int{0, 500_000_000, 5, -1_600_000_000, 3, 4} {
		r.commitAt(second, fmt.Sprint(second))
		f.sync("r", r)
		f.history()
		f.checkHistory("r", r, 10)
	}
}

// TestHistoryOfMany merges the histories of several repositories into one
// shard, and takes one out again.
func TestHistoryOfMany(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	repos := make([]*repo, 5)
	for i := range repos {
		repos[i] = newRepo(t)
		for k := range 3 {
			repos[i].write(map[string]string{"a": fmt.Sprint(i, k)})
			repos[i].commitAt(k, "m")
		}
		f.sync(fmt.Sprint("r", i), repos[i])
	}
	if res := f.history(); res.Repositories != 5 || res.Commits != 15 {
		t.Errorf("result %+v, want 15 commits of 5 repositories", res)
	}
	f.merge()
	for i, r := range repos {
		f.checkHistory(fmt.Sprint("r", i), r, 10)
	}
	sn := f.st.Snapshot()
	histories := 0
	for _, v := range sn.Shards() {
		if v.Header.IsHistory() {
			histories++
		}
	}
	sn.Close()
	if histories != 1 {
		t.Errorf("%d history shards, want 1", histories)
	}
	if err := f.ix.Remove(context.Background(), "r2"); err != nil {
		t.Fatal(err)
	}
	repos[3].git("reset", "-q", "--hard", "HEAD~1")
	f.sync("r3", repos[3])
	f.history()
	for _, i := range []int{0, 1, 3, 4} {
		f.checkHistory(fmt.Sprint("r", i), repos[i], 10)
	}
}

func TestHistoryDepth(t *testing.T) {
	r := newRepo(t)
	for k := range 6 {
		r.write(map[string]string{"a": fmt.Sprint(k)})
		r.commitAt(k, fmt.Sprint("m", k))
	}
	dir := filepath.Join(t.TempDir(), "data")
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, tt := range []struct {
		commits, diffs          int
		wantCommits, wantDiffs  int
		wantMore                bool
		addedCommits, addedDiff int
	}{
		{ingest.AllHistory, 2, 6, 2, false, 1, 1},
		{4, 2, 4, 2, true, 1, 1},
		{-1, 5, 0, 0, true, 0, 0},
		{0, -1, 8 + 1, 0, false, 1, 0},
		{ingest.AllHistory, ingest.AllHistory, 10, 10, false, 1, 1},
	} {
		f := &fixture{t, st, ingest.New(st, ingest.Options{MinFreeBytes: -1, HistoryCommits: tt.commits, HistoryDiffs: tt.diffs})}
		f.sync("r", r)
		f.history()
		kept, h := f.keptCommits("r")
		if len(kept) != tt.wantCommits || h.Commits != tt.wantCommits || h.Diffs != tt.wantDiffs || h.More != tt.wantMore {
			t.Errorf("of %d commits and %d diffs are kept %d, %+v; want %d and %d, more %t",
				tt.commits, tt.diffs, len(kept), h, tt.wantCommits, tt.wantDiffs, tt.wantMore)
		}
		r.write(map[string]string{"b": fmt.Sprint(tt)})
		r.commitAt(10+tt.commits%100, "later")
		f.sync("r", r)
		if res := f.history(); res.Commits != tt.addedCommits {
			t.Errorf("of one new commit are read %d, want %d", res.Commits, tt.addedCommits)
		}
		if _, again := f.keptCommits("r"); again.Diffs != h.Diffs+tt.addedDiff || again.More != tt.wantMore {
			t.Errorf("after one more commit %+v, before %+v", again, h)
		}
	}
}

func TestHistoryFollowsMailmap(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	r.commitAt(0, "m")
	f.sync("r", r)
	f.history()
	who := func() string {
		sn := f.st.Snapshot()
		defer sn.Close()
		rec, err := sn.Repository("r")
		if err != nil {
			t.Fatal(err)
		}
		people, err := sn.People(rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		return people.Is(shard.Person{Name: "Au Thor", Email: "author@example.org"}).Name + ", " + people.Is(shard.Person{Name: "New", Email: "new@example.org"}).Name
	}
	if got := who(); got != "Au Thor, New" {
		t.Errorf("without a mailmap: %s", got)
	}
	r.write(map[string]string{".mailmap": "Proper <author@example.org>\nFresh <new@example.org>\n"})
	r.commitAt(1, "m")
	f.sync("r", r)
	f.history()
	if got := who(); got != "Proper, New" {
		t.Errorf("with a mailmap: %s", got)
	}
	r.git("-c", "user.name=New", "-c", "user.email=new@example.org", "commit", "-q", "--allow-empty", "-m", "x", "--author=New <new@example.org>")
	f.sync("r", r)
	f.history()
	if got := who(); got != "Proper, Fresh" {
		t.Errorf("with a new author: %s", got)
	}
	r.git("rm", "-q", ".mailmap")
	r.commitAt(3, "m")
	f.sync("r", r)
	f.history()
	if got := who(); got != "Au Thor, New" {
		t.Errorf("with the mailmap gone: %s", got)
	}
}

// TestHistoryPassesOverDamage reads around a blob and a tree that git cannot
// read.
func TestHistoryPassesOverDamage(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	r.write(map[string]string{"kept": "x"})
	r.commitAt(0, "one")
	r.write(map[string]string{"kept": "x", "bad": "lost\n"})
	r.commitAt(1, "adds bad")
	blob := r.git("rev-parse", "HEAD:bad")
	r.git("rm", "-q", "bad")
	r.commitAt(2, "removes bad")
	r.write(map[string]string{"dir/x": "y"})
	r.commitAt(3, "adds dir")
	tree := r.git("rev-parse", "HEAD:dir")
	r.git("rm", "-q", "-r", "dir")
	r.commitAt(4, "removes dir")
	for _, oid := range []string{blob, tree} {
		r.git("update-index", "--refresh")
		if err := os.Remove(filepath.Join(r.dir, ".git/objects", oid[:2], oid[2:])); err != nil {
			t.Fatal(err)
		}
	}
	f.sync("r", r)
	f.history()
	kept, h := f.keptCommits("r")
	if len(kept) != 5 || h.Commits != 5 || h.Diffs != 1 {
		t.Fatalf("%d commits, %+v; want 5, one with its diff", len(kept), h)
	}
	var got []string
	for _, k := range kept {
		got = append(got, fmt.Sprint(k.commit.State, " ", strings.ReplaceAll(k.show, "\n", " ")))
	}
	want := []string{
		`3 '\x00' "" "" "" removes dir`, `3 '\x00' "" "" "" adds dir`,
		`3 '\x00' "" "" "" removes bad'D' "" "bad" "corrupt-object" `, `3 '\x00' "" "" "" adds bad'A' "" "bad" "corrupt-object" `,
		`0 '\x00' "" "" "" one'A' "" "kept" "" @@ -0,0 +1 @@ +x `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("commits\n got %q\nwant %q", got, want)
	}
}

// TestHistoryOfHugeCommit bounds what is kept of one commit.
func TestHistoryOfHugeCommit(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter C <c@example.org> 1700000000 +0000\ndata 4\nhuge\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "M 100644 inline d%d/f%d\ndata 2\n%d\n", i%100, i, i%10)
	}
	large := strings.Repeat("a line of some length that is generated\n", git.MaxDiffBytes/40)
	fmt.Fprintf(&b, "\ncommit refs/heads/main\ncommitter C <c@example.org> 1700000001 +0000\ndata 5\nlarge\nM 100644 inline large\ndata %d\n%s\nM 100644 inline small\ndata 2\nx\n\n", len(large), large)
	gitrepo.Run(t, r.dir, nil, b.String(), "fast-import", "--quiet")
	f.sync("r", r)
	f.history()
	kept, h := f.keptCommits("r")
	if len(kept) != 2 || h.TooLarge != 1 {
		t.Fatalf("%d commits, %+v; want 2, with one file too large", len(kept), h)
	}
	if got := kept[1].commit.MoreFiles; got != 20_000-git.MaxCommitFiles {
		t.Errorf("%d files are left out, want %d", got, 20_000-git.MaxCommitFiles)
	}
	if want := "'A' \"\" \"large\" \"too-large\"\n'A' \"\" \"small\" \"\"\n@@ -0,0 +1 @@\n+x\n"; !strings.HasSuffix(kept[0].show, want) {
		t.Errorf("commit %.200q, want %q at its end", kept[0].show, want)
	}
}

// TestHistoryErrors keeps what was read when the source is gone.
func TestHistoryErrors(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	r.commitAt(0, "m")
	f.sync("r", r)
	f.history()
	r.commitAt(1, "m")
	f.sync("r", r)
	moved := r.dir + "-moved"
	if err := os.Rename(r.dir, moved); err != nil {
		t.Fatal(err)
	}
	res, err := f.ix.Histories.Read(context.Background(), nil)
	if err != nil || len(res.Failed) != 1 {
		t.Fatalf("History = %+v, %v; want one failure", res, err)
	}
	kept, h := f.keptCommits("r")
	if len(kept) != 1 || h.LastError == "" {
		t.Errorf("%d commits, %+v; want one and an error", len(kept), h)
	}
	r.dir = moved
	if err := f.ix.Remove(context.Background(), "r"); err != nil {
		t.Fatal(err)
	}
	empty := newRepo(t)
	f.sync("empty", empty)
	f.history()
	if _, h := f.keptCommits("empty"); h.LastError != "" || h.Commits != 0 {
		t.Errorf("history of an empty repository: %+v", h)
	}
}
