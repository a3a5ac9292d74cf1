package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/search/report"
)

// revSpec is one part of a list of revisions, as typed behind the @ of a repo:
// filter.
type revSpec struct {
	kind revKind
	// typed is the whole part, text what it says of revisions: a name or a glob.
	typed, text string
	// when is for revisionAt.
	when time.Time
}

type revKind int

const (
	// oneRevision is a branch, a tag, a commit, or an expression of git's.
	oneRevision revKind = iota
	// globbed are all refs that match text, globbedOut takes those out again.
	globbed
	globbedOut
	// revisionAt is the commit of text and its first parents at a time.
	revisionAt
	// excluded are the commits that text reaches, for searches of commits.
	excluded
)

// parseRevSpecs reads the revisions of a repo: filter; none stand for the
// default branch.
func parseRevSpecs(revs []string, now time.Time) ([]revSpec, error) {
	if len(revs) == 0 {
		return []revSpec{{}}, nil
	}
	var out []revSpec
	for _, rev := range revs {
		s, err := parseRevSpec(rev, now)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o revSpec) bool { return o.typed == s.typed }) {
			out = append(out, s)
		}
	}
	return out, nil
}

func parseRevSpec(rev string, now time.Time) (revSpec, error) {
	s := revSpec{typed: rev, text: rev}
	if when, base, ok := query.ParseAtTime(rev); ok {
		t, err := date.Parse(when, now)
		if err != nil {
			return s, &query.SyntaxError{Message: err.Error()}
		}
		return revSpec{kind: revisionAt, typed: strings.Trim(rev, "«»"), text: base, when: t}, nil
	}
	switch {
	case rev == "*" || rev == "*!":
	case strings.HasPrefix(rev, "*!"):
		if s.kind, s.text = globbedOut, rev[2:]; !strings.HasPrefix(s.text, "refs/") {
			return s, &query.SyntaxError{
				Message: fmt.Sprintf(`git ref exclude glob must begin with "refs/" (got %q)`, s.text),
				Hint:    "*!refs/" + s.text,
			}
		}
	case rev[0] == '*':
		s.kind, s.text = globbed, rev[1:]
	case rev[0] == '^':
		s.kind, s.text = excluded, rev[1:]
	}
	return s, nil
}

// intersect returns the parts that all lists have, in the order of the first.
func intersect(lists [][]revSpec) []revSpec {
	out := slices.Clone(lists[0])
	for _, other := range lists[1:] {
		out = slices.DeleteFunc(out, func(s revSpec) bool {
			return !slices.ContainsFunc(other, func(o revSpec) bool { return o.typed == s.typed })
		})
	}
	return out
}

// lacking are revisions that repositories do not have, in the order they came.
type lacking struct {
	repositories []string
	revs         map[string][]string
}

func (l *lacking) add(repository string, revs ...string) {
	if l.revs == nil {
		l.revs = map[string][]string{}
	}
	if _, known := l.revs[repository]; !known {
		l.repositories = append(l.repositories, repository)
	}
	for _, rev := range revs {
		if !slices.Contains(l.revs[repository], rev) {
			l.revs[repository] = append(l.revs[repository], rev)
		}
	}
}

// alert names them; it is nil if there are none.
func (l *lacking) alert() *query.Alert {
	if len(l.repositories) == 0 {
		return nil
	}
	a := &query.Alert{Title: "Some repositories could not be searched"}
	name := l.repositories[0]
	switch revs := l.revs[name]; {
	case len(l.repositories) == 1 && len(revs) == 1:
		a.Description = fmt.Sprintf("The repository %s matched by your repo: filter could not be searched because it does not contain the revision %q.",
			name, revs[0])
	case len(l.repositories) == 1:
		a.Description = fmt.Sprintf("The repository %s matched by your repo: filter could not be searched because it has multiple specified revisions: @%s.",
			name, strings.Join(revs, ","))
	default:
		var b strings.Builder
		fmt.Fprintf(&b, "%d repositories matched by your repo: filter could not be searched because the following revisions do not exist, "+
			"or differ but were specified for the same repository:", len(l.repositories))
		for i, name := range l.repositories {
			if i == report.MaxNamed {
				b.WriteString("\n* ...")
				break
			}
			b.WriteString("\n* " + name + "@" + strings.Join(l.revs[name], ","))
		}
		a.Description = b.String()
	}
	return a
}

// invalidRevisionAlert is for a text that can be no revision.
func invalidRevisionAlert(rev string) *query.Alert {
	return &query.Alert{
		Title: "Invalid revision syntax",
		Description: fmt.Sprintf("We don't know how to interpret the revision (%s) you specified. "+
			"Learn more about the revision syntax in our documentation: https://git-scm.com/docs/gitrevisions", strings.TrimSuffix(rev, "^0")),
	}
}
