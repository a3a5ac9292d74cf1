package scope

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/documents"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
	"github.com/trawlsearch/trawl/store"
)

// fileAnswer is what is known for one question. A revision is unknown when a
// part of it that could have held the document cannot be read.
type fileAnswer struct {
	asked, found, unknown map[target.Key]bool
}

// testFiles takes from the targets of each basic query the revisions that do
// not pass its tests of files. One without a generation passes none, not
// even a negated one.
func (r *Scope) testFiles(ctx context.Context) error {
	answers := map[compile.FileQuestion]*fileAnswer{}
	none, tested := true, false
	for _, b := range r.queries {
		if err := r.testTargets(ctx, answers, b.FileTests, b.Repositories); err != nil {
			return err
		}
		if err := r.testCommitAfter(ctx, b.CommitAfter, b.Repositories, &r.sel.missing); err != nil {
			return err
		}
		none = none && b.Repositories.Len() == 0
		tested = tested || len(b.FileTests) > 0 || b.CommitAfter != nil
	}
	r.Report.Gaps().Missing(task.NamesByID(r.sel.missing))
	if !none || !tested {
		return nil
	}
	return r.testLeftOut(ctx, answers)
}

// testTargets takes from targets what does not pass.
func (r *Scope) testTargets(ctx context.Context, answers map[compile.FileQuestion]*fileAnswer, tests []compile.FileTest, targets *target.Set) error {
	for _, t := range tests {
		a := answers[t.FileQuestion]
		if a == nil {
			a = &fileAnswer{map[target.Key]bool{}, map[target.Key]bool{}, map[target.Key]bool{}}
			answers[t.FileQuestion] = a
		}
		if err := r.ask(ctx, t.FileQuestion, a, targets); err != nil {
			return err
		}
		targets.KeepRevisions(func(repo *target.Repository, rev *target.Revision) bool {
			key := repo.Key(rev)
			return repo.Stored.Indexed() && !a.unknown[key] && a.found[key] != t.Negated
		})
	}
	return nil
}

// testLeftOut forgets the forks and archived repositories that would not pass
// either: to ask for them is proposed when there is nothing else, and has to
// help.
func (r *Scope) testLeftOut(ctx context.Context, answers map[compile.FileQuestion]*fileAnswer) error {
	all := r.findLeftOut()
	if err := r.resolveLeftOut(ctx); err != nil {
		return err
	}
	passed := &store.IDs{}
	for _, b := range r.queries {
		if err := r.testTargets(ctx, answers, b.FileTests, b.LeftOut); err != nil {
			return err
		}
		if err := r.testCommitAfter(ctx, b.CommitAfter, b.LeftOut, &[]*store.Repository{}); err != nil {
			return err
		}
		passed.Join(b.LeftOut.IDs())
	}
	all.forks.Intersect(passed)
	all.archived.Intersect(passed)
	r.sel.leftOut = all
	return nil
}

// ask finds the answer for those of the targets for which it is not known.
func (r *Scope) ask(ctx context.Context, q compile.FileQuestion, a *fileAnswer, targets *target.Set) error {
	start := r.Now()
	var some []*target.Repository
	for t := range targets.All() {
		new := *t
		new.Revisions = slices.DeleteFunc(slices.Clone(t.Revisions), func(rev *target.Revision) bool { return a.asked[t.Key(rev)] })
		for _, rev := range new.Revisions {
			a.asked[t.Key(rev)] = true
		}
		if len(new.Revisions) > 0 {
			some = append(some, &new)
		}
	}
	rest := target.NewSet(some...)
	asks, err := q.Documents()
	if err != nil {
		return err
	}
	b := &target.Query{Query: asks, Repositories: rest}
	var mu sync.Mutex // guards a
	done := func(key target.Key) bool {
		mu.Lock()
		defer mu.Unlock()
		return a.found[key] || a.unknown[key]
	}
	docs, err := documents.Scan(ctx, r.Task, b, verify.Scan{
		Done: done,
		Found: func(keys []target.Key, _ *verify.Verifier, _ uint16) error {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				a.found[key] = true
			}
			return nil
		},
		Unreadable: func(src target.Source) {
			mu.Lock()
			defer mu.Unlock()
			for key := range target.KeysIn(r.Snapshot, rest, src) {
				if !a.found[key] {
					a.unknown[key] = true
				}
			}
		},
	})
	for key := range a.found {
		delete(a.unknown, key)
	}
	r.Step("test repositories for files", start, append([]report.Field{
		report.Text("path", q.Path), report.Text("content", q.Content), report.Count("repositories", rest.Len()), report.Count("passed", len(a.found)),
	}, r.Guarded(report.Count("documents", docs))...)...)
	return err
}
