package monitors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// lines are the matches of messages as name:path:line:text, with how many more there are.
func lines(all []sent) (out []string) {
	for _, s := range all {
		for _, m := range s.Matches {
			out = append(out, fmt.Sprintf("%s:%s:%d:%s", m.Repository, m.Path, m.Line, m.Text))
		}
		if more := s.Count - len(s.Matches); more > 0 {
			out = append(out, fmt.Sprint("and ", more))
		}
	}
	slices.Sort(out)
	return out
}

// heard demands what was delivered since the last time.
func (w *world) heard(when string, want ...string) {
	w.Helper()
	if got := lines(w.received()); !slices.Equal(got, want) {
		w.Errorf("%s: heard of %q, want %q", when, got, want)
	}
}

// TestMonitor: what was there at first is told to nobody; each match that comes is told
// once, wherever its line moves, and again by no other process.
func TestMonitor(t *testing.T) {
	w := newWorld(t)
	w.push("open", "b.txt", "glaze one\n")
	w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	w.heard("at first")

	w.push("open", "b.txt", "above\nglaze one\nglaze two\n")
	w.look(r)
	w.heard("a second line", "lab/open:b.txt:3:glaze two")
	w.look(r)
	w.heard("nothing new")

	// The same line again is another match, the same line elsewhere in the file is not.
	w.push("open", "b.txt", "glaze two\nabove\n  glaze one\nglaze two\n")
	w.look(r)
	w.heard("once more", "lab/open:b.txt:4:glaze two")

	w.push("open", "b.txt", "nothing\n")
	w.look(r)
	w.push("open", "b.txt", "glaze one\n")
	w.look(r)
	w.heard("gone and back")

	// Another process knows what this one has told, and sees what came in between.
	w.push("open", "c.txt", "glaze three\n")
	r = w.runner()
	w.look(r)
	w.heard("another process", "lab/open:c.txt:1:glaze three")
	r = w.runner()
	w.look(r)
	w.heard("a third one")

	w.push("new", "a.txt", strings.Repeat("glaze\n", 30))
	w.look(r)
	got := w.received()
	if l := lines(got); len(got) != 1 || got[0].Count != 30 || len(got[0].Matches) != 20 || l[0] != "and 10" {
		t.Errorf("a new repository: %q", l)
	}
	if m := got[0]; m.Matches[0].URL != "https://trawl.example.org/lab/new@"+commitOf(t, w.Store, "lab/new")+"/-/blob/a.txt#L1" || m.URL != "https://trawl.example.org/users/ann/searches/1" {
		t.Errorf("addresses: %q, %q", m.Matches[0].URL, m.URL)
	}
	if err := w.Indexer.Remove(t.Context(), "lab/new"); err != nil {
		t.Fatal(err)
	}
	w.look(r)
	w.heard("a repository that is gone")
	if err := saved.Verify(w.Store, func(f store.FaultyRecord) { t.Error(f.Problem) }); err != nil {
		t.Error(err)
	}
}

// commitOf is the commit of a repository that is searched.
func commitOf(t *testing.T, st *store.Store, name string) string {
	t.Helper()
	sn := st.Snapshot()
	defer sn.Close()
	repo, err := sn.Repository(name)
	if err != nil {
		t.Fatal(err)
	}
	return repo.Commit()
}

// TestKinds: commits, diffs, symbols, paths and repositories are matches as lines are.
func TestKinds(t *testing.T) {
	w := newWorld(t)
	w.watch(w.ann, "repo:open type:commit Change")
	w.watch(w.ann, "repo:open type:diff kiln")
	w.watch(w.ann, "repo:open type:path kiln")
	w.watch(w.ann, "repo:kilns type:repo")
	w.watch(w.ann, "repo:open type:diff glaze author:nobody")
	r := w.runner()
	w.look(r)
	w.heard("at first")
	w.push("open", "kiln.txt", "kiln\n")
	w.look(r)
	w.heard("a file", "lab/open::0:Change kiln.txt", "lab/open::0:Change kiln.txt", "lab/open:kiln.txt:0:")
	w.age = 40 * 24 * time.Hour
	w.push("open", "old.txt", "kiln\n")
	w.look(r)
	w.heard("a commit from long before")
	w.age = 0
	w.push("kilns", "x", "x\n")
	w.look(r)
	w.heard("a repository", "lab/kilns::0:lab/kilns")
	w.look(r)
	w.heard("nothing new")
}

