package compile

import (
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// RepositoryFilter is the repository filters of a basic query.
type RepositoryFilter struct {
	include, exclude []*match.LineMatcher
	// revs are the lists of revisions, one for each filter that has one.
	revs           [][]Revision
	fork, archived query.YesNoOnly
	// forkSaid and archivedSaid say that the query has the filter.
	forkSaid, archivedSaid bool
	private, public        bool
	facts                  []FactFilter
}

func newRepoFilter(b query.Basic, now time.Time) (*RepositoryFilter, error) {
	f := &RepositoryFilter{}
	for _, r := range b.Values("repo") {
		if r.Predicate != nil {
			fact, err := newFactFilter(r)
			if err != nil {
				return nil, err
			}
			if fact.test != nil {
				f.facts = append(f.facts, fact)
			}
			continue
		}
		value, revs, hasRevs := r.Value, []string(nil), false
		if !r.Negated {
			value, revs, hasRevs = query.SplitRepoRevs(r.Value)
		}
		re, err := match.CompileLines(value, true, false)
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

// Names returns the tests of names: those that a repository has to pass and those
// that it must not pass.
func (f *RepositoryFilter) Names() (include, exclude []*match.LineMatcher) {
	return f.include, f.exclude
}

// Marks returns the marks that each repository has that f selects, and those that none
// has.
func (f *RepositoryFilter) Marks() (include, exclude []store.Mark) {
	for _, m := range []struct {
		store.Mark
		only, not bool
	}{
		{store.MarkFork, f.fork == query.Only, f.forkSaid && f.fork == query.No},
		{store.MarkArchived, f.archived == query.Only, f.archivedSaid && f.archived == query.No},
		{store.MarkPrivate, f.private, f.public},
		{store.MarkGone, false, true},
	} {
		if m.only {
			include = append(include, m.Mark)
		}
		if m.not {
			exclude = append(exclude, m.Mark)
		}
	}
	return include, exclude
}

// Facts returns the tests of facts.
func (f *RepositoryFilter) Facts() []FactFilter { return f.facts }

// Matches tests what is known of a repository besides its name, but for the defaults
// for forks and archived ones.
func (f *RepositoryFilter) Matches(r *store.Repository) bool {
	if r.IsGone() {
		return false
	}
	for _, fact := range f.facts {
		if fact.test(r) == fact.Negated {
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

// LeavesOut reports whether forks are left out, and archived repositories, because the
// query does not speak of such repositories.
func (f *RepositoryFilter) LeavesOut() (forks, archived bool) {
	return f.fork == query.No, f.archived == query.No
}

// specs returns the revisions to search: those that all filters with a list
// have in common, none if they clash. typed reports whether there was a list.
func (f *RepositoryFilter) specs() (specs []Revision, typed bool) {
	if len(f.revs) == 0 {
		return []Revision{{}}, false
	}
	return intersect(f.revs), true
}

// Typed returns the revisions of all filters, as they were typed.
func (f *RepositoryFilter) Typed() []string {
	var out []string
	for _, list := range f.revs {
		for _, s := range list {
			out = append(out, s.Typed)
		}
	}
	return out
}
