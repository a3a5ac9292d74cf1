package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/saved"
)

// An ordeal is a course of everything that writes to a store: repositories are
// added, synced, read for symbols and commits, merged and removed, and users,
// tokens, apps, saved searches and jobs made and changed. What a store holds is
// reported as facts, a value by name, so that after a crash or a fault each can be
// compared with what it was before the step at hand and after it.
type ordeal struct {
	t     testing.TB
	git   map[string]*ordealRepo
	ctags *ctags.Program
}

// ordealState is an open store with all that changes it.
type ordealState struct {
	st   *store.Store
	ix   *ingest.Indexer
	reg  *identity.Registry
	book *saved.Book
	apps *oauth.Book
}

type facts map[string]string

// step changes a store. It returns no error once the change is acknowledged.
type step struct {
	name string
	do   func(s *ordealState) error
	// facts are those that it changes.
	facts facts
}

func newOrdeal(t testing.TB) *ordeal {
	o := &ordeal{t: t, git: map[string]*ordealRepo{}}
	path, err := ctags.Find()
	if err != nil {
		t.Log(needs.Missing("symbols", "ctags", err))
		return o
	}
	if o.ctags, err = ctags.Open(path); err != nil {
		t.Fatal(err)
	}
	return o
}

// open opens the store on fs.
func (o *ordeal) open(fs vfs.FS) (*ordealState, error) {
	st, err := store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	reg, err := identity.Open(st, identity.Options{})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &ordealState{
		st: st, reg: reg, book: saved.Open(st, saved.Options{}), apps: oauth.Open(st, reg, oauth.Options{}),
		ix: ingest.New(st, ingest.Options{ShardBlocks: 20, MinFreeBytes: -1, Ctags: o.ctags, SymbolWorkers: 1}),
	}, nil
}

// ordealSeed is TRAWL_SEED, or another one each time.
func ordealSeed() uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		return seed
	}
	return uint64(os.Getpid())
}

// operator does everything.
var operator = identity.Author{Operator: true}

// course calls run with the steps, each after the changes in git that it is
// about.
func (o *ordeal) course(rng *rand.Rand, run func(step)) {
	ctx := context.Background()
	add := func(name string) {
		o.change(rng, name)
		run(step{"add " + name, func(s *ordealState) error {
			_, err := s.ix.Add(ctx, ingest.Source{Name: name, Location: o.repo(name).dir})
			return err
		}, facts{"repository " + name: digest(nil)}})
	}
	synced := map[string]string{} // the commits of what is indexed, by name
	syncOne := func(name string) {
		run(step{"sync " + name, func(s *ordealState) error {
			_, err := s.ix.Sync(ctx, name, nil)
			return err
		}, facts{"repository " + name: digest(o.repo(name).files)}})
		synced[name] = o.commits(name)
	}
	change := func(name string) { o.change(rng, name); syncOne(name) }
	symbols := func() {
		if o.ctags != nil {
			run(step{"symbols", func(s *ordealState) error { _, err := s.ix.Symbols.Read(ctx, nil); return err }, nil})
		}
	}
	history := func() {
		after := facts{}
		for name, commits := range synced {
			after["history of "+name] = commits
		}
		run(step{"history", func(s *ordealState) error {
			res, err := s.ix.Histories.Read(ctx, nil)
			if err == nil && len(res.Failed) > 0 {
				err = errors.New(strings.Join(res.Failed, "; "))
			}
			return err
		}, after})
	}
	merge := func() {
		run(step{"merge", func(s *ordealState) error { _, err := s.ix.Merger.Merge(ctx, nil); return err }, nil})
	}
	add("a")
	syncOne("a")
	o.accounts(run)
	add("b")
	syncOne("b")
	symbols()
	history()
	change("a")
	run(step{"readers of b", func(s *ordealState) error {
		_, err := s.reg.SetReaders(operator, "b", []string{"user:ann"})
		return err
	}, facts{"readers of b": "[user:ann]"}})
	run(step{"branches of a", func(s *ordealState) error {
		_, err := s.st.Repositories().ChangeFacts("a", store.FactsChange{Branches: &[]string{"old*"}})
		return err
	}, facts{"branches of a": "[old*]"}})
	o.run(o.repo("a"), "", "branch", "old", "main~1")
	syncOne("a")
	o.records(run)
	for _, name := range []string{"c", "d", "e"} {
		add(name)
		syncOne(name)
	}
	change("a")
	merge()
	symbols()
	history()
	change("c")
	remove := func(name string) {
		delete(synced, name)
		run(step{"remove " + name, func(s *ordealState) error { return s.ix.Remove(ctx, name) }, facts{"repository " + name: "", "history of " + name: ""}})
	}
	remove("d")
	run(step{"end the token", func(s *ordealState) error {
		tokens, err := s.reg.Tokens(0)
		if err != nil || len(tokens) == 0 {
			return err
		}
		return s.reg.RevokeToken(operator, tokens[0].ID)
	}, facts{"tokens": ""}})
	change("a")
	history()
	merge()
	symbols()

	// Groups of several repositories, until there is a tier to merge.
	little := [][]string{{"t1", "t2", "t3"}, {"t4", "t5", "t6"}}
	for round := range 2 {
		for _, names := range little {
			added, after := facts{}, facts{}
			for _, name := range names {
				o.changeLittle(name)
				added["repository "+name] = digest(nil)
				after["repository "+name], synced[name] = digest(o.repo(name).files), o.commits(name)
			}
			if round == 0 {
				run(step{"add " + strings.Join(names, " "), func(s *ordealState) error { return o.addAll(s, names) }, added})
			}
			run(step{"sync side by side " + strings.Join(names, " "), func(s *ordealState) error { return o.syncAll(s, names) }, after})
			history()
		}
	}
	o.rewrite("t2")
	syncOne("t2")
	history()
	remove("t5")
	merge()
}