// TestSeen: a monitor tells what its user may see now, and what another user may see when
// that one has taken it over.
func TestSeen(t *testing.T) {
	w := newWorld(t)
	w.watch(w.bob, "glaze")
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	w.push("secret", "b.txt", "glaze one\n")
	w.look(r)
	w.heard("those who may see it", "lab/secret:b.txt:1:glaze one")

	if _, err := w.book.Monitors.Set(id, w.bob.ID, []saved.Target{{Kind: "webhook", Address: "https://example.com/bob"}}); err != nil {
		t.Fatal(err)
	}
	w.push("secret", "b.txt", "glaze one\nglaze two\n")
	w.look(r)
	w.heard("taken over by one who may not")
	if _, err := w.book.Monitors.Set(id, w.ann.ID, []saved.Target{{Kind: "email"}}); err != nil {
		t.Fatal(err)
	}
	w.look(r)
	w.heard("what was there when it was taken over")
	w.push("secret", "b.txt", "glaze one\nglaze two\nglaze three\n")
	w.lookOnly(r)
	if _, err := w.Registry.SetReaders(identity.Operator, "lab/secret", []string{"user:bob"}); err != nil {
		t.Fatal(err)
	}
	w.look(r)
	w.heard("not after the repository was taken away")
	f, err := w.book.Firings.All(id)
	if err != nil || len(f) == 0 || f[0].Deliveries[0].State != saved.DeliveryEnded || f[0].Deliveries[0].Failure != "the repository is not there any more" {
		t.Errorf("firings: %+v, %v", f, err)
	}

	locked := true
	if _, err := w.Registry.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: &locked}); err != nil {
		t.Fatal(err)
	}
	w.push("open", "b.txt", "glaze four\n")
	w.look(r)
	w.heard("not to a locked user", "lab/open:b.txt:1:glaze four")
	if m, err := w.book.Monitors.Get(id); err != nil || m.Failure != "the user is gone or locked" {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	locked = false
	if _, err := w.Registry.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: &locked}); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(20 * time.Minute)
	w.look(r)
	w.heard("what came meanwhile", "lab/open:b.txt:1:glaze four")
}

