package home

import (
	"path"
	"regexp"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// examples are queries about a repository that find something, as its record says;
// none without one.
func examples(r *store.Repository) []httpapi.Example {
	if r == nil {
		return nil
	}
	only := "^" + regexp.QuoteMeta(r.Name) + "$"
	filter := func(field, value string) string { return syntax.FormatFilter(query.Filter{Field: field, Value: value}) }
	all := []httpapi.Example{{Query: filter("repo", only) + " file:.", About: "every file of this repository; put words behind it to search in them"}}
	if r.History.Commits > 0 {
		all = append(all, httpapi.Example{Query: filter("repo", only) + " type:commit", About: "its commits, the newest first"})
	}
	if len(r.Branches) > 1 {
		rev := syntax.FormatFilter(query.Filter{Field: "rev", Value: r.Branches[1].Name})
		all = append(all, httpapi.Example{Query: filter("repo", only) + " " + rev + " file:.", About: "the same files in another branch"})
	}
	if dir := path.Dir(r.Name); dir != "." && dir != "/" {
		all = append(all, httpapi.Example{Query: filter("repo", "^"+regexp.QuoteMeta(dir)+"/") + " type:repo", About: "the repositories beside it"})
	}
	if len(r.Topics) > 0 {
		topic := syntax.FormatFilter(query.Filter{Field: "repo", Predicate: &query.Predicate{Name: "has.topic", Arg: r.Topics[0]}})
		all = append(all, httpapi.Example{Query: topic, About: "the repositories with this topic"})
	}
	return all
}
