package syntax

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// field is what the language knows about one filter name.
type field struct {
	name    string
	aliases []string
	// negatable allows -field:value.
	negatable bool
	// singular allows one use per basic query.
	singular bool
	// predicates are the tests that may be called as the value.
	predicates []string
	// signFirst reports a forbidden negation before a bad value.
	signFirst bool
	// whole makes the filter a setting of the query as a whole, unless it stands
	// in parentheses.
	whole bool
	// lastCounts allows several uses, of which the last counts, so that a client
	// may append one.
	lastCounts bool
	// values are what the field takes, or examples of it; names of repositories and
	// the like are known to stores.
	values []string
	// unlisted fields are understood and not proposed.
	unlisted bool
	// regexp says that the value is a regular expression.
	regexp bool
}

// maxFieldName is the length of the longest name, so that looking for a field
// reads no more than that of a long word.
const maxFieldName = len("repohascommitafter")

// fields lists every field of the language.
func fields() []*field {
	yesNo, yesNoOnly := []string{"yes", "no"}, []string{"yes", "no", "only"}
	dates := []string{"yesterday", "1 week ago", "1 month ago", "1 year ago"}
	return []*field{
		{name: "repo", aliases: []string{"r"}, regexp: true, negatable: true, predicates: []string{
			"has", "has.path", "has.content", "has.file", "has.commit.after", "has.description", "has.meta", "has.tag", "has.key", "has.topic",
			"contains", "contains.path", "contains.content", "contains.file", "contains.commit.after"}},
		{name: "rev", aliases: []string{"revision"}, singular: true, predicates: []string{"at.time"}},
		{name: "file", aliases: []string{"f", "path"}, regexp: true, negatable: true, predicates: []string{
			"has.content", "contains.content", "has.owner", "has.contributor"}},
		{name: "lang", aliases: []string{"l", "language"}, negatable: true},
		{name: "content", negatable: true},
		{name: "case", singular: true, whole: true, values: yesNo},
		{name: "type", values: []string{"file", "path", "symbol", "repo", "commit", "diff"}},
		{name: "patterntype", singular: true, whole: true, values: []string{"keyword", "standard", "regexp"}},
		{name: "select", singular: true, signFirst: true, values: query.SelectValues()},
		{name: "fork", singular: true, signFirst: true, values: yesNoOnly},
		{name: "archived", singular: true, signFirst: true, values: yesNoOnly},
		{name: "visibility", singular: true, values: []string{"any", "public", "private"}},
		{name: "context", singular: true},
		{name: "index", signFirst: true, lastCounts: true, values: yesNoOnly},
		{name: "count", whole: true, lastCounts: true, values: []string{"all", "100", "1000"}},
		{name: "timeout", signFirst: true, whole: true, lastCounts: true, values: []string{"10s", "1m"}},
		{name: "author", regexp: true, negatable: true},
		{name: "committer", regexp: true, negatable: true},
		{name: "message", aliases: []string{"m", "msg"}, regexp: true, negatable: true},
		{name: "before", aliases: []string{"until"}, signFirst: true, values: dates},
		{name: "after", aliases: []string{"since"}, signFirst: true, values: dates},
		{name: "repohasfile", regexp: true, negatable: true, unlisted: true},
		{name: "repohascommitafter", singular: true, unlisted: true},
		{name: "rule", singular: true, unlisted: true},
		// g once named a group of repositories. Its name is still taken, so
		// that an old query fails rather than searches for the text "g:team".
		{name: "g", negatable: true, unlisted: true},
	}
}

// fieldTable finds fields by name.
type fieldTable map[string]*field

func newFieldTable() fieldTable {
	t := fieldTable{}
	for _, f := range fields() {
		t[f.name] = f
		for _, a := range f.aliases {
			t[a] = f
		}
	}
	return t
}

// names is the one table; nothing writes to it.
var names = newFieldTable()

// find returns the field that a name, in any case, stands for.
func (t fieldTable) find(name string) (*field, bool) {
	if len(name) > maxFieldName {
		return nil, false
	}
	f, ok := t[strings.ToLower(name)]
	return f, ok
}

// takes reports whether f has the predicate. Names of predicates, and of the
// field in front of one, are exact in case.
func (f *field) takes(predicate string) bool {
	return slices.Contains(f.predicates, predicate)
}
