package compile

import (
	"regexp"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// RepositoryFilter is the repository filters of a basic query.
type RepositoryFilter struct {
	include, exclude []*regexp.Regexp
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

// Matches tests a repository, but for the defaults for forks and archived ones.
func (f *RepositoryFilter) Matches(r *store.Repository) bool {
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
