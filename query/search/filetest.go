package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// fileTest asks of a repository whether one of its documents has a path and a
// content; a side that is not asked for is empty.
type fileTest struct {
	fileQuestion
	negated bool
}

// fileQuestion is what makes two tests the same, so that it is answered once.
type fileQuestion struct {
	path, content string
	caseSensitive bool
}

// newFileTest returns ok false for a filter that is no test of files.
func newFileTest(f query.Filter, caseSensitive bool) (t fileTest, ok bool, err error) {
	t = fileTest{fileQuestion{caseSensitive: caseSensitive}, f.Negated}
	switch {
	case f.Field == "repohasfile":
		t.path = f.Value
	case f.Field != "repo" || f.Predicate == nil:
		return t, false, nil
	default:
		switch strings.Replace(f.Predicate.Name, "contains.", "has.", 1) {
		case "has.path":
			t.path = f.Predicate.Arg
		case "has.content":
			t.content = f.Predicate.Arg
		case "has.file", "contains":
			both, err := syntax.ParseFileTest(*f.Predicate)
			if err != nil {
				return t, false, &query.SyntaxError{Message: err.Error(), Span: f.Span}
			}
			t.path, t.content = both.Path, both.Content
		default:
			return t, false, nil
		}
	}
	// Both sides have to compile before anything is searched.
	_, err = t.basic(nil)
	return t, err == nil, err
}

// basic returns the search of documents that answers q for some repositories.
func (q fileQuestion) basic(targets map[uint32]*target) (*basic, error) {
	b := &basic{caseSensitive: q.caseSensitive, content: true, docs: true, targets: targets}
	if q.path != "" {
		m, err := match.Compile(q.path, true, q.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error()}
		}
		b.paths = []pathFilter{{Matcher: m}}
	}
	if q.content != "" {
		m, err := match.Compile(q.content, true, q.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error()}
		}
		b.atoms = []*atom{{Matcher: m, contentOnly: true}}
		b.tree = leaf(0)
	}
	b.order = b.readingOrder()
	return b, nil
}

// fileAnswer is what is known for one question. A revision is unknown when a
// part of it that could have held the document cannot be read.
type fileAnswer struct {
	asked, found, unknown map[revisionKey]bool
}

// testFiles takes from the targets of each basic query the revisions that do
// not pass its tests of files. One without a generation passes none, not
// even a negated one.
func (r *run) testFiles(ctx context.Context) error {
	answers := map[fileQuestion]*fileAnswer{}
	none, tested := true, false
	for _, b := range r.basics {
		if err := r.testTargets(ctx, answers, b.fileTests, b.targets); err != nil {
			return err
		}
		if err := r.testCommitAfter(ctx, b.commitAfter, b.targets, &r.sel.missing); err != nil {
			return err
		}
		none = none && len(b.targets) == 0
		tested = tested || len(b.fileTests) > 0 || b.commitAfter != nil
	}
	r.o.Report.Gaps().Missing(namesByID(r.sel.missing))
	if !none || !tested {
		return nil
	}
	return r.testLeftOut(ctx, answers)
}

// testTargets takes from targets what does not pass.
func (r *run) testTargets(ctx context.Context, answers map[fileQuestion]*fileAnswer, tests []fileTest, targets map[uint32]*target) error {
	for _, t := range tests {
		a := answers[t.fileQuestion]
		if a == nil {
			a = &fileAnswer{map[revisionKey]bool{}, map[revisionKey]bool{}, map[revisionKey]bool{}}
			answers[t.fileQuestion] = a
		}
		if err := r.ask(ctx, t.fileQuestion, a, targets); err != nil {
			return err
		}
		keepRevisions(targets, func(repo *target, rev *revision) bool {
			key := repo.key(rev)
			return repo.stored.Indexed() && !a.unknown[key] && a.found[key] != t.negated
		})
	}
	return nil
}

// keepRevisions leaves the revisions that keep wants, and the targets that
// have some.
func keepRevisions(targets map[uint32]*target, keep func(*target, *revision) bool) {
	for id, t := range targets {
		t.revs = slices.DeleteFunc(slices.Clone(t.revs), func(rev *revision) bool { return !keep(t, rev) })
		if len(t.revs) == 0 {
			delete(targets, id)
		}
	}
}

// testLeftOut forgets the forks and archived repositories that would not pass
// either: to ask for them is proposed when there is nothing else, and has to
// help.
func (r *run) testLeftOut(ctx context.Context, answers map[fileQuestion]*fileAnswer) error {
	if err := r.resolveLeftOut(ctx); err != nil {
		return err
	}
	passed := map[uint32]bool{}
	for _, b := range r.basics {
		if err := r.testTargets(ctx, answers, b.fileTests, b.leftOut); err != nil {
			return err
		}
		if err := r.testCommitAfter(ctx, b.commitAfter, b.leftOut, &[]*store.Repository{}); err != nil {
			return err
		}
		for id := range b.leftOut {
			passed[id] = true
		}
	}
	failed := func(id uint32, _ bool) bool { return !passed[id] }
	maps.DeleteFunc(r.sel.forks, failed)
	maps.DeleteFunc(r.sel.archived, failed)
	return nil
}

