package git_test

import (
	"context"
	"errors"
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
			// Whoever looks at them may itself not be let work for a while, on a machine
			// with much else to do.
			most := readAtOnce(t, repo, bomb, small, readers)
			for tries := 1; most > test.within && tries < 8; tries++ {
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
