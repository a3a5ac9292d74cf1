package saved_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

func TestJobs(t *testing.T) {
	fs := vfs.NewMem()
	st := open(t, fs)
	b := saved.Open(st, saved.Options{})
	one, err := b.Jobs.Add("a", 3)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Jobs.Add("b", 0)
	if err != nil || two.ID != one.ID+1 || one.State != saved.JobQueued {
		t.Fatalf("jobs %+v and %+v, %v", one, two, err)
	}
	large := bytes.Repeat([]byte("x"), 300<<10)
	add := func(step *saved.JobStep) *saved.Job {
		t.Helper()
		j, err := b.Jobs.AddResults(one.ID, large, step)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	add(nil)
	add(&saved.JobStep{Repository: "r"})
	add(&saved.JobStep{Repository: "s", Failure: "gone"})
	if j := add(nil); j.Done != 2 || j.Failures != 1 || j.Bytes != 4*300<<10 || j.BytesDone != 3*300<<10 {
		t.Errorf("got %+v", j)
	}
	size := func() (n int) {
		t.Helper()
		for i := uint32(0); ; i++ {
			part, err := b.Jobs.Part(one.ID, i)
			if errors.Is(err, store.ErrNotFound) {
				return n
			}
			if err != nil {
				t.Fatal(err)
			}
			n += len(part)
		}
	}
	if n := size(); n != 4*300<<10 {
		t.Errorf("%d bytes of results, want %d", n, 4*300<<10)
	}
	// What was not finished when the process ended is found again.
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	b = saved.Open(st, saved.Options{})
	if j, err := b.Jobs.Rewind(one.ID); err != nil || j.Bytes != 3*300<<10 || size() != 3*300<<10 {
		t.Errorf("rewound: %+v, %v, %d bytes", j, err, size())
	}
	steps, err := b.Jobs.Steps(one.ID)
	if err != nil || len(steps) != 2 || steps[1].Failure != "gone" {
		t.Errorf("steps: %+v, %v", steps, err)
	}
	// What is over stays as it is.
	if _, err := b.Jobs.Change(one.ID, func(j *saved.Job) { j.State = saved.JobCanceled }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Jobs.AddResults(one.ID, large, nil); !errors.Is(err, saved.ErrConflict) {
		t.Errorf("results of a job that is over: got %v, want ErrConflict", err)
	}
	if err := b.Jobs.Remove(one.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Jobs.Get(one.ID); !errors.Is(err, store.ErrNotFound) || size() != 0 {
		t.Errorf("removed: got %v, %d bytes", err, size())
	}
	if all, err := b.Jobs.All(); err != nil || len(all) != 1 || all[0].ID != two.ID {
		t.Errorf("left: %+v, %v", all, err)
	}
}

func TestSearches(t *testing.T) {
	st := open(t, vfs.NewMem())
	defer st.Close()
	b := saved.Open(st, saved.Options{})
	s, err := b.Searches.Add(saved.Search{Query: "a", Owner: saved.Subject{Kind: saved.SubjectUser, ID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = b.Searches.Change(s.ID, func(s *saved.Search) { s.Query, s.ID = "b", 99 }); err != nil || s.Query != "b" || s.ID != 1 {
		t.Errorf("changed: %+v, %v", s, err)
	}
	if all, err := b.Searches.All(); err != nil || len(all) != 1 || all[0].Query != "b" {
		t.Errorf("all: %+v, %v", all, err)
	}
	if err := b.Searches.Remove(1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Searches.Get(1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removed: got %v, want ErrNotFound", err)
	}
	if again, err := b.Searches.Add(saved.Search{Query: "c"}); err != nil || again.ID != 2 {
		t.Errorf("after removal: %+v, %v; want another ID", again, err)
	}
}
