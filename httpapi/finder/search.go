package finder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// lookEvery is how many paths are compared between two looks at the clock, and
// yieldEvery how long they are before other clients may go first.
const (
	lookEvery  = 512
	yieldEvery = 10 * time.Millisecond
)

// search compares paths with a pattern until its time is over.
type search struct {
	pattern *pattern
	best    best
	ends    time.Time
	// compared counts paths, and yield is when others may go first.
	compared int
	yield    time.Time
}

func newSearch(text string, most int, within time.Duration) *search {
	now := time.Now()
	return &search{pattern: newPattern(text), best: best{most: most}, ends: now.Add(within), yield: now.Add(yieldEvery)}
}

// errEnough ends a search whose time is over.
var errEnough = errors.New("enough")

// compare takes a path if it is of those that are searched. A name is that of the
// repository, with a slash, where it is compared too.
func (s *search) compare(ctx context.Context, name string, f file, lives func() bool) error {
	if s.compared++; s.compared%lookEvery == 0 {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	if !s.mayBeBest(name, f) || !lives() {
		return nil
	}
	var ok bool
	if f.found, ok = s.pattern.find(name, f.path, s.best.least()); ok {
		s.best.add(f)
	}
	return nil
}

// mayBeBest reports whether a path may match, and would be among the best then. Once these
// match as well as any path can, as names that thousands of repositories have do, few
// others need to be matched.
func (s *search) mayBeBest(name string, f file) bool {
	full := s.best.least() >= s.pattern.most
	if full {
		f.found = found{score: s.pattern.most, named: true}
		if !s.best.admits(f) {
			return false
		}
	}
	if !s.pattern.mayMatch(name, f.path) {
		return false
	}
	if full {
		f.named = s.pattern.mayName(f.path)
		return s.best.admits(f)
	}
	return true
}

func (s *search) look(ctx context.Context) error {
	now := time.Now()
	if now.After(s.ends) {
		return errEnough
	}
	if now.After(s.yield) {
		err := httpapi.WorkOf(ctx).Yield(ctx)
		waited := time.Since(now)
		s.ends, s.yield = s.ends.Add(waited), now.Add(waited+yieldEvery)
		return err
	}
	return ctx.Err()
}

// indexed looks through the paths of a branch of the index.
func (s *search) indexed(ctx context.Context, sn *store.Snapshot, r *store.Repository, branch int, name string) error {
	runs, err := code.RunsAt(sn, r, branch)
	if err != nil {
		return err
	}
	for n := range runs {
		run := &runs[n]
		for i := run.First; i < run.End; i++ {
			f := file{repository: r, path: run.Table.Path(i), quality: run.Table.Quality[i]}
			if err := s.compare(ctx, name, f, func() bool { return run.Lives(i) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// everywhere looks through the default branches of all repositories that may be seen,
// in the order in which they are listed.
func (s *search) everywhere(ctx context.Context, sn *store.Snapshot, visible func(*store.Repository) bool) error {
	for r := range sn.Listed() {
		if r.IsGone() || !visible(r) {
			continue
		}
		if err := s.indexed(ctx, sn, r, 0, r.Name+"/"); err != nil {
			return err
		}
	}
	return nil
}

func always() bool { return true }

// inGit looks through the paths of a commit that is not indexed.
func (s *search) inGit(ctx context.Context, reader *code.Reader, r *store.Repository, commit string) error {
	ctx, cancel := context.WithDeadline(ctx, s.ends)
	defer cancel()
	repo, err := reader.Repo(ctx)
	if err != nil {
		return err
	}
	err = repo.ListTree(ctx, commit, func(e git.TreeEntry) error {
		return s.compare(ctx, "", file{repository: r, path: strings.Clone(e.Path)}, always)
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errEnough
	}
	return err
}

// branchOf is the indexed branch that a revision names, -1 if none does.
func branchOf(r *store.Repository, rev string) int {
	if !r.Indexed() {
		return -1
	}
	if rev == "" || rev == "HEAD" {
		return 0
	}
	return slices.IndexFunc(r.Branches, func(b store.Branch) bool { return b.Name == rev || b.Commit == rev })
}
