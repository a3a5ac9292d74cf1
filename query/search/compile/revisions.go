package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
)

// Revision is one part of a list of revisions, as typed behind the @ of a repo:
// filter.
type Revision struct {
	Kind RevisionKind
	// Typed is the whole part, Text the name or the glob in it.
	Typed, Text string
	// When is the time of a RevisionAt.
	When time.Time
}

// RevisionKind is what a part of a list of revisions stands for.
type RevisionKind int

const (
	// OneRevision is a branch, a tag, a commit, or an expression of git's.
	OneRevision RevisionKind = iota
	// Globbed stands for all refs that match Text.
	Globbed
	// GlobbedOut takes the refs that match Text out again.
	GlobbedOut
	// RevisionAt is the commit that Text and its first parents had at a time.
	RevisionAt
	// Excluded stands for the commits that Text reaches, for searches of commits.
	Excluded
)

// parseRevSpecs reads the revisions of a repo: filter; none stand for the
// default branch.
func parseRevSpecs(revs []string, now time.Time) ([]Revision, error) {
	if len(revs) == 0 {
		return []Revision{{}}, nil
	}
	var out []Revision
	for _, rev := range revs {
		s, err := parseRevSpec(rev, now)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o Revision) bool { return o.Typed == s.Typed }) {
			out = append(out, s)
		}
	}
	return out, nil
}

func parseRevSpec(rev string, now time.Time) (Revision, error) {
	s := Revision{Typed: rev, Text: rev}
	if when, base, ok := query.ParseAtTime(rev); ok {
		t, err := date.Parse(when, now)
		if err != nil {
			return s, &query.SyntaxError{Message: err.Error()}
		}
		return Revision{Kind: RevisionAt, Typed: strings.Trim(rev, "«»"), Text: base, When: t}, nil
	}
	switch {
	case rev == "*" || rev == "*!":
	case strings.HasPrefix(rev, "*!"):
		if s.Kind, s.Text = GlobbedOut, rev[2:]; !strings.HasPrefix(s.Text, "refs/") {
			return s, &query.SyntaxError{
				Message: fmt.Sprintf(`git ref exclude glob must begin with "refs/" (got %q)`, s.Text),
				Hint:    "*!refs/" + s.Text,
			}
		}
	case rev[0] == '*':
		s.Kind, s.Text = Globbed, rev[1:]
	case rev[0] == '^':
		s.Kind, s.Text = Excluded, rev[1:]
	}
	return s, nil
}

// intersect returns the parts that all lists have, in the order of the first.
func intersect(lists [][]Revision) []Revision {
	out := slices.Clone(lists[0])
	for _, other := range lists[1:] {
		out = slices.DeleteFunc(out, func(s Revision) bool {
			return !slices.ContainsFunc(other, func(o Revision) bool { return o.Typed == s.Typed })
		})
	}
	return out
}
