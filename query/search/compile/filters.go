package compile

import (
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/owners"
)

// CommitAfter asks of a repository whether it has a commit after a moment, by
// the committer's date.
type CommitAfter struct {
	Seconds int64
	Negated bool
}

// newCommitAfter returns the last such filter of a basic query, nil if it has
// none.
func newCommitAfter(b query.Basic, now time.Time) (*CommitAfter, error) {
	var out *CommitAfter
	for _, f := range b.Filters {
		text := f.Value
		switch {
		case f.Field == "repohascommitafter":
		case f.Field == "repo" && f.Predicate != nil && f.Predicate.Test() == "has.commit.after":
			text = f.Predicate.Arg
		default:
			continue
		}
		t, err := date.Parse(text, now)
		if err != nil {
			return nil, &query.SyntaxError{Message: fmt.Sprintf("filter has commit after: invalid time ref: %v", err), Span: f.Span}
		}
		out = &CommitAfter{t.Unix(), f.Negated}
	}
	return out, nil
}

// ContributorFilter is a file:has.contributor filter: a person that Matcher finds
// is the author of a commit that changed the file under its present path.
type ContributorFilter struct {
	Matcher *match.Matcher
	Negated bool
}

func newContributorFilter(f query.Filter, caseSensitive bool) (ContributorFilter, error) {
	m, err := match.CompileWhole(f.Predicate.Arg, true, caseSensitive)
	if err != nil {
		return ContributorFilter{}, &query.SyntaxError{Message: err.Error(), Span: f.Span}
	}
	return ContributorFilter{Matcher: m, Negated: f.Negated}, nil
}

// Commits returns the search of the commits that such contributors authored.
func (f ContributorFilter) Commits() *Commits {
	return &Commits{Authors: []PersonFilter{{f.Matcher, false}}}
}

// OwnerFilter is a file:has.owner filter; without a name it asks for any
// owner.
type OwnerFilter struct {
	name    string
	negated bool
}

// Holds tests the owners of a document.
func (f OwnerFilter) Holds(of []string) bool {
	owned := slices.ContainsFunc(of, func(o string) bool { return f.name == "" || owners.Is(o, f.name) })
	return owned != f.negated
}

// NeedsOwners reports whether q tests or selects owners.
func (q *Query) NeedsOwners() bool {
	return len(q.Owners) > 0 || slices.Equal(q.Select, []string{"file", "owners"})
}
