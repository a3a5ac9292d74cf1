package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store/shard"
)

// Commits is what a basic query asks of commits: patterns are tried against
// messages, or with diff against the changed lines of each file.
type Commits struct {
	Diff bool
	// Atoms and Tree are those of the patterns; Tree is nil if no pattern can fail.
	// Content are the regexps of file:has.content.
	Atoms   []*match.Matcher
	Tree    Tree
	Content []*match.Matcher

	Authors, Committers []PersonFilter
	Messages            []MessageFilter
	// after and before bound the committer's date, both exclusive.
	after, before []int64
	// Sign is '+' or '-' where only such lines are selected, else 0.
	Sign byte
	// FindsNothing says that nothing can be found.
	FindsNothing bool
}

// PersonFilter is an author: or committer: filter.
type PersonFilter struct {
	m       *match.Matcher
	negated bool
}

// holds tries the name, the e-mail, and both as git writes them.
func (f PersonFilter) holds(p shard.Person) bool {
	for _, s := range []string{p.Name, p.Email, p.Name + " <" + p.Email + ">"} {
		if _, found := f.m.Short(nil, s); found {
			return !f.negated
		}
	}
	return f.negated
}

// MessageFilter is a message: filter.
type MessageFilter struct {
	*match.Matcher
	Negated bool
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
func newCommitQuery(b *Query, now time.Time, addresses func(string) []string) (*Commits, error) {
	commits, diff := commitTypes(b.Basic)
	if !commits {
		return nil, nil
	}
	q := &Commits{Diff: diff}
	compile := match.CompileWhole
	if diff {
		compile = match.Compile
	}
	for _, a := range b.Atoms {
		if a.Silent {
			q.Content = append(q.Content, a.Matcher)
			continue
		}
		m, err := compile(a.Pattern.Value, a.Pattern.IsRegexp, b.CaseSensitive)
		if err != nil {
			return nil, &query.SyntaxError{Message: err.Error(), Span: a.Pattern.Span}
		}
		q.Atoms = append(q.Atoms, m)
	}
	// What file:has.content adds to the tree of b comes after the patterns.
	q.Tree = b.Patterns
	if q.Tree == Constant(true) {
		q.Tree = nil
	}
	q.FindsNothing = q.Tree == Constant(false) || len(q.Content) > 0 && !diff || len(b.Contributors) > 0
	if diff && len(b.Select) == 3 && b.Select[0] == "commit" {
		q.Sign = map[string]byte{"added": '+', "removed": '-'}[b.Select[2]]
	}
	return q, q.filters(b, now, addresses)
}

// filters compiles those that are about commits only.
func (c *Commits) filters(b *Query, now time.Time, addresses func(string) []string) error {
	for _, f := range b.Filters {
		var err error
		switch f.Field {
		case "author":
			c.Authors, err = appendPerson(c.Authors, f, b.CaseSensitive, addresses)
		case "committer":
			c.Committers, err = appendPerson(c.Committers, f, b.CaseSensitive, addresses)
		case "message":
			var m *match.Matcher
			m, err = match.CompileWhole(f.Value, true, b.CaseSensitive)
			c.Messages = append(c.Messages, MessageFilter{m, f.Negated})
		case "after", "before":
			var t time.Time
			t, err = date.Parse(f.Value, now)
			if f.Field == "after" {
				c.after = append(c.after, t.Unix())
			} else {
				c.before = append(c.before, date.CeilSecond(t))
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
func appendPerson(dst []PersonFilter, f query.Filter, caseSensitive bool, addresses func(string) []string) ([]PersonFilter, error) {
	value := f.Value
	if name, ok := strings.CutPrefix(value, "@"); ok && name != "" {
		value, caseSensitive = personPattern(name, addresses), false
	}
	m, err := match.CompileWhole(value, true, caseSensitive)
	return append(dst, PersonFilter{m, f.Negated}), err
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

// Dated tests the committer's date.
func (c *Commits) Dated(seconds int64) bool {
	return !slices.ContainsFunc(c.after, func(t int64) bool { return seconds <= t }) &&
		!slices.ContainsFunc(c.before, func(t int64) bool { return seconds >= t })
}

// PersonHolds reports whether a person passes all filters.
func PersonHolds(filters []PersonFilter, p shard.Person) bool {
	return !slices.ContainsFunc(filters, func(f PersonFilter) bool { return !f.holds(p) })
}
