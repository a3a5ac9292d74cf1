package scope

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/execute"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// gitWorkers is how many repositories one search asks at once.
	gitWorkers = 8
	// maxRevisions is how many revisions one search may have that are not
	// indexed.
	maxRevisions = 1000
	headsPrefix  = "refs/heads/"
)

// gitQuestion is what a search wants to know of one repository.
type gitQuestion struct {
	repo *store.Repository
	// revs are to be resolved, globs are those that refs have to match, times
	// are parts of the kind RevisionAt.
	revs, globs []string
	times       []compile.Revision
}

// gitAnswer is git's answer about it.
type gitAnswer struct {
	// commits are those of revisions and full refs, without what there is not;
	// at is for times, by the part as typed.
	commits, at map[string]string
	refs        []string
	// err says that the repository cannot be asked.
	err error
}

// resolveRevisions finds the revisions of all targets.
func (s *Scope) resolveRevisions(ctx context.Context) error {
	start := s.task.Now()
	asked, err := s.resolve(ctx, func(b *target.Query) **target.Repositories { return &b.Repositories }, &s.sel)
	if err == nil && asked > 0 {
		s.task.Step("resolve revisions", start, report.Count("repositories", asked))
	}
	return err
}

// resolveLeftOut does the same for the forks and archived repositories that
// were left out, whatever they lack.
func (s *Scope) resolveLeftOut(ctx context.Context) error {
	if _, err := s.resolve(ctx, func(b *target.Query) **target.Repositories { return &b.LeftOut }, &selection{}); err != nil {
		return err
	}
	return s.readContents(ctx, s.queries, func(b *target.Query) *target.Repositories { return b.LeftOut })
}

// resolve finds the revisions of the targets in a set of each basic query. A lazy set
// stays one if none of its repositories is searched at another revision than its default
// branch. It returns how many repositories were asked.
func (s *Scope) resolve(ctx context.Context, of func(*target.Query) **target.Repositories, sel *selection) (asked int, err error) {
	questions, unresolved := map[uint32]*gitQuestion{}, make([]*target.Repositories, len(s.queries))
	for i, b := range s.queries {
		unresolved[i] = takeOthers(s.task, b, *of(b))
		askFor(b, questions, unresolved[i])
	}
	answers, err := s.cache.ask(ctx, s.task, questions)
	if err != nil {
		return 0, err
	}
	for i, b := range s.queries {
		chooseRevisions(b, unresolved[i], answers, sel)
		if set := of(b); *set != unresolved[i] && unresolved[i].Len() > 0 {
			*set = target.Join([]*target.Repositories{*set, unresolved[i]})
		}
	}
	return len(questions), nil
}

// askFor adds what the targets need from git to questions.
func askFor(b *target.Query, questions map[uint32]*gitQuestion, targets *target.Repositories) {
	if b.Index == query.Only {
		return
	}
	for t := range targets.All() {
		if !t.Stored.Indexed() {
			continue
		}
		id := t.Stored.ID
		q := questions[id]
		if q == nil {
			q = &gitQuestion{repo: t.Stored}
		}
		for _, rev := range b.Revisions {
			askForRevision(b, q, rev)
		}
		if len(q.revs)+len(q.globs)+len(q.times) > 0 {
			questions[id] = q
		}
	}
}

func askForRevision(b *target.Query, q *gitQuestion, s compile.Revision) {
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	switch s.Kind {
	case compile.Globbed:
		add(&q.globs, s.Text)
		return
	case compile.GlobbedOut:
		return
	case compile.RevisionAt:
		if !slices.ContainsFunc(q.times, func(o compile.Revision) bool { return o.Typed == s.Typed }) {
			q.times = append(q.times, s)
		}
		add(&q.revs, s.Text)
	default:
		if indexedBranch(b, q.repo, s.Text) < 0 {
			add(&q.revs, gitName(s.Text))
		}
	}
}

// indexedBranch returns the number of the indexed branch to search for rev, or -1.
func indexedBranch(b *target.Query, repo *store.Repository, rev string) int {
	if b.Index == query.No {
		return -1
	}
	return branchOf(repo, rev)
}