// TestGoneAndChanged: a query that is changed while the user of the monitor is locked, or
// does not see it any more, is searched for nobody.
func TestGoneAndChanged(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	locked, unlocked := true, false
	change := func(c identity.UserChange) {
		t.Helper()
		if _, err := w.Registry.ChangeUser(identity.Operator, w.ann.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	query := func(text string, owner uint32) {
		t.Helper()
		if _, err := w.book.Searches.Change(id, func(s *saved.Search) { s.Query, s.Owner.ID = text, owner }); err != nil {
			t.Fatal(err)
		}
	}
	stopped := func(why string) {
		t.Helper()
		w.push("open", "b.txt", "slip "+why+"\n")
		w.look(r)
		w.heard(why)
		if m, err := w.book.Monitors.Get(id); err != nil || m.Failure != why || m.Begun {
			t.Errorf("monitor: %+v, %v; want failure %q", m, err, why)
		}
	}
	change(identity.UserChange{Locked: &locked})
	query("slip", w.ann.ID)
	stopped("the user is gone or locked")
	change(identity.UserChange{Locked: &unlocked})
	query("slip or glaze", w.bob.ID)
	stopped("the user does not see the saved search any more")
	query("slip or glaze", w.ann.ID)
	w.clock.Add(time.Hour)
	w.look(r)
	w.heard("what is there when it begins")
	w.push("open", "c.txt", "slip\n")
	w.look(r)
	w.heard("after that", "lab/open:c.txt:1:slip")
}

// TestNotTheirsAnyMore: a monitor of a search that its user does not see any more is told
// to nobody.
func TestNotTheirsAnyMore(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	w.push("open", "b.txt", "glaze one\n")
	w.lookOnly(r)
	if _, err := w.book.Searches.Change(id, func(s *saved.Search) { s.Owner.ID = w.bob.ID }); err != nil {
		t.Fatal(err)
	}
	w.push("open", "b.txt", "glaze one\nglaze two\n")
	w.look(r)
	w.heard("of a search of another user")
	m, err := w.book.Monitors.Get(id)
	if err != nil || m.Failure != "the user does not see the saved search any more" {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	f, err := w.book.Firings.All(id)
	if err != nil || len(f) != 1 || f[0].Deliveries[0].State != saved.DeliveryEnded {
		t.Errorf("firings: %+v, %v", f, err)
	}
}

// TestIncomplete: what could not be searched whole is no beginning, and is looked at again.
func TestIncomplete(t *testing.T) {
	w := newWorld(t)
	w.push("open", "b.txt", "glaze one\n")
	r := w.runner()
	whole := r.Searcher
	cut := &incomplete{Searcher: whole, id: 1}
	r.Searcher = cut
	id := w.watch(w.ann, "glaze")
	w.look(r)
	m, err := w.book.Monitors.Get(id)
	if err != nil || !m.Begun || len(m.Left) != 1 || m.Left[0].Repository != 1 || m.Left[0].Why == "" {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	w.push("secret", "b.txt", "glaze two\n")
	w.look(r)
	w.heard("the others go on", "lab/secret:b.txt:1:glaze two")
	r.Searcher = whole
	asked := cut.asked
	w.look(r)
	if cut.asked != asked {
		t.Error("it is looked at again at once")
	}
	w.clock.Add(time.Hour)
	w.look(r)
	w.heard("whole for the first time")
	if m, err := w.book.Monitors.Get(id); err != nil || len(m.Left) != 0 {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	w.push("open", "b.txt", "glaze one\nglaze three\n")
	w.look(r)
	w.heard("after that", "lab/open:b.txt:2:glaze three")

	// An alert is no answer.
	id = w.watch(w.ann, "context:nope glaze")
	w.look(r)
	if m, err := w.book.Monitors.Get(id); err != nil || len(m.Left) == 0 && m.Failure == "" {
		t.Errorf("a context that is not there: %+v, %v", m, err)
	}
}

// incomplete is a searcher that runs out of time in the repository with an ID.
type incomplete struct {
	httpapi.Searcher
	id    uint32
	asked int
}

func (i *incomplete) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	i.asked++
	out := i.Searcher.Search(ctx, q, o, sink)
	if o.Only == i.id {
		o.Report.Skips().Add(report.TimedOut([]string{"one"}))
	}
	return out
}

// TestNotedBefore: a delivery is put off before it is sent, so that it is not sent for ever
// while the store takes nothing.
func TestNotedBefore(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	w.push("open", "b.txt", "glaze one\n")
	w.during = func() {
		f, err := w.book.Firings.Get(id, 1)
		if err != nil || !f.Deliveries[0].Next.After(w.clock.Now()) {
			t.Errorf("while it is sent: %+v, %v", f, err)
		}
	}
	w.look(r)
	w.heard("then", "lab/open:b.txt:1:glaze one")
}

// TestQueryChanges: a query that was changed begins anew.
func TestQueryChanges(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	if _, err := w.book.Searches.Change(id, func(s *saved.Search) { s.Query = "slip" }); err != nil {
		t.Fatal(err)
	}
	w.look(r)
	w.heard("what is there")
	w.push("open", "b.txt", "glaze\nslip\n")
	w.look(r)
	w.heard("of the new query", "lab/open:b.txt:2:slip")
	if _, err := w.book.Searches.Change(id, func(s *saved.Search) { s.Query = "glaze count:5" }); err != nil {
		t.Fatal(err)
	}
	w.look(r)
	if m, err := w.book.Monitors.Get(id); err != nil || m.Failure == "" {
		t.Errorf("a wrong query: %+v, %v; want a failure", m, err)
	}
	if err := w.book.Searches.Remove(id); err != nil {
		t.Fatal(err)
	}
	w.look(r)
}

// TestTooMany: where there are more matches than a monitor tells apart it says so, and tells
// nothing by chance.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	w.push("open", "b.txt", strings.Repeat("glaze\n", saved.MaxMatches+1))
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	w.look(r)
	m, err := w.book.Monitors.Get(id)
	if err != nil || !m.Begun || len(m.Left) != 1 || m.Left[0].Why != tooMany {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	w.push("open", "c.txt", "glaze\n")
	w.push("secret", "c.txt", "glaze\n")
	w.look(r)
	w.heard("the others go on", "lab/secret:c.txt:1:glaze")
	if m, err := w.book.Monitors.Get(id); err != nil || len(m.Left) != 1 {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	w.push("open", "b.txt", "glaze\n")
	w.look(r)
	w.heard("few enough for the first time")
	w.push("open", "c.txt", "glaze\nglaze\n")
	w.look(r)
	w.heard("fewer again", "lab/open:c.txt:2:glaze")
	if m, err := w.book.Monitors.Get(id); err != nil || len(m.Left) != 0 {
		t.Errorf("monitor: %+v, %v", m, err)
	}
}

// A query that may be mistyped is searched as it stands, and no repository is left for it.
func TestMistyped(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "lnag:go")
	r := w.runner()
	w.look(r)
	if m, err := w.book.Monitors.Get(id); err != nil || !m.Begun || len(m.Left) != 0 {
		t.Errorf("monitor: %+v, %v", m, err)
	}
	w.push("open", "b.txt", "-x lnag:go\n")
	w.look(r)
	w.heard("it is there", "lab/open:b.txt:1:-x lnag:go")
}

// TestMine: a monitor of another node is left alone.
func TestMine(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r, other := w.runner(), w.runner()
	other.Mine = func(search uint32) bool { return search != id }
	w.look(r)
	w.push("open", "b.txt", "glaze\n")
	w.look(other)
	w.heard("by another node")
	w.look(r)
	w.heard("by its own", "lab/open:b.txt:1:glaze")
}

// TestRun: a push comes to be told while the runner runs, and it ends with its context.
func TestRun(t *testing.T) {
	w := newWorld(t)
	id := w.watch(w.ann, "glaze")
	r := w.runner()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	await := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("wait for it to %s", what)
			}
		}
	}
	await("begin", func() bool { m, err := w.book.Monitors.Get(id); return err == nil && m.Begun })
	w.push("open", "b.txt", "glaze\n")
	await("tell", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.sent) == 1 })
	stop()
	<-done
}

