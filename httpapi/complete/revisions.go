package complete

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// mostRevisions are looked at, those of the repositories that come first.
	mostRevisions = 200
	// mostNamed is how many repositories a query may name for their other branches and
	// their tags to be proposed.
	mostNamed = 3
	// refsTime bounds reading their names: a person types on meanwhile.
	refsTime = 20 * time.Millisecond
	// mostRefs are kept of the branches of a repository, the first by name, and of its tags,
	// the last.
	mostRefs = 5000
)

// repositoriesIn are the expressions by which the query around a word names its repositories.
func repositoriesIn(around string) (out []string) {
	for _, f := range filtersOf(around) {
		if f.Field == "repo" && !f.Negated && f.Predicate == nil {
			expression, _, _ := strings.Cut(f.Value, "@")
			out = append(out, expression)
		}
	}
	return out
}

// revisions are those with a text in their names: the indexed branches of the repositories that
// fit all expressions and, if these are few, their other branches and their tags.
func revisions(expressions []string, text string, n names, make func(name string) Item) []Item {
	var fits []*regexp.Regexp
	for _, expression := range expressions {
		re, err := regexp.Compile("(?i)" + expression)
		if err != nil {
			return nil
		}
		fits = append(fits, re)
	}
	var out []Item
	seen := map[string]bool{}
	add := func(name string) {
		if strings.Contains(name, text) && !seen[name] && len(out) < mostRevisions {
			seen[name] = true
			out = append(out, make(name))
		}
	}
	var named []*store.Repository // one more than mostNamed at most
	n.each(func(r *store.Repository) bool {
		if slices.ContainsFunc(fits, func(re *regexp.Regexp) bool { return !re.MatchString(r.Name) }) {
			return true
		}
		if len(named) <= mostNamed {
			named = append(named, r)
		}
		for _, b := range r.Branches {
			add(b.Name)
		}
		return len(out) < mostRevisions
	})
	if len(expressions) == 0 || len(named) > mostNamed || n.refs == nil {
		return out
	}
	for _, r := range named {
		for _, name := range n.refs(r, text) {
			add(name)
		}
	}
	return out
}

// refsWithin returns what reads the branches of repositories with a text in their names, and
// their tags, the last by name first: they are mostly versions. All calls have a time together.
// It reads plain files: a process of git for each letter that is typed would take longer. What is
// not in plain files is not proposed.
func refsWithin(ctx context.Context, within time.Duration, dirs *store.GitDirs) func(r *store.Repository, text string) []string {
	var until time.Time // zero before the first call
	return func(r *store.Repository, text string) []string {
		if until.IsZero() {
			until = time.Now().Add(within)
		}
		ctx, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		below := func(prefix string, last bool) (out []string) {
			git.EachPlainRefName(ctx, dirs.Dir(r), prefix, func(full string) bool {
				if name := full[len(prefix):]; strings.Contains(name, text) {
					out = append(out, name)
				}
				if last && len(out) == 2*mostRefs {
					out = slices.Delete(out, 0, mostRefs) // they come by name, but for loose ones
				}
				return last || len(out) < mostRefs
			})
			slices.Sort(out)
			return slices.Compact(out)
		}
		branches, tags := below("refs/heads/", false), below("refs/tags/", true)
		slices.Reverse(tags)
		return append(branches, tags...)
	}
}
