package search

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// gitWorkers is how many repositories one search asks at once, gitSlots how
	// many all searches do.
	gitWorkers = 8
	gitSlots   = 16
	// waitingForGit is how many of an asker's requests may wait for git: more than
	// there are turns, each with as many workers.
	waitingForGit = 1 << 16
	// maxRevisions is how many revisions one search may have that are not
	// indexed.
	maxRevisions = 1000
	headsPrefix  = "refs/heads/"
)

// gitQuestion is what a search wants to know of one repository.
type gitQuestion struct {
	repo *store.Repository
	// revs are to be resolved, globs are those that refs have to match, times
	// are parts of kind revisionAt.
	revs, globs []string
	times       []revSpec
}

// gitAnswer is what git knows of it.
type gitAnswer struct {
	// commits are those of revisions and full refs, without what there is not;
	// at is for times, by the part as typed.
	commits, at map[string]string
	refs        []string
	// err says that the repository cannot be asked.
	err error
}

// resolve finds the revisions of all targets.
func (r *run) resolve(ctx context.Context) error {
	start := r.set.Now()
	questions := map[uint32]*gitQuestion{}
	for _, b := range r.basics {
		b.ask(questions, b.targets)
	}
	answers, err := r.askGit(ctx, questions)
	if err != nil {
		return err
	}
	for _, b := range r.basics {
		r.chooseRevisions(b, b.targets, answers, &r.sel)
	}
	if len(questions) > 0 {
		r.o.Trace.Add(report.Step{Name: "resolve revisions", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: []report.Field{
			report.Count("repositories", len(questions)),
		}})
	}
	return nil
}

// resolveLeftOut does the same for the forks and archived repositories that
// were left out, whatever they lack.
func (r *run) resolveLeftOut(ctx context.Context) error {
	questions := map[uint32]*gitQuestion{}
	for _, b := range r.basics {
		b.ask(questions, b.leftOut)
	}
	answers, err := r.askGit(ctx, questions)
	if err != nil {
		return err
	}
	for _, b := range r.basics {
		r.chooseRevisions(b, b.leftOut, answers, &selection{})
	}
	return r.readContents(ctx, r.basics, func(b *basic) map[uint32]*target { return b.leftOut })
}

// ask adds what the targets need from git to questions.
func (b *basic) ask(questions map[uint32]*gitQuestion, targets map[uint32]*target) {
	if b.index == query.Only {
		return
	}
	for id, t := range targets {
		if !t.stored.Indexed() {
			continue
		}
		q := questions[id]
		if q == nil {
			q = &gitQuestion{repo: t.stored}
		}
		for _, s := range b.revSpecs {
			b.askSpec(q, s)
		}
		if len(q.revs)+len(q.globs)+len(q.times) > 0 {
			questions[id] = q
		}
	}
}

func (b *basic) askSpec(q *gitQuestion, s revSpec) {
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	switch s.kind {
	case globbed:
		add(&q.globs, s.text)
		return
	case globbedOut:
		return
	case revisionAt:
		if !slices.ContainsFunc(q.times, func(o revSpec) bool { return o.typed == s.typed }) {
			q.times = append(q.times, s)
		}
		add(&q.revs, s.text)
	default:
		if b.branchOf(q.repo, s.text) < 0 {
			add(&q.revs, gitName(s.text))
		}
	}
}

// branchOf returns the number of the indexed branch to search for rev, or -1.
func (b *basic) branchOf(repo *store.Repository, rev string) int {
	if b.index == query.No {
		return -1
	}
	return branchOf(repo, rev)
}

