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
	facts                  []factTest
}

func newRepoFilter(b query.Basic, now time.Time) (*RepositoryFilter, error) {
	f := &RepositoryFilter{}
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

// Mark returns a mark that each repository has that f selects; ok is false if f asks
// for none.
func (f *RepositoryFilter) Mark() (m store.Mark, ok bool) {
	switch {
	case f.fork == query.Only:
		return store.MarkFork, true
	case f.archived == query.Only:
		return store.MarkArchived, true
	case f.private:
		return store.MarkPrivate, true
	}
	return 0, false
}

// MatchesAllBut reports whether f selects all repositories but some by their names,
// and forks or archived ones. For the rest Matches depends on nothing else.
func (f *RepositoryFilter) MatchesAllBut() bool {
	_, only := f.Mark()
	return !only && !f.public && len(f.include)+len(f.facts) == 0
}

// Defaults are what a filter that MatchesAllBut some by their names says about forks
// and archived repositories. Two with the same select the same of those.
type Defaults struct {
	fork, archived         query.YesNoOnly
	forkSaid, archivedSaid bool
}

// Defaults returns those of f.
func (f *RepositoryFilter) Defaults() Defaults {
	return Defaults{f.fork, f.archived, f.forkSaid, f.archivedSaid}
}

// Matches tests what is known of a repository besides its name, but for the defaults
// for forks and archived ones.
func (f *RepositoryFilter) Matches(r *store.Repository) bool {
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

// LeftOut reports whether r is left out as a fork, and as archived, because the
// query does not speak of such repositories.
func (f *RepositoryFilter) LeftOut(r *store.Repository) (fork, archived bool) {
	return r.Fork && f.fork == query.No, r.Archived && f.archived == query.No
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
