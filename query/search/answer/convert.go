package answer

import (
	"path"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/query/search/target"
)

// converter turns matches into the results that select: asks for, and leaves out
// results that were sent before.
type converter struct {
	// path is the value of select:, empty without one.
	path []string
	// rules give the owners of documents, where they are selected.
	rules map[target.Key]*owners.Rules
	// seen are the keys of matches without parts that were sent.
	seen map[string]bool
	// earlier, if not nil, holds the files and commits that were sent.
	earlier *sent
	// unowned says that the owners of a document without any were asked for.
	unowned bool
}

// selects reports whether the path of select: begins with these words.
func (c *converter) selects(words ...string) bool {
	if len(c.path) < len(words) {
		return false
	}
	for i, w := range words {
		if c.path[i] != w {
			return false
		}
	}
	return true
}

// convert appends the results of m: none, if select: drops it or all of it was sent
// before.
func (c *converter) convert(dst []query.Match, m query.Match) []query.Match {
	repo, isRepo := m.(*query.RepoMatch)
	switch {
	case isRepo && (len(c.path) == 0 || c.selects("repo")):
		return c.once(dst, nameKey(repo), m)
	case c.selects("repo"):
		return c.once(dst, m.In().Name, &query.RepoMatch{Repo: m.In()})
	}
	switch m := m.(type) {
	case *query.FileMatch:
		return c.convertFile(dst, m)
	case *query.CommitMatch:
		return c.convertCommit(dst, m)
	}
	return dst
}

func (c *converter) convertFile(dst []query.Match, f *query.FileMatch) []query.Match {
	switch {
	case len(c.path) == 0:
		return c.earlier.appendRest(dst, f)
	case c.selects("file", "owners"):
		return c.appendOwners(dst, f)
	case c.selects("file"):
		out := *f
		out.Chunks, out.Symbols = nil, nil
		if c.selects("file", "directory") {
			out.Path, out.PathRanges, out.Language = path.Dir(f.Path)+"/", nil, ""
		}
		return c.once(dst, f.Repo.Name+"\x00"+f.Rev+"\x00"+out.Path, &out)
	case c.selects("content") && len(f.Chunks) > 0:
		out := *f
		out.PathRanges, out.Symbols = nil, nil
		return c.earlier.appendRest(dst, &out)
	case c.selects("symbol"):
		if f = selectSymbols(f, c.path); f != nil {
			return c.earlier.appendRest(dst, f)
		}
	}
	return dst
}

// appendOwners appends the owners of a document that were not sent before.
func (c *converter) appendOwners(dst []query.Match, f *query.FileMatch) []query.Match {
	var names []string
	if rules := c.rules[target.Key{Repository: f.Repo.ID, Commit: f.Commit}]; rules != nil {
		names = rules.Owners(f.Path)
	}
	c.unowned = c.unowned || len(names) == 0
	for _, name := range names {
		m := &query.OwnerMatch{Repo: f.Repo}
		m.Handle, m.Email, m.IsTeam = owners.Split(name)
		dst = c.once(dst, strings.ToLower(m.Handle+"\x00"+m.Email), m)
	}
	return dst
}

// nameKey returns a key that two results of the same repository share.
func nameKey(r *query.RepoMatch) string {
	if r.HasRev {
		return r.Repo.Name + "\x00" + r.Rev
	}
	return r.Repo.Name
}

func (c *converter) once(dst []query.Match, key string, m query.Match) []query.Match {
	if c.seen[key] {
		return dst
	}
	c.seen[key] = true
	return append(dst, m)
}

// selectSymbols returns f with the symbols of the kind that select: names, all
// if it names none, and nothing else; nil if there are none.
func selectSymbols(f *query.FileMatch, sel []string) *query.FileMatch {
	out := *f
	out.Chunks, out.PathRanges = nil, nil
	if len(sel) > 1 {
		out.Symbols = slices.DeleteFunc(slices.Clone(f.Symbols), func(s query.Symbol) bool { return string(s.Kind) != sel[1] })
	}
	if len(out.Symbols) == 0 {
		return nil
	}
	return &out
}