// TestHash: parts are told apart, and so are copies.
func TestHash(t *testing.T) {
	all := []uint64{hash(0, "a", "b"), hash(1, "a", "b"), hash(0, "ab"), hash(0, "a\x00b"), hash(0, "a", "", "b")}
	if slices.Sort(all); len(slices.Compact(all)) != 5 {
		t.Errorf("hashes: %x", all)
	}
}

// TestChunk: each line in which a match begins is one match, with all lines that it covers.
func TestChunk(t *testing.T) {
	at := func(line uint32) query.Location { return query.Location{Line: line} }
	m := &matches{seen: map[uint64]int{}}
	m.file(&query.FileMatch{Path: "x", Chunks: []query.Chunk{{
		Content: []byte("  one\ntwo two\nthree\nfour"), Start: at(10),
		Ranges: []query.Range{{Start: at(10), End: at(10)}, {Start: at(11), End: at(11)}, {Start: at(11), End: at(11)}, {Start: at(12), End: at(13)}},
	}}})
	var got []string
	for _, f := range m.all {
		got = append(got, fmt.Sprint(f.Line, " ", f.Text))
	}
	if want := []string{"11 one", "12 two two", "13 three\nfour"}; !slices.Equal(got, want) {
		t.Errorf("matches: %q, want %q", got, want)
	}
}
