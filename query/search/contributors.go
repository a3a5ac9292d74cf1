package search

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// contributorFilter is a file:has.contributor filter: somebody that m matches
// is the author of a commit that changed the file under its present path.
type contributorFilter struct {
	m       *match.Matcher
	negated bool
	// paths are those that such commits changed, once they are known.
	paths map[revisionKey]map[string]struct{}
}

func newContributorFilter(f query.Filter, caseSensitive bool) (*contributorFilter, error) {
	m, err := match.CompileWhole(f.Predicate.Arg, true, caseSensitive)
	if err != nil {
		return nil, &query.SyntaxError{Message: err.Error(), Span: f.Span}
	}
	return &contributorFilter{m: m, negated: f.Negated, paths: map[revisionKey]map[string]struct{}{}}, nil
}

// contributorsHold tests the contributors of a document at a revision.
func (b *basic) contributorsHold(at revisionKey, path string) bool {
	return !slices.ContainsFunc(b.contributors, func(f *contributorFilter) bool {
		_, contributed := f.paths[at][path]
		return contributed == f.negated
	})
}

// readContributors finds the paths for the filters of all basic queries. A
// revision whose history cannot be read is taken from the targets: nothing true
// can be said of its documents.
func (r *run) readContributors(ctx context.Context) error {
	for _, b := range r.basics {
		if b.commits != nil {
			continue // nothing that it finds is a file
		}
		for _, f := range b.contributors {
			if err := r.readContributor(ctx, b, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) readContributor(ctx context.Context, b *basic, f *contributorFilter) (err error) {
	for _, t := range b.targets {
		for _, rev := range slices.Clone(t.revs) {
			// A search of the commits of this author at one revision.
			one := &target{stored: t.stored, shown: t.shown, revs: []*revision{rev}}
			q := &commitQuery{basic: &basic{targets: map[uint32]*target{t.stored.ID: one}, index: query.Yes}, authors: []personFilter{{f.m, false}}}
			c := newCommitSearch(r, q)
			if c.people, err = r.peopleOf(q.targets); err != nil {
				return err
			}
			paths := map[string]struct{}{}
			if err := c.eachPath(ctx, one, func(path string) { paths[path] = struct{}{} }); err != nil {
				return err
			}
			f.paths[t.key(rev)] = paths
			if c.left.unreadable.Len() > 0 {
				c.reportLeft(nil)
				keepRevisions(b.targets, func(_ *target, other *revision) bool { return other != rev })
			}
		}
	}
	return nil
}

// eachPath calls f with the paths that the commits of a target changed which q
// asks for.
func (c *commitSearch) eachPath(ctx context.Context, t *target, f func(path string)) error {
	if !t.stored.Indexed() || t.revs[0].commit == "" {
		return nil
	}
	c.targets = []*target{t}
	c.plan(ctx)
	if err := c.arrange(ctx, t); err != nil {
		return err
	}
	for _, it := range c.indexed[t] {
		p := it.shard
		for d := p.table.Message[it.commit] + 1; d < p.table.Message[it.commit+1]; d++ {
			f(p.docs.Path(int(d)))
		}
	}
	far := c.unindexed[t]
	if len(c.unlisted) > 0 {
		listed, err := c.list(ctx, t)
		if err != nil && ctx.Err() == nil {
			c.noteUnreadable(t, err)
		}
		_, far = c.divide(listed)
	}
	if len(far) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := c.eachLogged(ctx, t, far, f); err != nil && ctx.Err() == nil {
		c.noteUnreadable(t, err)
	}
	return ctx.Err()
}

// eachLogged is eachPath for commits that git is asked for.
func (c *commitSearch) eachLogged(ctx context.Context, t *target, far []commitItem, f func(path string)) error {
	release, err := c.takeSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	repo, err := c.open(ctx, t.stored)
	if err != nil {
		return err
	}
	oids := make([]string, len(far))
	for i, it := range far {
		oids[i] = it.oid
	}
	o := git.LogOptions{MaxFiles: git.MaxCommitFiles, Mailmap: t.stored.Commit()}
	return repo.Log(ctx, oids, o, func(l *git.Commit) error {
		if c.q.wants(store.Person(l.Author.Mapped), store.Person(l.Committer.Mapped), l.Committer.Seconds) {
			for i := range l.Files {
				f(l.Files[i].Path)
			}
		}
		return nil
	})
}