// addAll adds repositories.
func (o *ordeal) addAll(s *ordealState, names []string) error {
	for _, name := range names {
		if _, err := s.ix.Add(context.Background(), ingest.Source{Name: name, Location: o.repo(name).dir}); err != nil {
			return err
		}
	}
	return nil
}

// syncAll syncs repositories side by side.
func (o *ordeal) syncAll(s *ordealState, names []string) error {
	errs := make([]error, len(names))
	var syncs sync.WaitGroup
	for i, name := range names {
		syncs.Go(func() { _, errs[i] = s.ix.Sync(context.Background(), name, nil) })
	}
	syncs.Wait()
	return errors.Join(errs...)
}

// accounts makes a user, a token and an app.
func (o *ordeal) accounts(run func(step)) {
	run(step{"user", func(s *ordealState) error {
		_, err := s.reg.CreateUser(operator, identity.NewUser{Name: "ann", SiteAdmin: true})
		return err
	}, facts{"users": "[ann]"}})
	run(step{"token", func(s *ordealState) error {
		u, err := s.reg.UserNamed("ann")
		if err != nil {
			return err
		}
		week := 7 * 24 * time.Hour
		_, _, err = s.reg.CreateToken(operator, identity.NewToken{User: u.ID, Scopes: []string{"user:all"}, Note: "laptop", Lifetime: &week})
		return err
	}, facts{"tokens": "[laptop]"}})
	run(step{"app", func(s *ordealState) error {
		_, _, err := s.apps.Apps.Create(operator, oauth.NewApp{ID: "tool", Name: "tool", Kind: oauth.Public, Redirects: []string{"http://127.0.0.1/"}})
		return err
	}, facts{"app": "tool"}})
}

