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

// fileAnswers are what is known for the questions of a search.
type fileAnswers map[compile.FileQuestion]*fileAnswer

// fileAnswer is what is known for one question. A revision is unknown when a
// part of it that could have held the document cannot be read; then it may still be
// found in another part.
type fileAnswer struct{ asked, found, unknown revisionSet }

// revisionSet has the revisions of targets, and apart from them the repositories of lazy sets, each
// of which stands for its default branch.
type revisionSet struct {
	keys map[target.Key]bool
	ids  *store.IDs
}

func newRevisionSet() revisionSet { return revisionSet{map[target.Key]bool{}, &store.IDs{}} }

func (s revisionSet) has(isLazy bool, key target.Key) bool {
	if isLazy {
		return s.ids.Has(key.Repository)
	}
	return s.keys[key]
}

func (s revisionSet) add(isLazy bool, key target.Key) {
	if isLazy {
		s.ids.Add(key.Repository)
	} else {
		s.keys[key] = true
	}
}

func (s revisionSet) len() int { return s.ids.Len() + len(s.keys) }

// testFiles removes from the targets of each basic query the revisions that do
// not pass its tests of files. One without a generation passes none, not
// even a negated one.
func (s *Scope) testFiles(ctx context.Context) error {
	answers := fileAnswers{}
	none, tested := true, false
	for _, b := range s.queries {
		if err := answers.test(ctx, s.task, b.FileTests, b.Repositories); err != nil {
			return err
		}
		if err := testCommitAfter(ctx, s.task, b.CommitAfter, b.Repositories, &s.sel.missing); err != nil {
			return err
		}
		none = none && b.Repositories.Len() == 0
		tested = tested || len(b.FileTests) > 0 || b.CommitAfter != nil
	}
	s.task.Report.Skips().Add(report.Missing(task.NamesByID(s.sel.missing)))
	if !none || !tested {
		return nil
	}
	return s.testLeftOut(ctx, answers)
}

// test removes from targets what does not pass.
func (answers fileAnswers) test(ctx context.Context, t *task.Task, tests []compile.FileTest, targets *target.Repositories) error {
	for _, test := range tests {
		a := answers[test.FileQuestion]
		if a == nil {
			a = &fileAnswer{newRevisionSet(), newRevisionSet(), newRevisionSet()}
			answers[test.FileQuestion] = a
		}
		if err := a.ask(ctx, t, test, targets); err != nil {
			return err
		}
		if targets.IsLazy() {
			targets.KeepIDs(a.passed(t, test, targets))
			continue
		}
		targets.KeepRevisions(func(repo *target.Repository, rev *target.Revision) bool {
			key := repo.Key(rev)
			found := a.found.keys[key]
			return repo.Stored.Indexed() && found != test.Negated && (found || !a.unknown.keys[key])
		})
	}
	return nil
}

// passed returns those of a lazy set that pass. The set is the caller's.
func (a *fileAnswer) passed(t *task.Task, test compile.FileTest, targets *target.Repositories) *store.IDs {
	ids := targets.IDs().Clone()
	if !test.Negated {
		ids.Intersect(a.found.ids)
		return ids
	}
	ids.Subtract(a.found.ids)
	ids.Subtract(a.unknown.ids)
	ids.Subtract(t.Snapshot.MarkedIDs(store.MarkUnindexed))
	return ids
}

// testLeftOut forgets the forks and archived repositories that would not pass
// either: to ask for them is proposed when there is nothing else, and has to
// help.
func (s *Scope) testLeftOut(ctx context.Context, answers fileAnswers) error {
	all := s.findLeftOut()
	if err := s.resolveLeftOut(ctx); err != nil {
		return err
	}
	passed := &store.IDs{}
	for _, b := range s.queries {
		if err := answers.test(ctx, s.task, b.FileTests, b.LeftOut); err != nil {
			return err
		}
		if err := testCommitAfter(ctx, s.task, b.CommitAfter, b.LeftOut, &[]*store.Repository{}); err != nil {
			return err
		}
		passed.Join(b.LeftOut.IDs())
	}
	all.forks.Intersect(passed)
	all.archived.Intersect(passed)
	s.sel.leftOut = all
	return nil
}

// notAsked returns those of the targets for which the answer is not known, which are then
// asked about.
func (a *fileAnswer) notAsked(targets *target.Repositories) *target.Repositories {
	if targets.IsLazy() {
		ids := targets.IDs().Clone()
		ids.Subtract(a.asked.ids)
		a.asked.ids.Join(ids)
		return targets.In(ids)
	}
	var some []*target.Repository
	for repo := range targets.All() {
		new := *repo
		new.Revisions = slices.DeleteFunc(slices.Clone(repo.Revisions), func(rev *target.Revision) bool { return a.asked.keys[repo.Key(rev)] })
		for _, rev := range new.Revisions {
			a.asked.keys[repo.Key(rev)] = true
		}
		if len(new.Revisions) > 0 {
			some = append(some, &new)
		}
	}
	return target.NewRepositories(some...)
}

// ask finds the answer for those of the targets for which it is not known.
func (a *fileAnswer) ask(ctx context.Context, t *task.Task, test compile.FileTest, targets *target.Repositories) error {
	start := t.Now()
	rest, isLazy := a.notAsked(targets), targets.IsLazy()
	b := &target.Query{Query: test.Documents, Repositories: rest}
	var mu sync.Mutex // guards a
	done := func(key target.Key) bool {
		mu.Lock()
		defer mu.Unlock()
		return a.found.has(isLazy, key)
	}
	docs, err := documents.Scan(ctx, t, b, verify.Scan{
		Done: done,
		Found: func(keys []target.Key, _ *verify.Verifier, _ uint16) error {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				a.found.add(isLazy, key)
			}
			return nil
		},
		Unreadable: func(src target.Source) {
			mu.Lock()
			defer mu.Unlock()
			for key := range target.KeysIn(t.Snapshot, rest, src) {
				a.unknown.add(isLazy, key)
			}
		},
	})
	t.Step("test repositories for files", start, append([]report.Field{
		report.Text("path", test.Path), report.Text("content", test.Content), report.Count("repositories", rest.Len()), report.Count("passed", a.found.len()),
	}, t.Details(report.Count("documents", docs))...)...)
	return err
}
