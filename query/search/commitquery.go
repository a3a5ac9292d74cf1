package search

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// commitQuery is what a basic query asks of commits: patterns are tried against
// messages, or with diff against the changed lines of each file.
type commitQuery struct {
	*basic
	diff bool
	// atoms and tree are those of the patterns; tree is nil if there is none
	// that could fail. content are the regexps of file:has.content.
	atoms   []*match.Matcher
	tree    tree
	content []*match.Matcher

	authors, committers []personFilter
	messages            []messageFilter
	// after and before bound the committer's date, both exclusive.
	after, before []int64
	// sign is '+' or '-' where only such lines are selected, else 0.
	sign byte
	// none says that nothing can be found.
	none bool
}

// personFilter is an author: or committer: filter.
type personFilter struct {
	m       *match.Matcher
	negated bool
}

// holds tries the name, the e-mail, and both as git writes them.
func (f personFilter) holds(p store.Person) bool {
	for _, s := range []string{p.Name, p.Email, p.Name + " <" + p.Email + ">"} {
		if _, found := f.m.Short(nil, s); found {
			return !f.negated
		}
	}
	return f.negated
}

// messageFilter is a message: filter.
type messageFilter struct {
	*match.Matcher
	negated bool
}

// commitTypes reports whether messages or diffs are asked for; diffs of both.
func commitTypes(b query.Basic) (commits, diff bool) {
	for _, t := range b.Values("type") {
		commits = commits || t.Value == "commit" || t.Value == "diff"
		diff = diff || t.Value == "diff"
	}
	return commits, diff
}

// newCommitQuery returns nil for a basic query that asks for no commits.
func newCommitQuery(b *basic, now time.Time, addresses func(string) []string) (*commitQuery, error) {
	commits, diff := commitTypes(b.Basic)
	if !commits {
		return nil, nil
	}
	q := &commitQuery{basic: b, diff: diff}
	compile := match.CompileWhole
	if diff {
		compile = match.Compile
	}
	for _, a := range b.atoms {
		if a.silent {
			q.content = append(q.content, a.Matcher)
			continue
		}
		m, err := compile(a.pattern.Value, a.pattern.IsRegexp, b.caseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: a.pattern.Span}
		}
		q.atoms = append(q.atoms, m)
	}
	// What file:has.content adds to the tree of b comes after the patterns.
	q.tree = b.patterns
	if q.tree == constant(true) {
		q.tree = nil
	}
	q.none = q.tree == constant(false) || len(q.content) > 0 && !diff || len(b.contributors) > 0
	if diff && len(b.sel) == 3 && b.sel[0] == "commit" {
		q.sign = map[string]byte{"added": '+', "removed": '-'}[b.sel[2]]
	}
	return q, q.filters(now, addresses)
}

// apartCommits returns the search of commits of b behind its other searches.
func (b *basic) apartCommits() []*basic {
	commits, rest := *b, *b
	rest.commits = nil
	commits.content, commits.path, commits.repos, commits.docs, commits.symbols = false, false, false, false, false
	commits.commits.basic = &commits
	if !b.content && !b.path && !b.repos && !b.symbols {
		return []*basic{&commits}
	}
	return append(rest.apart(), &commits)
}

// filters compiles those that are about commits only.
func (q *commitQuery) filters(now time.Time, addresses func(string) []string) error {
	for _, f := range q.Filters {
		var err error
		switch f.Field {
		case "author":
			q.authors, err = appendPerson(q.authors, f, q.caseSensitive, addresses)
		case "committer":
			q.committers, err = appendPerson(q.committers, f, q.caseSensitive, addresses)
		case "message":
			var m *match.Matcher
			m, err = match.CompileWhole(f.Value, true, q.caseSensitive)
			q.messages = append(q.messages, messageFilter{m, f.Negated})
		case "after", "before":
			var t time.Time
			t, err = date.Parse(f.Value, now)
			if f.Field == "after" {
				q.after = append(q.after, t.Unix())
			} else {
				q.before = append(q.before, date.CeilSecond(t))
			}
		}
		if err != nil {
			return &query.SyntaxError{Message: err.Error(), Span: f.Span}
		}
	}
	return nil
}

// appendPerson compiles an author: or committer: filter. @name stands for the
// verified addresses of the user of that name. If there are none it stands for
// the person with that name, or with that name before the @ of the e-mail.
func appendPerson(dst []personFilter, f query.Filter, caseSensitive bool, addresses func(string) []string) ([]personFilter, error) {
	value := f.Value
	if name, ok := strings.CutPrefix(value, "@"); ok && name != "" {
		value, caseSensitive = personPattern(name, addresses), false
	}
	m, err := match.CompileWhole(value, true, caseSensitive)
	return append(dst, personFilter{m, f.Negated}), err
}

// personPattern is what @name stands for.
func personPattern(name string, addresses func(string) []string) string {
	var known []string
	if addresses != nil {
		known = slices.Clone(addresses(name))
	}
	if len(known) == 0 {
		name = regexp.QuoteMeta(name)
		return fmt.Sprintf(`^(?:%s|%s@[^@<>]*)$`, name, name)
	}
	for i, a := range known {
		known[i] = regexp.QuoteMeta(a)
	}
	return "^(?:" + strings.Join(known, "|") + ")$"
}

// dated tests the committer's date.
func (q *commitQuery) dated(seconds int64) bool {
	return !slices.ContainsFunc(q.after, func(t int64) bool { return seconds <= t }) &&
		!slices.ContainsFunc(q.before, func(t int64) bool { return seconds >= t })
}

func personHolds(filters []personFilter, p store.Person) bool {
	return !slices.ContainsFunc(filters, func(f personFilter) bool { return !f.holds(p) })
}

// hasPaths reports whether there are filters on what a commit changed.
func (q *commitQuery) hasPaths() bool { return len(q.paths)+len(q.owned) > 0 }

// pathsHold tests a changed file: a filter asks for one of its two paths, a
// negated one forbids both.
func (q *commitQuery) pathsHold(t *target, path, old string) bool {
	for i := range q.paths {
		f := &q.paths[i]
		holds := f.holds(path)
		if old != "" && holds == f.negated {
			holds = f.holds(old)
		}
		if !holds {
			return false
		}
	}
	return len(q.owned) == 0 || q.ownersHold(t.key(t.revs[0]), path)
}