// records makes and changes saved searches and a job.
func (o *ordeal) records(run func(step)) {
	run(step{"saved search", func(s *ordealState) error {
		_, err := s.book.Searches.Add(saved.Search{Description: "one", Query: "x"})
		return err
	}, facts{"searches": "[one]"}})
	run(step{"change of a saved search", func(s *ordealState) error {
		all, err := s.book.Searches.All()
		if err != nil || len(all) == 0 {
			return err
		}
		_, err = s.book.Searches.Change(all[0].ID, func(q *saved.Search) { q.Description = "two" })
		return err
	}, facts{"searches": "[two]"}})
	run(step{"job", func(s *ordealState) error {
		_, err := s.book.Jobs.Add("version", 1)
		return err
	}, facts{"jobs": "[version 0]"}})
	run(step{"results of a job", func(s *ordealState) error {
		all, err := s.book.Jobs.All()
		if err != nil || len(all) == 0 {
			return err
		}
		_, err = s.book.Jobs.AddResults(all[0].ID, []byte(strings.Repeat("result\n", 1000)), &saved.JobStep{})
		return err
	}, facts{"jobs": "[version 7000]"}})
}

// facts reads what the store holds.
func (s *ordealState) facts() (facts, error) {
	out := facts{}
	sn := s.st.Snapshot()
	defer sn.Close()
	for _, r := range sn.Repositories() {
		files, err := filesOf(sn, r)
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", r.Name, err)
		}
		out["repository "+r.Name] = digest(files)
		if r.Readers != nil {
			who, err := s.reg.FormatReaders(r.Readers)
			if err != nil {
				return nil, err
			}
			out["readers of "+r.Name] = fmt.Sprint(who)
		}
		if r.History.Tip != "" {
			n, err := commitsOf(sn, r)
			if err != nil || n != r.History.Commits {
				return nil, fmt.Errorf("history of %s: %d commits in shards, %d in the record: %w", r.Name, n, r.History.Commits, err)
			}
			out["history of "+r.Name] = fmt.Sprintf("%d commits to %s", n, r.History.Tip)
		}
		if len(r.BranchGlobs) > 0 {
			out["branches of "+r.Name] = fmt.Sprint(r.BranchGlobs)
		}
	}
	users, err := s.reg.Users()
	tokens, err2 := s.reg.Tokens(0)
	searches, err3 := s.book.Searches.All()
	jobs, err4 := s.book.Jobs.All()
	for _, l := range []struct {
		name  string
		items []string
	}{
		{"users", reportOf(users, func(u *identity.User) string { return u.Name })},
		{"tokens", reportOf(tokens, func(t *identity.Token) string { return t.Note })},
		{"searches", reportOf(searches, func(q *saved.Search) string { return q.Description })},
		{"jobs", reportOf(jobs, func(j *saved.Job) string { return fmt.Sprint(j.Query, " ", j.BytesDone) })},
	} {
		if l.items != nil {
			out[l.name] = fmt.Sprint(l.items)
		}
	}
	if a, err := s.apps.Apps.Get("tool"); err == nil {
		out["app"] = a.Name
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return out, errors.Join(err, err2, err3, err4)
}

func reportOf[T any](all []T, tell func(T) string) []string {
	var out []string
	for _, v := range all {
		out = append(out, tell(v))
	}
	return out
}

// commitsOf counts the commits that are kept of a repository.
func commitsOf(sn *store.Snapshot, r *store.Repository) (n int, err error) {
	for _, id := range r.History.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			return 0, fmt.Errorf("shard %d is not there", id)
		}
		table, err := v.Commits()
		if err != nil {
			return 0, err
		}
		for i := range table.Len() {
			if table.Repository[i] == r.ID && (v.Dead == nil || !v.Dead.Contains(uint16(table.Message[i]))) {
				n++
			}
		}
	}
	return n, nil
}

// filesOf returns the files of the default branch.
func filesOf(sn *store.Snapshot, r *store.Repository) (map[string]string, error) {
	files := map[string]string{}
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			return nil, fmt.Errorf("shard %d is not there", id)
		}
		docs, err := v.Documents()
		if err != nil {
			return nil, err
		}
		text := v.Text()
		defer text.Close()
		away := v.Away(r.ID)
		for i := range docs.Len() {
			doc := uint16(i)
			if docs.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(doc) || len(away) > 0 && away[0] != nil && away[0].Contains(doc) {
				continue
			}
			b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if err != nil {
				return nil, err
			}
			if _, twice := files[docs.Path(i)]; twice {
				return nil, fmt.Errorf("%s is there twice", docs.Path(i))
			}
			files[docs.Path(i)] = string(b)
		}
	}
	return files, nil
}