// ask finds the answer for those of the targets for which it is not known.
func (r *run) ask(ctx context.Context, q fileQuestion, a *fileAnswer, targets map[uint32]*target) error {
	start := r.set.Now()
	rest := map[uint32]*target{}
	for id, t := range targets {
		new := *t
		new.revs = slices.DeleteFunc(slices.Clone(t.revs), func(rev *revision) bool { return a.asked[t.key(rev)] })
		for _, rev := range new.revs {
			a.asked[t.key(rev)] = true
		}
		if len(new.revs) > 0 {
			rest[id] = &new
		}
	}
	b, err := q.basic(rest)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards a
	done := func(key revisionKey) bool {
		mu.Lock()
		defer mu.Unlock()
		return a.found[key] || a.unknown[key]
	}
	docs, err := r.scan(ctx, b, scan{
		done: done,
		found: func(keys []revisionKey, _ *verifier, _ uint16) error {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				a.found[key] = true
			}
			return nil
		},
		unreadable: func(src source) {
			mu.Lock()
			defer mu.Unlock()
			for key := range keysIn(rest, src) {
				if !a.found[key] {
					a.unknown[key] = true
				}
			}
		},
	})
	for key := range a.found {
		delete(a.unknown, key)
	}
	r.o.Trace.Add(report.Step{Name: "test repositories for files", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: append([]report.Field{
		report.Text("path", q.path), report.Text("content", q.content), report.Count("repositories", len(rest)), report.Count("passed", len(a.found)),
	}, r.work(report.Count("documents", docs))...)})
	return err
}

// scan is what a search of documents outside the answer does with them. Its
// functions are called from several goroutines.
type scan struct {
	// done says that no more documents of a revision are wanted.
	done func(revisionKey) bool
	// found is called with the verifier standing at a document that holds, and
	// the revisions that have it.
	found func(keys []revisionKey, v *verifier, i uint16) error
	// unreadable is called with a source of which not everything could be read.
	unreadable func(source)
}

// scan confirms documents for b, source by source, in no order. It returns how
// many were looked at.
func (r *run) scan(ctx context.Context, b *basic, s scan) (docs int, err error) {
	work := make(chan source)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards docs
	sources := r.sources([]*basic{b})
	for range min(r.workers(), len(sources)) {
		wg.Go(func() {
			v := newVerifier([]*basic{b}, Options{}, r.set.Brute)
			at := r.admitted.Slot()
			defer at.Release()
			for src := range work {
				if err := r.scanSource(ctx, at, v, src, b, s); err != nil && ctx.Err() == nil {
					s.unreadable(src)
				}
			}
			if err := v.close(); err != nil {
				r.fail(v.plan.view.ID, err)
			}
			mu.Lock()
			docs += v.docs
			mu.Unlock()
		})
	}
	for _, src := range sources {
		if ctx.Err() != nil {
			break
		}
		work <- src
	}
	close(work)
	wg.Wait()
	return docs, ctx.Err()
}

// scanSource confirms the documents of one source, and records what fails. A
// document that cannot be confirmed does not keep the others from it.
func (r *run) scanSource(ctx context.Context, at *admission.Slot, v *verifier, src source, b *basic, s scan) error {
	wanted := func() bool {
		for key := range keysIn(b.targets, src) {
			if !s.done(key) {
				return true
			}
		}
		return false
	}
	if !wanted() {
		return nil
	}
	var failed error
	in := r.newReading(r.snap)
	defer in.close()
	if src.rest == nil {
		in.at = at
		if err := at.Acquire(ctx); err != nil {
			return err
		}
	}
	err := r.plans(ctx, src, in, v.pass, func(p *shardPlan) bool {
		if err := v.scan(ctx, at, p, s); err != nil {
			failed = err
			if ctx.Err() == nil {
				r.fail(p.view.ID, err)
			}
		}
		if src.rest != nil {
			at.Release() // git reads meanwhile
		}
		return ctx.Err() == nil && wanted()
	})
	at.Release()
	return errors.Join(err, failed)
}

// scan confirms the candidates of a plan.
func (v *verifier) scan(ctx context.Context, at *admission.Slot, p *shardPlan, s scan) error {
	if err := v.use(ctx, p, at); err != nil {
		return err
	}
	var failed error
	for _, i := range p.candidates {
		if err := at.Acquire(ctx); err != nil {
			return err
		}
		if err := v.scanDocument(i, s); err != nil {
			failed = err
		}
	}
	return failed
}

// scanDocument calls s.found if the document holds. A panic over it is an
// error.
func (v *verifier) scanDocument(i uint16, s scan) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		v.doc.Release()
		if err != nil {
			err = fmt.Errorf("test %q of shard %d: %w", v.plan.docs.Path(int(i)), v.plan.view.ID, err)
		}
	}()
	path := v.plan.docs.Path(int(i))
	t := v.pass[0].targets[v.plan.docs.Repository[i]]
	var keys []revisionKey
	for _, rev := range v.revisions(0, i, path) {
		if key := t.key(rev); !s.done(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	holds, err := v.holds(0, i, v.goTo(i))
	if err != nil || !holds {
		return err
	}
	return s.found(keys, v, i)
}