// recordedAt answers for the times that the record of the repository tells, and returns the
// others: its default branch is where it was when it was indexed, and either none of its commits
// is newer or there is none.
func (a *gitAnswer) recordedAt(repo *git.Repo, of *store.Repository, times []compile.Revision) (rest []compile.Revision) {
	for _, s := range times {
		told := branchOf(of, s.Text) == 0 && (store.MarkEmpty.Of(of) || store.MarkDated.Of(of) && of.History.Newest <= s.When.Unix())
		if head, ok := repo.Head(); told && ok && head.Commit == of.Commit() && (isDefaultBranch(s.Text) || head.Name == of.Branches[0].Name) {
			a.commits[s.Text], a.at[s.Typed] = head.Commit, head.Commit
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}

// gitName writes out the default branch.
func gitName(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// ask asks the repositories, some at a time. An error is that of ctx.
func (c *Cache) ask(ctx context.Context, t *task.Task, questions map[uint32]*gitQuestion) (map[uint32]*gitAnswer, error) {
	answers := map[uint32]*gitAnswer{}
	if len(questions) == 0 {
		return answers, nil
	}
	var mu sync.Mutex // guards answers
	execute.Share(ctx, gitWorkers, slices.Collect(maps.Values(questions)), func(share iter.Seq2[int, *gitQuestion]) {
		for _, q := range share {
			a := &gitAnswer{commits: map[string]string{}, at: map[string]string{}}
			if a.err = c.askOne(ctx, t, q, a); a.err != nil && ctx.Err() == nil {
				t.FailRepository(q.repo, a.err)
			}
			mu.Lock()
			answers[q.repo.ID] = a
			mu.Unlock()
		}
	})
	return answers, ctx.Err()
}

// resolved is a key of the cache of commits: what a revision named when its
// repository was last looked at.
type resolved struct {
	repository uint32
	fetched    time.Time
	state      uint64
	rev        string
}

// of returns the key of a revision of the same repository.
func (r resolved) of(rev string) resolved {
	r.rev = rev
	return r
}

func (c *Cache) askOne(ctx context.Context, t *task.Task, q *gitQuestion, a *gitAnswer) (err error) {
	var repo *git.Repo
	times := q.times
	if len(times) > 0 {
		if repo, err = t.Git.Open(ctx, q.repo); err != nil {
			return err
		}
		times = a.recordedAt(repo, q.repo, times)
	}
	var unknown []string
	key := resolved{repository: q.repo.ID, fetched: q.repo.Fetched(), state: t.Git.State(q.repo)} // what comes of it is of no later time
	want := func(rev string) {
		if _, asked := a.commits[rev]; asked || slices.Contains(unknown, rev) {
			return
		}
		if commit, ok := c.commits.Get(key.of(rev)); ok {
			a.commits[rev] = commit
		} else {
			unknown = append(unknown, rev)
		}
	}
	for _, rev := range q.revs {
		want(rev)
	}
	if len(unknown)+len(q.globs)+len(times) == 0 {
		return nil
	}
	if repo == nil {
		if repo, err = t.Git.Open(ctx, q.repo); err != nil {
			return err
		}
	}
	release, err := t.GitSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := a.list(ctx, repo, q.globs); err != nil {
		return err
	}
	unknown = append(unknown, a.refs...)
	var indexed []string
	for _, b := range q.repo.Branches {
		indexed = append(indexed, b.Commit)
	}
	commits, err := repo.Commits(ctx, unknown, indexed...)
	if err != nil {
		return err
	}
	for i, rev := range unknown {
		if commits[i] != "" {
			a.commits[rev] = commits[i]
			c.commits.Put(key.of(rev), commits[i], len(rev)+len(commits[i]))
		}
	}
	for _, s := range times {
		base := a.commits[s.Text]
		if base == "" {
			continue
		}
		if a.at[s.Typed], err = repo.CommitBefore(ctx, base, s.When.Unix()); err != nil {
			return err
		}
	}
	return nil
}

// list finds the refs that match any of the globs.
func (a *gitAnswer) list(ctx context.Context, repo *git.Repo, globs []string) (err error) {
	if len(globs) == 0 {
		return nil
	}
	if a.refs, err = repo.Refs(ctx, "refs/"); err != nil {
		return err
	}
	a.refs = slices.DeleteFunc(a.refs, func(ref string) bool {
		return !slices.ContainsFunc(globs, func(glob string) bool { return git.MatchRef(glob, ref) })
	})
	return nil
}

// assembled gathers the revisions of one target.
type assembled struct {
	b      *target.Query
	t      *target.Repository
	answer *gitAnswer
	sel    *selection
	revs   []*target.Revision
	// typed are the names in revs: globs match tens of thousands of refs.
	typed map[string]bool
}

// chooseRevisions gives targets their revisions and takes away those that have none.
func chooseRevisions(b *target.Query, targets *target.Repositories, answers map[uint32]*gitAnswer, sel *selection) {
	targets.Keep(func(t *target.Repository) bool {
		if !t.Stored.Indexed() {
			// Its revisions are unknown, which is reported.
			if !b.RevisionsTyped {
				t.Revisions = []*target.Revision{{}}
			}
			return true
		}
		a := assembled{b: b, t: t, answer: answers[t.Stored.ID], sel: sel, typed: map[string]bool{}}
		t.Revisions = a.assemble()
		sel.passedOver = sel.passedOver || len(t.Revisions) == 0
		return len(t.Revisions) > 0
	})
}

// assemble returns the revisions in the order in which they were typed.
func (a *assembled) assemble() []*target.Revision {
	globs := map[*target.Revision]bool{} // those in revs that came from globs
	for _, s := range a.b.Revisions {
		switch s.Kind {
		case compile.OneRevision:
			a.one(s)
		case compile.RevisionAt:
			a.at(s)
		case compile.Globbed:
			a.globbed(s, globs)
		case compile.GlobbedOut:
			a.revs = slices.DeleteFunc(a.revs, func(rev *target.Revision) bool {
				out := globs[rev] && git.MatchRef(s.Text, fullRef(rev.Typed))
				if out {
					delete(a.typed, rev.Typed)
				}
				return out
			})
		case compile.Excluded:
			a.exclude(s)
		}
	}
	if len(a.revs) == 0 && len(a.t.Excluded) > 0 {
		a.one(compile.Revision{}) // what is left out is left out of the default branch
	}
	return a.revs
}

// exclude leaves out the commits of a revision; only searches of commits can.
func (a *assembled) exclude(s compile.Revision) {
	commit := ""
	if branch := indexedBranch(a.b, a.t.Stored, s.Text); branch >= 0 {
		commit = commitOf(a.t.Stored, branch)
	}
	switch {
	case a.b.Commits == nil:
		a.sel.invalid = s.Typed
		return
	case commit == "" && a.asked(s, s.Text):
		if commit = a.answer.commits[gitName(s.Text)]; commit == "" {
			a.sel.lacking.add(a.t.Stored.Name, s.Typed)
		}
	}
	if commit != "" {
		a.t.Excluded = append(a.t.Excluded, commit)
	}
}

// add adds a revision, indexed or not; branch is -1 if that is to be found out.
func (a *assembled) add(typed, commit string, branch int) *target.Revision {
	if a.typed[typed] {
		return nil
	}
	a.typed[typed] = true
	if branch < 0 && a.b.Index != query.No {
		branch = slices.IndexFunc(a.t.Stored.Branches, func(b store.Branch) bool { return b.Commit == commit })
	}
	rev := &target.Revision{Typed: typed, IsTyped: a.b.RevisionsTyped, Commit: commit, Branch: branch}
	a.revs = append(a.revs, rev)
	return rev
}

func (a *assembled) one(s compile.Revision) {
	if branch := indexedBranch(a.b, a.t.Stored, s.Text); branch >= 0 {
		a.add(s.Text, commitOf(a.t.Stored, branch), branch)
		return
	}
	if a.asked(s, s.Text) {
		if commit := a.answer.commits[gitName(s.Text)]; commit != "" {
			a.add(s.Text, commit, -1)
		} else if s.Text != "" {
			a.sel.lacking.add(a.t.Stored.Name, s.Typed)
		}
	}
}

// asked reports whether git was asked for a revision, and records why it was
// not.
func (a *assembled) asked(s compile.Revision, rev string) bool {
	switch {
	case git.CheckRevision(gitName(rev)) != nil:
		a.sel.invalid = s.Typed
	case a.b.Index == query.Only:
		a.sel.notIndexed.add(a.t.Stored.Name, s.Typed)
	case a.answer != nil && a.answer.err == nil:
		return true
	}
	return false
}

// at adds a commit by its id: that is a name which others understand. A
// repository without a commit at that time is passed over.
func (a *assembled) at(s compile.Revision) {
	if !a.asked(s, s.Text) {
		return
	}
	if a.answer.commits[s.Text] == "" {
		a.sel.lacking.add(a.t.Stored.Name, s.Typed)
		return
	}
	if commit := a.answer.at[s.Typed]; commit != "" {
		a.add(commit, commit, -1)
	}
}

// globbed adds the refs that a glob matches, and notes them in globs.
func (a *assembled) globbed(s compile.Revision, globs map[*target.Revision]bool) {
	if !a.asked(s, "HEAD") {
		return
	}
	found := false
	for _, ref := range a.answer.refs {
		commit := a.answer.commits[ref]
		if commit == "" || !git.MatchRef(s.Text, ref) {
			continue // a tag of a tree has no commit
		}
		found = true
		if rev := a.add(strings.TrimPrefix(ref, headsPrefix), commit, -1); rev != nil {
			globs[rev] = true
		}
	}
	if !found {
		a.sel.lacking.add(a.t.Stored.Name, s.Typed)
	}
}

// fullRef is the name of a ref that was shown without refs/heads/.
func fullRef(shown string) string {
	if strings.HasPrefix(shown, "refs/") {
		return shown
	}
	return headsPrefix + shown
}