// differ compares what a store holds with what it held before the step at hand
// and what it may hold because of it.
func (f facts) differ(before, after facts) (wrong []string) {
	names := map[string]bool{}
	for _, m := range []facts{f, before, after} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range names {
		if next, ok := after[name]; f[name] != before[name] && (!ok || f[name] != next) {
			wrong = append(wrong, fmt.Sprintf("%s: got %q, want %q or %q", name, f[name], before[name], next))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// ordealQueries are asked with the index and without.
var ordealQueries = []string{
	"count:all version", "count:all /line \\d+7 of version/", "count:all repo:^a$ line", "count:all F1", "count:all case:yes F2",
	"count:all type:symbol F", "count:all type:commit version", "count:all type:diff line", "count:all file:dir1 p", "count:all repo:a rev:old version",
}

// agree reports what the index answers otherwise than a full scan.
func (s *ordealState) agree(queries []string) (wrong []string) {
	for _, text := range queries {
		var index, scan []string
		err := again(func() (err error) { index, err = s.ask(search.Settings{Workers: 1}, text); return err })
		err2 := again(func() (err error) { scan, err = s.ask(search.Settings{Brute: true, Workers: 1}, text); return err })
		switch {
		case errors.Join(err, err2) != nil:
			wrong = append(wrong, fmt.Sprintf("%q: %v, %v", text, err, err2))
		case !slices.Equal(index, scan):
			wrong = append(wrong, fmt.Sprintf("%q: %s", text, firstDifference(index, scan)))
		}
	}
	return wrong
}

// again calls f until there is no error, ten times at most. A reader that opens a table
// while a call on it is at work gets what that call says, so an error of the time
// when the disk failed may be reported once more when it fails no longer. That a search
// or a reader tells it is as it should be; that it stays would not be.
func again(f func() error) (err error) {
	for range 10 {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// errUnread says that a search reported shards that it could not read.
var errUnread = errors.New("shards could not be read")

// ask returns an answer as lines. A search that could not read everything is an
// error.
func (s *ordealState) ask(set search.Settings, text string) ([]string, error) {
	q, err := parseOrdeal(text)
	if err != nil {
		return nil, err
	}
	a := answered{results: report.New(time.Now)}
	out := search.New(s.st, set).Search(context.Background(), q, search.Options{Display: -1, Report: a.results}, answer.SinkFunc(func(m []query.Match) error {
		a.matches = append(a.matches, m...)
		return nil
	}))
	lines := a.full()
	for i, m := range a.matches {
		if c, ok := m.(*query.CommitMatch); ok {
			bare := *c
			bare.Repo = nil // else a pointer is printed
			lines[i] = fmt.Sprintf("%s %+v", c.Repo.Name, bare)
		}
	}
	skipped := a.results.Progress().Skipped
	if slices.ContainsFunc(skipped, func(k query.Skipped) bool { return k.Reason == "backend-missing" }) {
		return nil, errors.Join(out.Err, fmt.Errorf("%w: %+v", errUnread, skipped))
	}
	if len(skipped) > 0 {
		lines = append(lines, fmt.Sprintf("skipped %+v", skipped))
	}
	return lines, out.Err
}

// stray returns the shards that no repository names.
func (s *ordealState) stray() []uint32 {
	sn := s.st.Snapshot()
	defer sn.Close()
	owned := map[uint32]bool{}
	for _, r := range sn.Repositories() {
		for _, id := range slices.Concat(r.Shards, r.History.Shards) {
			owned[id] = true
		}
	}
	var stray []uint32
	for _, v := range sn.Shards() {
		if !owned[v.ID] {
			stray = append(stray, v.ID)
		}
	}
	return stray
}

func parseOrdeal(text string) (*query.Query, error) { return syntax.Parse(text, query.Keyword) }

func namedUser(name string) identity.NewUser { return identity.NewUser{Name: name} }
