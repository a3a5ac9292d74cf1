package commits

import (
	"context"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// eachPath calls f with the paths that the commits of a target changed which q
// asks for.
func (s *search) eachPath(ctx context.Context, of *target.Repository, f func(path string)) error {
	t := &targetCommits{Repository: of}
	if !t.Stored.Indexed() || t.Revisions[0].Commit == "" {
		return nil
	}
	s.plan(ctx)
	if err := s.arrange(ctx, t); err != nil {
		return err
	}
	for _, it := range t.indexed {
		p := it.shard
		for d := p.table.Message[it.commit] + 1; d < p.table.Message[it.commit+1]; d++ {
			f(p.docs.Path(int(d)))
		}
	}
	far := t.unindexed
	if t.isUnlisted {
		listed, err := s.list(ctx, t)
		if err != nil && ctx.Err() == nil {
			s.noteUnreadable(of, err)
		}
		_, far = s.divide(listed)
	}
	if len(far) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.eachLogged(ctx, of, far, f); err != nil && ctx.Err() == nil {
		s.noteUnreadable(of, err)
	}
	return ctx.Err()
}

// eachLogged is eachPath for commits that git is asked for.
func (s *search) eachLogged(ctx context.Context, t *target.Repository, far []item, f func(path string)) error {
	repo, err := s.task.Git.Open(ctx, t.Stored)
	if err != nil {
		return err
	}
	release, err := s.task.GitSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	oids := make([]string, len(far))
	for i, it := range far {
		oids[i] = it.oid
	}
	o := git.LogOptions{MaxFiles: git.MaxCommitFiles, Mailmap: t.Stored.Commit()}
	return repo.Log(ctx, oids, o, func(l *git.Commit) error {
		if s.q.wants(shard.Person(l.Author.Mapped), shard.Person(l.Committer.Mapped), l.Committer.Seconds) {
			for i := range l.Files {
				f(l.Files[i].Path)
			}
		}
		return nil
	})
}

// AuthoredPaths returns the paths that the commits of certain authors changed, of
// the history of one revision. ok is false if not all of it could be read, which
// is reported.
func AuthoredPaths(ctx context.Context, t *task.Task, of *target.Repository, rev *target.Revision, authored *compile.Commits) (paths map[string]struct{}, ok bool, err error) {
	one := &target.Repository{Stored: of.Stored, Shown: of.Shown, Revisions: []*target.Revision{rev}}
	q := &commitQuery{&target.Query{Query: &compile.Query{Index: query.Yes}, Repositories: target.NewRepositories(one)}, authored}
	c := newSearch(t, q)
	if c.people, err = c.peopleOf(q.Repositories); err != nil {
		return nil, false, err
	}
	paths = map[string]struct{}{}
	if err := c.eachPath(ctx, one, func(path string) { paths[path] = struct{}{} }); err != nil {
		return nil, false, err
	}
	if c.left.unreadable.Len() > 0 {
		c.reportLeft(nil)
		return paths, false, nil
	}
	return paths, true, nil
}
