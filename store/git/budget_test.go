package git_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/git"
)

// TestBudgetOfManyBombs: readers of several repositories, each of which has git
// take as much memory as one process may, stay within what all may take. Those
// for whom there is no room are told so, and what is small is read beside them.
func TestBudgetOfManyBombs(t *testing.T) {
	const readers = 12
	x := newFixture(t)
	x.write("a.txt", "one\n")
	small := x.commit()
	tree := x.gitInput("100644 blob "+x.textBomb(t, "a\n", 60<<20)+"\tbomb\n", "mktree")
	bomb := x.git("commit-tree", "-m", "bomb", tree)
	for _, test := range []struct {
		name   string
		budget *git.Budget
		within int64
	}{
		{"ended", git.NewBudget(git.LeastBudget), maxGrowth},
		{"waiting", git.NewBudget(git.LeastBudget).Patient(time.Minute), maxGrowth},
	} {
		t.Run(test.name, func(t *testing.T) {
			repo, err := test.budget.Open(t.Context(), x.dir)
			if err != nil {
				t.Fatal(err)
			}
			// On a busy machine the goroutine that watches them may not run for
			// a while.
			most := readAtOnce(t, repo, bomb, small, readers)
			for tries := 1; most > test.within && tries < 20; tries++ {
				time.Sleep(time.Duration(tries) * 100 * time.Millisecond)
				most = readAtOnce(t, repo, bomb, small, readers)
			}
			if most > test.within {
				t.Errorf("git took %d MiB, want at most %d", most>>20, test.within>>20)
			}
			// Afterwards there is room again.
			if err := repo.Log(t.Context(), []string{small}, git.LogOptions{}, func(*git.Commit) error { return nil }); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// readAtOnce has many read a commit at once that git takes all it may for, and
// returns how much git took at most. All are told that it is too much.
func readAtOnce(t *testing.T, repo *git.Repo, bomb, small string, readers int) (most int64) {
	t.Helper()
	errs := make([]error, readers)
	most = peak(t, func() {
		var wg sync.WaitGroup
		for i := range readers {
			wg.Go(func() {
				errs[i] = repo.Log(t.Context(), []string{bomb}, git.LogOptions{Depth: git.LogHunks, MaxFileBytes: git.MaxDiffBytes}, func(*git.Commit) error { return nil })
			})
		}
		// Who asks for little does not wait.
		for range 20 {
			if got, err := repo.Resolve(t.Context(), "main"); err != nil || got != small {
				t.Errorf("beside them Resolve = %q, %v", got, err)
			}
		}
		wg.Wait()
	})
	told := map[error]int{}
	for _, err := range errs {
		for _, kind := range []error{git.ErrTooCostly, git.ErrBusy} {
			if errors.Is(err, kind) {
				told[kind]++
			}
		}
		oneLine(t, err)
	}
	t.Logf("git took %d MiB, %v", most>>20, told)
	if told[git.ErrTooCostly]+told[git.ErrBusy] != readers {
		t.Errorf("%q are told, want each ErrTooCostly or ErrBusy", errs)
	}
	return most
}

// TestBudgetWaits: who wants room waits for as long as it is patient, its context
// goes on, and others do not leave.
func TestBudgetWaits(t *testing.T) {
	x := newFixture(t)
	commit := x.commit()
	b := git.NewBudget(0)
	repo := func(patience time.Duration) *git.Repo {
		t.Helper()
		r, err := b.Patient(patience).Open(t.Context(), x.dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	list := func(ctx context.Context, r *git.Repo) error {
		return r.ListTree(ctx, commit, func(git.TreeEntry) error { return nil })
	}
	leave := git.Occupy(b, git.LeastBudget*3/4)
	for name, err := range map[string]error{
		"a list": list(t.Context(), repo(0)),
		"a reader": func() error {
			blobs, err := repo(0).Blobs(t.Context())
			if err == nil {
				blobs.Close()
			}
			return err
		}(),
	} {
		if !errors.Is(err, git.ErrBusy) {
			t.Errorf("%s without patience: %v, want ErrBusy", name, err)
		}
		oneLine(t, err, "MiB", "try again")
	}
	patient := repo(time.Hour)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	waited := make(chan error)
	go func() { waited <- list(ctx, patient) }()
	cancel(gone)
	if err := <-waited; !errors.Is(err, gone) {
		t.Errorf("a wait that was given up: %v, want %v", err, gone)
	}
	go func() { waited <- list(t.Context(), patient) }()
	leave()
	if err := <-waited; err != nil {
		t.Errorf("behind others: %v", err)
	}
}

// TestSyncsComeFirst: what requests take keeps no sync waiting, and a process of
// a request is ended before one of a sync.
func TestSyncsComeFirst(t *testing.T) {
	x := newFixture(t)
	commit := x.commit()
	b := git.NewBudget(0)
	list := func(b *git.Budget) error {
		t.Helper()
		r, err := b.Open(t.Context(), x.dir)
		if err != nil {
			t.Fatal(err)
		}
		return r.ListTree(t.Context(), commit, func(git.TreeEntry) error { return nil })
	}
	leave := git.Occupy(b, git.LeastBudget*3/4)
	if err := list(b); !errors.Is(err, git.ErrBusy) {
		t.Errorf("a request beside requests: %v, want ErrBusy", err)
	}
	if err := list(b.ForSyncs()); err != nil {
		t.Errorf("a sync beside requests: %v, want it done", err)
	}
	leave()

	// A sync that takes much ends a request that takes less.
	ended, gone := git.OccupyUntilEnded(b, git.LeastBudget/2)
	defer gone()
	leave = git.Occupy(b.ForSyncs(), git.LeastBudget*3/4)
	if err := ended.Wait(); !errors.Is(err, git.ErrBusy) {
		t.Errorf("a request was ended for %v, want ErrBusy", err)
	}
	if err := list(b.ForSyncs()); !errors.Is(err, git.ErrBusy) {
		t.Errorf("a sync beside a sync: %v, want ErrBusy", err)
	}
	leave()
}

// TestUntakenOutput: a process of a request whose output is not read is ended
// with ErrBusy; one of a sync is not, and a reader starts another when it is
// used again.
func TestUntakenOutput(t *testing.T) {
	x := newFixture(t)
	for i := range 2000 {
		x.write(fmt.Sprintf("%0200d.txt", i), "one\n") // more than a pipe and a buffer hold
	}
	commit := x.commit()
	const soon = 20 * time.Millisecond
	open := func(b *git.Budget) *git.Repo {
		t.Helper()
		r, err := b.Open(t.Context(), x.dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	slow := func(r *git.Repo) error {
		first := true
		return r.ListTree(t.Context(), commit, func(git.TreeEntry) error {
			if first {
				for range 10 { // in steps, as all timers are over after a stall
					time.Sleep(soon)
				}
			}
			first = false
			return nil
		})
	}
	b := git.TakenWithin(git.NewBudget(0), soon)
	if err := slow(open(b)); !errors.Is(err, git.ErrBusy) {
		t.Errorf("a list that is not read: %v, want ErrBusy", err)
	}
	if err := slow(open(b.ForSyncs())); err != nil {
		t.Errorf("the list of a sync that takes a while: %v", err)
	}
	objects := open(git.TakenWithin(git.NewBudget(0), time.Hour)).Objects()
	defer objects.Close()
	git.IdleWithin(objects, soon)
	for range 2 {
		if _, err := objects.Read(t.Context(), commit, 1<<20); err != nil {
			t.Errorf("read a commit: %v", err)
		}
		for deadline := time.Now().Add(30 * time.Second); git.Running(objects); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the process of an idle reader still runs")
			}
		}
	}
	if size, err := objects.Size(t.Context(), commit); err != nil || size == 0 {
		t.Errorf("size of a commit: %d, %v", size, err)
	}
	if _, err := objects.Size(t.Context(), strings.Repeat("1", 40)); !errors.Is(err, git.ErrMissing) {
		t.Errorf("size of nothing: %v, want ErrMissing", err)
	}
}