// gitName writes out the default branch.
func gitName(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// askGit asks the repositories, some at a time. An error is that of ctx.
func (r *run) askGit(ctx context.Context, questions map[uint32]*gitQuestion) (map[uint32]*gitAnswer, error) {
	answers := map[uint32]*gitAnswer{}
	if len(questions) == 0 {
		return answers, nil
	}
	var mu sync.Mutex // guards answers
	work := make(chan *gitQuestion)
	var wg sync.WaitGroup
	for range min(gitWorkers, len(questions)) {
		wg.Go(func() {
			for q := range work {
				a := &gitAnswer{commits: map[string]string{}, at: map[string]string{}}
				if a.err = r.askOne(ctx, q, a); a.err != nil && ctx.Err() == nil {
					r.noteUnreachable(q.repo, a.err)
				}
				mu.Lock()
				answers[q.repo.ID] = a
				mu.Unlock()
			}
		})
	}
	for _, q := range questions {
		select {
		case work <- q:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	wg.Wait()
	return answers, ctx.Err()
}

// takeSlot waits until git may run for this search, beside others. The asker
// with the fewest slots is next. The caller calls release.
func (r *run) takeSlot(ctx context.Context) (release func(), err error) {
	grant, err := r.gitSlots.Acquire(ctx, r.o.Asker, 1)
	if err != nil {
		return nil, err
	}
	return grant.Release, nil
}

// resolved is a key of the cache of commits: what a revision named when its
// repository was last looked at.
type resolved struct {
	repository uint32
	fetched    time.Time
	rev        string
}

func (r *run) askOne(ctx context.Context, q *gitQuestion, a *gitAnswer) error {
	var unknown []string
	want := func(rev string) {
		if _, asked := a.commits[rev]; asked || slices.Contains(unknown, rev) {
			return
		}
		if commit, ok := r.commits.get(resolved{q.repo.ID, q.repo.LastFetched, rev}); ok {
			a.commits[rev] = commit
		} else {
			unknown = append(unknown, rev)
		}
	}
	for _, rev := range q.revs {
		want(rev)
	}
	if len(unknown)+len(q.globs)+len(q.times) == 0 {
		return nil
	}
	release, err := r.takeSlot(ctx)
	if err != nil {
		return err
	}
	defer release()
	repo, err := r.open(ctx, q.repo)
	if err != nil {
		return err
	}
	if err := a.list(ctx, repo, q.globs); err != nil {
		return err
	}
	unknown = append(unknown, a.refs...)
	commits, err := repo.Commits(ctx, unknown)
	if err != nil {
		return err
	}
	for i, rev := range unknown {
		if commits[i] != "" {
			a.commits[rev] = commits[i]
			r.commits.put(resolved{q.repo.ID, q.repo.LastFetched, rev}, commits[i], len(rev)+len(commits[i]))
		}
	}
	for _, s := range q.times {
		base := a.commits[s.text]
		if base == "" {
			continue
		}
		if a.at[s.typed], err = repo.CommitBefore(ctx, base, s.when.Unix()); err != nil {
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

// errNoSource says that a repository has no git repository to be read from.
var errNoSource = errors.New("no source")

// open returns the git repository of repo, which is looked for once.
func (s *Searcher) open(ctx context.Context, repo *store.Repository) (*git.Repo, error) {
	dir := s.store.GitDir(repo)
	if dir == "" {
		return nil, errNoSource
	}
	if known, ok := s.opened.get(dir); ok {
		return known, nil
	}
	opened, err := s.set.Git.Open(ctx, dir)
	if err == nil {
		s.opened.put(dir, opened, 1)
	}
	return opened, err
}

// assembled gathers the revisions of one target.
type assembled struct {
	b      *basic
	t      *target
	answer *gitAnswer
	sel    *selection
	revs   []*revision
	// typed are the names in revs: globs match tens of thousands of refs.
	typed map[string]bool
}

// chooseRevisions gives targets their revisions and takes away those that have none.
func (r *run) chooseRevisions(b *basic, targets map[uint32]*target, answers map[uint32]*gitAnswer, sel *selection) {
	for _, repo := range r.repos {
		t := targets[repo.ID]
		if t == nil {
			continue
		}
		if !repo.Indexed() {
			// Its revisions are unknown, which is reported.
			if !b.revsSaid {
				t.revs = []*revision{{}}
			}
			continue
		}
		a := assembled{b: b, t: t, answer: answers[repo.ID], sel: sel, typed: map[string]bool{}}
		if t.revs = a.assemble(); len(t.revs) == 0 {
			delete(targets, repo.ID)
			sel.passedOver = true
		}
	}
}

// assemble returns the revisions in the order in which they were typed.
func (a *assembled) assemble() []*revision {
	globs := map[*revision]bool{} // those in revs that came from globs
	for _, s := range a.b.revSpecs {
		switch s.kind {
		case oneRevision:
			a.one(s)
		case revisionAt:
			a.at(s)
		case globbed:
			a.globbed(s, globs)
		case globbedOut:
			a.revs = slices.DeleteFunc(a.revs, func(rev *revision) bool {
				out := globs[rev] && git.MatchRef(s.text, fullRef(rev.typed))
				if out {
					delete(a.typed, rev.typed)
				}
				return out
			})
		case excluded:
			a.exclude(s)
		}
	}
	if len(a.revs) == 0 && len(a.t.not) > 0 {
		a.one(revSpec{}) // what is left out is left out of the default branch
	}
	return a.revs
}

// exclude leaves out the commits of a revision; only searches of commits can.
func (a *assembled) exclude(s revSpec) {
	commit := ""
	if branch := a.b.branchOf(a.t.stored, s.text); branch >= 0 {
		commit = commitOf(a.t.stored, branch)
	}
	switch {
	case a.b.commits == nil:
		a.sel.invalid = s.typed
		return
	case commit == "" && a.asked(s, s.text):
		if commit = a.answer.commits[gitName(s.text)]; commit == "" {
			a.sel.lacking.add(a.t.stored.Name, s.typed)
		}
	}
	if commit != "" {
		a.t.not = append(a.t.not, commit)
	}
}

// add adds a revision, indexed or not; branch is -1 if that is to be found out.
func (a *assembled) add(typed, commit string, branch int) *revision {
	if a.typed[typed] {
		return nil
	}
	a.typed[typed] = true
	if branch < 0 && a.b.index != query.No {
		branch = slices.IndexFunc(a.t.stored.Branches, func(b store.Branch) bool { return b.Commit == commit })
	}
	rev := &revision{typed: typed, said: a.b.revsSaid, commit: commit, branch: branch}
	a.revs = append(a.revs, rev)
	return rev
}

func (a *assembled) one(s revSpec) {
	if branch := a.b.branchOf(a.t.stored, s.text); branch >= 0 {
		a.add(s.text, commitOf(a.t.stored, branch), branch)
		return
	}
	if a.asked(s, s.text) {
		if commit := a.answer.commits[gitName(s.text)]; commit != "" {
			a.add(s.text, commit, -1)
		} else if s.text != "" {
			a.sel.lacking.add(a.t.stored.Name, s.typed)
		}
	}
}

// asked reports whether git was asked for a revision, and records why it was
// not.
func (a *assembled) asked(s revSpec, rev string) bool {
	switch {
	case git.CheckRevision(gitName(rev)) != nil:
		a.sel.invalid = s.typed
	case a.b.index == query.Only:
		a.sel.notIndexed.add(a.t.stored.Name, s.typed)
	case a.answer != nil && a.answer.err == nil:
		return true
	}
	return false
}

// at adds a commit by its id: that is a name which others understand. A
// repository without a commit at that time is passed over.
func (a *assembled) at(s revSpec) {
	if !a.asked(s, s.text) {
		return
	}
	if a.answer.commits[s.text] == "" {
		a.sel.lacking.add(a.t.stored.Name, s.typed)
		return
	}
	if commit := a.answer.at[s.typed]; commit != "" {
		a.add(commit, commit, -1)
	}
}

// globbed adds the refs that a glob matches, and notes them in globs.
func (a *assembled) globbed(s revSpec, globs map[*revision]bool) {
	if !a.asked(s, "HEAD") {
		return
	}
	found := false
	for _, ref := range a.answer.refs {
		commit := a.answer.commits[ref]
		if commit == "" || !git.MatchRef(s.text, ref) {
			continue // a tag of a tree has no commit
		}
		found = true
		if rev := a.add(strings.TrimPrefix(ref, headsPrefix), commit, -1); rev != nil {
			globs[rev] = true
		}
	}
	if !found {
		a.sel.lacking.add(a.t.stored.Name, s.typed)
	}
}

// fullRef is the name of a ref that was shown without refs/heads/.
func fullRef(shown string) string {
	if strings.HasPrefix(shown, "refs/") {
		return shown
	}
	return headsPrefix + shown
}
