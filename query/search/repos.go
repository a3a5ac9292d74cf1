package search

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// target is a repository that a basic query searches.
type target struct {
	stored *store.Repository
	shown  *query.Repository
	// revs are what of it is searched, in the order of the query.
	revs []*revision
	// not are commits whose history is not searched, in searches of commits.
	not []string
}

// selection is what the repository filters of a query chose.
type selection struct {
	// forks and archived are the IDs of repositories left out by default.
	forks, archived map[uint32]bool
	// lacking are revisions that repositories do not have, notIndexed those that
	// index:only leaves out; invalid is a text that can be no revision.
	lacking, notIndexed lacking
	invalid             string
	// passedOver says that a chosen repository has none of the revisions asked
	// for.
	passedOver bool
	// cloning, indexing and missing are chosen repositories without a generation:
	// not fetched yet, not indexed yet, or because their source cannot be read.
	cloning, indexing, missing []*store.Repository
}

// selectRepositories sets b.targets. Repositories come in listing order.
func (b *basic) selectRepositories(repos []*store.Repository, shown func(*store.Repository) *query.Repository, now time.Time, sel *selection) error {
	f, err := newRepoFilter(b.Basic, now)
	if err != nil {
		return err
	}
	b.revSpecs, b.revsSaid = f.specs()
	b.targets, b.leftOut = map[uint32]*target{}, map[uint32]*target{}
	for _, r := range repos {
		if !f.matches(r) {
			continue
		}
		t := &target{stored: r, shown: shown(r)}
		if f.byDefault(r, sel) {
			b.leftOut[r.ID] = t
			continue
		}
		if len(b.revSpecs) == 0 {
			sel.lacking.add(r.Name, f.allTyped()...)
			continue
		}
		if !r.Indexed() {
			switch unreadyBecause(r) {
			case report.ReasonMissing:
				sel.missing = append(sel.missing, r)
			case report.ReasonCloning:
				sel.cloning = append(sel.cloning, r)
			default:
				sel.indexing = append(sel.indexing, r)
			}
		}
		b.targets[r.ID] = t
	}
	return nil
}

// unreadyBecause returns why a repository is not indexed yet. Only one whose
// source is elsewhere is cloned first.
func unreadyBecause(r *store.Repository) string {
	switch {
	case r.LastError != "":
		return report.ReasonMissing
	case r.Mirror && r.LastFetched.IsZero():
		return report.ReasonCloning
	}
	return report.ReasonIndexing
}

// repoFilter is the repository filters of a basic query.
type repoFilter struct {
	include, exclude []*regexp.Regexp
	// revs are the lists of revisions, one for each filter that has one.
	revs           [][]revSpec
	fork, archived query.YesNoOnly
	// forkSaid and archivedSaid say that the query has the filter.
	forkSaid, archivedSaid bool
	private, public        bool
	facts                  []factTest
}

func newRepoFilter(b query.Basic, now time.Time) (*repoFilter, error) {
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
			specs, err := parseRevSpecs(revs, now)
			if err != nil {
				return nil, err
			}
			f.revs = append(f.revs, specs)
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

// specs returns the revisions to search: those that all filters with a list
// have in common, none if they clash. said reports whether there was a list.
func (f *repoFilter) specs() (specs []revSpec, said bool) {
	if len(f.revs) == 0 {
		return []revSpec{{}}, false
	}
	return intersect(f.revs), true
}

// allTyped are the revisions of all filters.
func (f *repoFilter) allTyped() []string {
	var out []string
	for _, list := range f.revs {
		for _, s := range list {
			out = append(out, s.typed)
		}
	}
	return out
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

// showRepository returns what matches carry of a repository.
func showRepository(r *store.Repository) *query.Repository {
	return &query.Repository{
		ID: r.ID, Name: r.Name, Stars: r.Stars, LastFetched: r.LastFetched, Description: r.Description,
		Fork: r.Fork, Archived: r.Archived, Private: r.Private, Topics: r.Topics, Metadata: r.Metadata,
	}
}
