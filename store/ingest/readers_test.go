package ingest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// sharing tells which repositories share shards, of files and of commits, and
// fails for those whose readers are not the same.
func (f *fixture) sharing() (out []string) {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		var names, readers []string
		for _, r := range sn.Repositories() {
			if slices.Contains(slices.Concat(r.Shards, r.History.Shards), v.ID) {
				names = append(names, r.Name)
				readers = append(readers, fmt.Sprintf("%+v", r.Readers))
			}
		}
		slices.Sort(names)
		if slices.Sort(readers); len(slices.Compact(readers)) > 1 {
			f.t.Errorf("%v share a shard, and are for %q", names, readers)
		}
		kind := "files"
		if v.Header.IsHistory() {
			kind = "commits"
		}
		out = append(out, fmt.Sprint(kind, " ", names))
	}
	slices.Sort(out)
	return out
}

// TestMergeKeepsReadersApart: repositories of different readers end up in
// different shards, whatever changes, and lose nothing.
func TestMergeKeepsReadersApart(t *testing.T) {
	f := newFixture(t, ingest.Options{HistoryDiffs: 100})
	names := []string{"a", "b", "c", "d", "e", "f"}
	repos := map[string]*repo{}
	want := map[string]map[string]string{}
	change := func(n int) {
		for _, name := range names {
			if repos[name] == nil {
				repos[name], want[name] = newRepo(t), map[string]string{}
			}
			for i := range 3 {
				want[name][fmt.Sprint("f", i)] = fmt.Sprintln(name, n, i)
			}
			repos[name].write(want[name])
			repos[name].commit()
			f.sync(name, repos[name])
			f.history()
		}
	}
	readers := func(r *store.Readers, names ...string) {
		for _, name := range names {
			err := f.st.Update(func(tx *store.Tx) error {
				_, err := tx.SetReaders(name, r)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(what string, shards ...string) {
		t.Helper()
		f.merge()
		got := f.sharing()
		if shards != nil && !slices.Equal(got, shards) {
			t.Errorf("%s: got shards of %q, want %q", what, got, shards)
		}
		for _, name := range names {
			f.want(name, want[name])
			f.checkHistory(name, repos[name], 100)
		}
	}
	change(1)
	check("for everyone", "commits [a b c d e f]", "files [a b c d e f]")
	readers(&store.Readers{Users: []uint32{1}}, "a", "b")
	readers(&store.Readers{}, "c")
	check("for some", "commits [a b]", "commits [c]", "commits [d e f]", "files [a b]", "files [c]", "files [d e f]")
	change(2)
	readers(&store.Readers{Users: []uint32{1}}, "f")
	check("after changes")
	readers(nil, names...)
	check("for everyone again")
}
