package search_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store/git"
)

// TestGitIsBusy: while git's other processes take all the memory that there is
// for them, a search answers from the index without waiting for them, and tells
// what it could not read; afterwards it finds all.
func TestGitIsBusy(t *testing.T) {
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("the memory of children is known on Linux only")
	}
	g := &gitHistory{}
	old := g.commit(tree{"old.txt": "kiln old\n"}, nil, "refs/tags/old")
	g.commit(tree{"a.txt": "kiln a\n"}, []string{old}, "refs/heads/main")
	dir := g.write(t)
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: dir}})
	budget := git.NewBudget(git.LeastBudget)
	leave := crowd(t, budget, dir)
	for _, tt := range []struct {
		query string
		found int
	}{{"repo:r@old:main kiln", 1}, {"repo:r@old kiln", 0}} {
		a := c.search(t, search.Settings{Git: budget}, search.Options{}, tt.query, query.Keyword)
		skipped := a.results.Progress().Skipped
		if len(a.matches) != tt.found || len(skipped) != 1 || skipped[0].Reason != "git-busy" || !strings.Contains(skipped[0].Message, "`r`") {
			t.Errorf("%s: %d matches and %+v, want %d and that git is busy", tt.query, len(a.matches), skipped, tt.found)
		}
	}
	leave()
	if a := c.search(t, search.Settings{Git: budget}, search.Options{}, "repo:r@old:main kiln", query.Keyword); len(a.matches) != 2 || len(a.results.Progress().Skipped) > 0 {
		t.Errorf("afterwards: %d matches and %+v, want two", len(a.matches), a.results.Progress().Skipped)
	}
}

// crowd has processes of git hold an object each that nobody takes, until there is
// no room for others.
func crowd(t *testing.T, budget *git.Budget, dir string) (leave func()) {
	t.Helper()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 31<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	oid := runGit(t, dir, "", "hash-object", "-t", "tag", "--literally", "-w", large) // a blob would be streamed
	repo, err := budget.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	held := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			objects := repo.Objects()
			defer objects.Close()
			err := objects.Copy(t.Context(), oid, func(string, int64) (io.Writer, error) {
				<-held
				return nil, enough
			})
			if !errors.Is(err, enough) && !errors.Is(err, git.ErrBusy) { // since the others hold all there is
				t.Errorf("hold a file: %v", err)
			}
		})
	}
	for err == nil {
		err = repo.ListTree(t.Context(), "refs/heads/main", func(git.TreeEntry) error { return nil })
	}
	if !errors.Is(err, git.ErrBusy) {
		t.Fatalf("list beside them: %v, want ErrBusy", err)
	}
	return func() {
		close(held)
		wg.Wait()
	}
}
