package search_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
)

// naive answers a query by its definition, over files and Go's regexp alone.
// It knows the filters and types that randomQuery draws.
func (c *corpus) naive(q *query.Query) []string {
	found := map[string][][2]int{}
	for _, b := range q.Basics {
		caseSensitive := b.Value("case") == "yes"
		types := b.Values("type")
		content, path := len(types) == 0, len(types) == 0
		for _, ty := range types {
			content = content || ty.Value == "file"
			path = path || ty.Value == "path"
		}
		compiled := map[*query.Pattern]*regexp.Regexp{}
		compile := func(p *query.Pattern) *regexp.Regexp {
			if re := compiled[p]; re != nil {
				return re
			}
			text := p.Value
			if !p.IsRegexp {
				text = regexp.QuoteMeta(text)
			}
			if !caseSensitive {
				text = "(?i)" + text
			}
			compiled[p] = regexp.MustCompile("(?m)" + text)
			return compiled[p]
		}
		for _, f := range c.files {
			if f.dead || !c.filtersHold(b, f, caseSensitive) {
				continue
			}
			holds := func(p *query.Pattern) bool {
				re := compile(p)
				return content && f.reason == shard.Searchable && re.MatchString(f.text) ||
					path && !p.FromContent && re.MatchString(f.path)
			}
			if b.Pattern == nil && len(b.Values("file"))+len(b.Values("lang")) == 0 || b.Pattern != nil && !truth(b.Pattern, holds) {
				continue
			}
			key := at(f.repo, f.rev) + "\x00" + f.path
			if found[key] == nil {
				found[key] = [][2]int{}
			}
			if b.Pattern == nil || !content || f.reason != shard.Searchable {
				continue
			}
			var gather func(n query.Node)
			gather = func(n query.Node) {
				if !truth(n, holds) {
					return
				}
				switch n := n.(type) {
				case *query.And:
					for _, k := range n.Children {
						gather(k)
					}
				case *query.Or:
					for _, k := range n.Children {
						gather(k)
					}
				case *query.Pattern:
					for _, l := range compile(n).FindAllStringIndex(f.text, -1) {
						if l[0] < l[1] {
							found[key] = append(found[key], [2]int{l[0], l[1]})
						}
					}
				}
			}
			gather(b.Pattern)
		}
	}
	var out []string
	for key, ranges := range found {
		repo, path, _ := strings.Cut(key, "\x00")
		slices.SortFunc(ranges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		kind := "path"
		if len(ranges) > 0 {
			kind = "content"
		}
		s := fmt.Appendf(nil, "%s %s %q", kind, repo, path)
		for i := 0; i < len(ranges); {
			end := ranges[i][1]
			j := i + 1
			for j < len(ranges) && (ranges[j][0] < end || ranges[j] == ranges[i]) {
				end = max(end, ranges[j][1])
				j++
			}
			s = appendRange(s, ranges[i][0], end)
			i = j
		}
		out = append(out, string(s))
	}
	slices.Sort(out)
	return out
}

func truth(n query.Node, holds func(*query.Pattern) bool) bool {
	switch n := n.(type) {
	case *query.And:
		return !slices.ContainsFunc(n.Children, func(k query.Node) bool { return !truth(k, holds) })
	case *query.Or:
		return slices.ContainsFunc(n.Children, func(k query.Node) bool { return truth(k, holds) })
	case *query.Not:
		return !truth(n.Child, holds)
	}
	return holds(n.(*query.Pattern))
}

func (c *corpus) filtersHold(b query.Basic, f doc, caseSensitive bool) bool {
	for _, fl := range b.Filters {
		if fl.Field == "file" && fl.Predicate != nil {
			flags := "(?mi)"
			if caseSensitive {
				flags = "(?m)"
			}
			if f.reason != shard.Searchable || !regexp.MustCompile(flags+fl.Predicate.Arg).MatchString(f.text) {
				return false
			}
			continue
		}
		if fl.Field == "repo" && fl.Predicate != nil {
			if c.hasFile(f.repo, f.rev, *fl.Predicate, caseSensitive) == fl.Negated {
				return false
			}
			continue
		}
		var re *regexp.Regexp
		subject := f.path
		switch fl.Field {
		case "repo":
			name, _, _ := query.SplitRepoRevs(fl.Value)
			re, subject = regexp.MustCompile("(?i)"+name), f.repo
		case "file":
			flags := "(?mi)"
			if caseSensitive {
				flags = "(?m)"
			}
			re = regexp.MustCompile(flags + fl.Value)
		case "lang":
			name, _ := lang.Lookup(fl.Value)
			re = regexp.MustCompile(lang.FilePattern(name))
		default:
			continue
		}
		if re.MatchString(subject) == fl.Negated {
			return false
		}
	}
	return true
}

// hasFile tells whether a repository has a document as has.path, has.content
// or has.file ask for.
func (c *corpus) hasFile(repo, rev string, p query.Predicate, caseSensitive bool) bool {
	var t syntax.FileTest
	switch p.Name {
	case "has.path":
		t.Path = p.Arg
	case "has.content":
		t.Content = p.Arg
	default:
		t, _ = syntax.ParseFileTest(p)
	}
	flags := "(?mi)"
	if caseSensitive {
		flags = "(?m)"
	}
	path, content := regexp.MustCompile(flags+t.Path), regexp.MustCompile(flags+t.Content)
	return slices.ContainsFunc(c.files, func(f doc) bool {
		return f.repo == repo && f.rev == rev && !f.dead && path.MatchString(f.path) &&
			(t.Content == "" || f.reason == shard.Searchable && content.MatchString(f.text))
	})
}
