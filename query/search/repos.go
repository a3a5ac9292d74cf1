package search

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// target is a repository that a basic query searches.
type target struct {
	stored *store.Repository
	shown  *query.Repository
	// revs are what of it is searched, in the order of the query.
	revs []*revision
}

// selection is what the repository filters of a query chose.
type selection struct {
	// forks and archived are the IDs of repositories left out by default.
	forks, archived map[uint32]bool
	// unknownRevs are revisions asked for that are not indexed, as repo@rev.
	unknownRevs nameSet
	// cloning and missing are chosen repositories without a generation: not
	// yet, or because their source cannot be read.
	cloning, missing []*store.Repository
}

// selectRepositories sets b.targets. Repositories come in listing order.
func (b *basic) selectRepositories(repos []*store.Repository, shown func(*store.Repository) *query.Repository, sel *selection) error {
	f, err := newRepoFilter(b.Basic)
	if err != nil {
		return err
	}
	b.targets, b.leftOut = map[uint32]*target{}, map[uint32]*target{}
	for _, r := range repos {
		if !f.matches(r) {
			continue
		}
		t := &target{stored: r, shown: shown(r)}
		if f.byDefault(r, sel) {
			if f.resolve(t, &selection{}) {
				b.leftOut[r.ID] = t
			}
			continue
		}
		if !f.resolve(t, sel) {
			continue
		}
		if !r.Indexed() {
			if r.LastError != "" {
				sel.missing = append(sel.missing, r)
			} else {
				sel.cloning = append(sel.cloning, r)
			}
		}
		b.targets[r.ID] = t
	}
	return nil
}

// repoFilter is the repository filters of a basic query.
type repoFilter struct {
	include, exclude []*regexp.Regexp
	revs             []revFilter
	fork, archived   query.YesNoOnly
	// forkSaid and archivedSaid tell a filter from a default.
	forkSaid, archivedSaid bool
	private, public        bool
	facts                  []factTest
}

type revFilter struct {
	name *regexp.Regexp
	revs []string
}

func newRepoFilter(b query.Basic) (*repoFilter, error) {
	f := &repoFilter{}
	for _, r := range b.Values("repo") {
		if r.Predicate != nil {
			test, err := newFactTest(r)
			if err != nil {
				return nil, err
			}
			if test != nil {
				f.facts = append(f.facts, test)
			}
			continue
		}
		value, revs, hasRevs := r.Value, []string(nil), false
		if !r.Negated {
			value, revs, hasRevs = query.SplitRepoRevs(r.Value)
		}
		re, err := regexp.Compile("(?i)" + value)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: r.Span}
		}
		if r.Negated {
			f.exclude = append(f.exclude, re)
			continue
		}
		f.include = append(f.include, re)
		if hasRevs {
			if len(revs) == 0 {
				revs = []string{""}
			}
			f.revs = append(f.revs, revFilter{re, revs})
		}
	}
	if b.NamesOneRepo() {
		f.fork, f.archived = query.Yes, query.Yes
	}
	var err error
	if v := b.Value("fork"); v != "" {
		f.forkSaid = true
		if f.fork, err = query.ParseYesNoOnly(v); err != nil {
			return nil, err
		}
	}
	if v := b.Value("archived"); v != "" {
		f.archivedSaid = true
		if f.archived, err = query.ParseYesNoOnly(v); err != nil {
			return nil, err
		}
	}
	v := strings.ToLower(b.Value("visibility"))
	f.private, f.public = v == "private", v == "public"
	return f, nil
}

// matches tests everything but the defaults for forks and archived.
func (f *repoFilter) matches(r *store.Repository) bool {
	for _, re := range f.include {
		if !re.MatchString(r.Name) {
			return false
		}
	}
	for _, re := range f.exclude {
		if re.MatchString(r.Name) {
			return false
		}
	}
	for _, test := range f.facts {
		if !test(r) {
			return false
		}
	}
	if f.private && !r.Private || f.public && r.Private {
		return false
	}
	if f.fork == query.Only && !r.Fork || f.archived == query.Only && !r.Archived {
		return false
	}
	return (!f.forkSaid || f.fork != query.No || !r.Fork) && (!f.archivedSaid || f.archived != query.No || !r.Archived)
}

// byDefault reports whether r is left out because the query does not speak of
// forks or archived repositories, and counts it.
func (f *repoFilter) byDefault(r *store.Repository, sel *selection) bool {
	fork := r.Fork && f.fork == query.No
	archived := r.Archived && f.archived == query.No
	if fork {
		sel.forks[r.ID] = true
	}
	if archived {
		sel.archived[r.ID] = true
	}
	return fork || archived
}

// resolve finds the revisions to search, those that are indexed; false says
// that none is.
func (f *repoFilter) resolve(t *target, sel *selection) bool {
	for _, rf := range f.revs {
		t.revs = nil
		for _, rev := range rf.revs {
			branch := branchOf(t.stored, rev)
			if branch < 0 {
				sel.unknownRevs.add([]string{t.stored.Name + "@" + showRev(rev)})
				continue
			}
			t.revs = append(t.revs, &revision{typed: rev, said: true, commit: commitOf(t.stored, branch), branch: branch})
		}
		if len(t.revs) == 0 {
			return false
		}
	}
	if t.revs == nil {
		t.revs = []*revision{{commit: t.stored.Commit()}}
	}
	return true
}

// showRev returns rev as it was typed.
func showRev(rev string) string {
	if _, _, ok := query.ParseAtTime(rev); ok {
		return strings.Trim(rev, "«»")
	}
	return rev
}

// branchOf returns the number of the indexed branch that rev names, by its name
// or the beginning of its commit, or -1.
func branchOf(r *store.Repository, rev string) int {
	if rev == "HEAD" || rev == "" {
		return 0
	}
	name := strings.TrimPrefix(rev, "refs/heads/")
	if n := slices.IndexFunc(r.Branches, func(b store.Branch) bool { return b.Name == name }); n >= 0 && name != "" {
		return n
	}
	if len(rev) < shortestHash {
		return -1
	}
	rev = strings.ToLower(rev)
	return slices.IndexFunc(r.Branches, func(b store.Branch) bool { return strings.HasPrefix(b.Commit, rev) })
}

// shortestHash is how long the beginning of a commit's id must be.
const shortestHash = 4

// commitOf returns the commit of an indexed branch, "" if there is none.
func commitOf(r *store.Repository, branch int) string {
	if branch >= len(r.Branches) {
		return ""
	}
	return r.Branches[branch].Commit
}

// showRepository is what matches tell about a repository.
func showRepository(r *store.Repository) *query.Repository {
	return &query.Repository{
		ID: r.ID, Name: r.Name, Stars: r.Stars, LastFetched: r.LastFetched, Description: r.Description,
		Fork: r.Fork, Archived: r.Archived, Private: r.Private, Topics: r.Topics, Metadata: r.Metadata,
	}
}

func unknownRevsAlert(revs []string) *query.Alert {
	a := &query.Alert{Title: "Some repositories could not be searched"}
	if len(revs) == 1 {
		name, rev, _ := strings.Cut(revs[0], "@")
		a.Description = fmt.Sprintf("The revision %q of %s is not indexed. The default branch is: search it without a revision.", rev, name)
		return a
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d revisions are not indexed, only default branches are:", len(revs))
	for i, r := range revs {
		if i == 10 {
			b.WriteString("\n* ...")
			break
		}
		b.WriteString("\n* " + r)
	}
	a.Description = b.String()
	return a
}
