package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

type writtenCommit struct {
	shard.Commit
	message string
	files   []shard.ChangedFile
}

// commits makes n commits of a few people, some with many files.
func commits(seed uint64, n int) []writtenCommit {
	rng := rand.New(rand.NewPCG(seed, 0))
	people := []shard.Person{{Name: "Ada Muster", Email: "ada@example.org"}, {Name: "Bo", Email: ""}, {}}
	sign := func() shard.Signature {
		return shard.Signature{Person: people[rng.IntN(3)], Seconds: rng.Int64N(1<<33) - 1<<32, ZoneMinutes: int16(rng.IntN(2880) - 1440)}
	}
	out := make([]writtenCommit, n)
	for i := range out {
		c := &out[i]
		c.Commit = shard.Commit{
			Repository: uint32(1 + rng.IntN(2)), OID: []byte(fmt.Sprintf("%0*d", 20+12*rng.IntN(2), i)), Author: sign(), Committer: sign(),
			State: shard.CommitState(rng.IntN(4)), Effective: int64(1000 - i), Sequence: rng.Uint32N(9), Position: uint32(i), MoreFiles: rng.Uint32N(2),
		}
		c.message = strings.Repeat(fmt.Sprintf("message %d\n", i), rng.IntN(3))
		for f := range []int{0, 1, 2, 40}[rng.IntN(4)] {
			file := shard.ChangedFile{Path: fmt.Sprintf("new/%d/%d", i, f), Status: "AMDT"[rng.IntN(4)], Mode: 0o100644}
			switch rng.IntN(3) {
			case 0:
				file.Status, file.OldPath = 'R', fmt.Sprintf("older/%d", f)
			case 1:
				file.Reason = shard.ReasonTooOld
			}
			if file.Reason == shard.Searchable {
				file.Hunks = bytes.Repeat([]byte("+line\n"), rng.IntN(3000))
			}
			c.files = append(c.files, file)
		}
	}
	return out
}

func writeCommits(t testing.TB, s *store.Store, all []writtenCommit) shard.Header {
	t.Helper()
	w := s.NewShardWriter()
	defer w.Close()
	for _, c := range all {
		if !w.FitsCommit(c.message, c.files) {
			t.Fatal("a commit does not fit")
		}
		if err := w.AddCommit(c.Commit, c.message, c.files); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryShardRoundTrip(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	all := commits(1, 1500)
	h := writeCommits(t, s, all)
	if !h.IsHistory() || h.Commits != len(all) {
		t.Errorf("header %+v, want %d commits", h, len(all))
	}
	sn := s.Snapshot()
	defer sn.Close()
	v, _ := sn.Shard(h.ID)
	table, err := v.Commits()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	text := v.Text()
	defer text.Close()
	slice := func(d uint32) string {
		b, err := text.Slice(docs.TextStart[d], docs.TextStart[d+1])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if table.Len() != len(all) || len(table.People) != 3 {
		t.Fatalf("%d commits of %d people, want %d of 3", table.Len(), len(table.People), len(all))
	}
	for i, want := range all {
		if got := table.At(i); !reflect.DeepEqual(got, want.Commit) {
			t.Errorf("commit %d\n got %+v\nwant %+v", i, got, want.Commit)
		}
		first, end := table.Message[i], table.Message[i+1]
		if got := slice(first); got != want.message || docs.Path(int(first)) != "" {
			t.Errorf("message of commit %d at %q is %q, want %q", i, docs.Path(int(first)), got, want.message)
		}
		if int(end-first) != len(want.files)+1 {
			t.Fatalf("commit %d has %d documents, want %d", i, end-first, len(want.files)+1)
		}
		for f, want := range want.files {
			d := first + 1 + uint32(f)
			got := shard.ChangedFile{Path: docs.Path(int(d)), OldPath: table.OldPath(int(d)), Status: table.Status[d], Mode: docs.Mode[d], Reason: docs.Reason[d]}
			hunks := slice(d)
			got.Hunks = want.Hunks
			if !reflect.DeepEqual(got, want) || hunks != string(want.Hunks) {
				t.Errorf("file %d of commit %d\n got %+v and %d bytes\nwant %+v", f, i, got, len(hunks), want)
			}
			if table.Of(uint16(d)) != i {
				t.Errorf("document %d belongs to commit %d, want %d", d, table.Of(uint16(d)), i)
			}
		}
	}
	// A renamed file is found by both of its paths.
	lists := v.ListReader()
	defer lists.Close()
	ev := postings.Evaluator{Reader: v.Lists(shard.FieldPath, lists)}
	found, err := ev.Eval(&postings.Literal{Runs: []string{"older"}})
	if err != nil {
		t.Fatal(err)
	}
	for d := range docs.Len() {
		if want := table.OldPath(d) != ""; found.Docs.Contains(uint16(d)) != want {
			t.Errorf("document %d, once called %q: found by that is %t", d, table.OldPath(d), !want)
		}
	}
}

func TestCommitsAndFilesApart(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	w := s.NewShardWriter()
	defer w.Close()
	if err := w.AddDocument(shard.Document{Path: "a"}, nil, true); err != nil {
		t.Fatal(err)
	}
	if err := w.AddCommit(shard.Commit{OID: make([]byte, 20)}, "m", nil); err == nil {
		t.Error("a commit was taken into a shard of files")
	}
	docs, texts := documents(1, 3)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	defer sn.Close()
	v, _ := sn.Shard(h.ID)
	if c, err := v.Commits(); c != nil || err != nil || h.IsHistory() {
		t.Errorf("commits of a shard of files: %v, %v", c, err)
	}
}

func TestPeople(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	r, err := s.Repositories().New(store.Repository{Name: "r"})
	if err != nil {
		t.Fatal(err)
	}
	odd, proper := shard.Person{Name: "a", Email: "odd"}, shard.Person{Name: "Ada", Email: "ada"}
	read := func() store.People {
		sn := s.Snapshot()
		defer sn.Close()
		m, err := sn.People(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if got := read().Is(odd); got != odd {
		t.Errorf("without a mailmap %v is %v", odd, got)
	}
	if err := s.Commit(store.Change{People: map[uint32]store.People{r.ID: {odd: proper, {}: odd}}}); err != nil {
		t.Fatal(err)
	}
	if m := read(); m.Is(odd) != proper || m.Is(proper) != proper || m.Is(shard.Person{}) != odd {
		t.Errorf("people = %v", m)
	}
	if err := s.Commit(store.Change{Remove: []uint32{r.ID}}); err != nil {
		t.Fatal(err)
	}
	if m := read(); len(m) > 0 {
		t.Errorf("people of a removed repository: %v", m)
	}
}
