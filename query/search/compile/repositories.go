package compile

import (
	"cmp"
	"slices"
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
	// with are the marks that repositories have to have, without those that they must
	// not have.
	with, without []store.Mark
	facts         []FactFilter
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
	f.without = []store.Mark{store.MarkGone}
	visibility := map[string]string{"private": "only", "public": "no"}[strings.ToLower(b.Value("visibility"))]
	err := cmp.Or(f.readMark(store.MarkFork, b.Value("fork"), &f.fork), f.readMark(store.MarkArchived, b.Value("archived"), &f.archived),
		f.readMark(store.MarkPrivate, visibility, new(query.YesNoOnly)))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// readMark reads what a filter says of a mark, "" if the query has none.
func (f *RepositoryFilter) readMark(m store.Mark, text string, v *query.YesNoOnly) (err error) {
	if text == "" {
		return nil
	}
	if *v, err = query.ParseYesNoOnly(text); err != nil {
		return err
	}
	switch *v {
	case query.Only:
		f.with = append(f.with, m)
	case query.No:
		f.without = append(f.without, m)
	}
	return nil
}

// Names returns the tests of names: those that a repository has to pass and those
// that it must not pass.
func (f *RepositoryFilter) Names() (include, exclude []*match.LineMatcher) {
	return f.include, f.exclude
}

// Marks returns the marks that each repository has that f selects, and those that none
// has.
func (f *RepositoryFilter) Marks() (include, exclude []store.Mark) { return f.with, f.without }

// Facts returns the tests of facts.
func (f *RepositoryFilter) Facts() []FactFilter { return f.facts }

// Matches tests what is known of a repository besides its name, but for the defaults
// for forks and archived ones.
func (f *RepositoryFilter) Matches(r *store.Repository) bool {
	of := func(m store.Mark) bool { return m.Of(r) }
	lacks := func(m store.Mark) bool { return !m.Of(r) }
	if slices.ContainsFunc(f.with, lacks) || slices.ContainsFunc(f.without, of) {
		return false
	}
	for _, fact := range f.facts {
		if fact.test(r) == fact.Negated {
			return false
		}
	}
	return true
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
