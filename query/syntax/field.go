package syntax

import (
	"slices"
	"strings"
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
}

// maxFieldName is the length of the longest name, so that looking for a field
// reads no more than that of a long word.
const maxFieldName = len("repohascommitafter")

// fields lists every field of the language.
func fields() []*field {
	return []*field{
		{name: "repo", aliases: []string{"r"}, negatable: true, predicates: []string{
			"has", "has.path", "has.content", "has.file", "has.commit.after", "has.description", "has.meta", "has.tag", "has.key", "has.topic",
			"contains", "contains.path", "contains.content", "contains.file", "contains.commit.after"}},
		{name: "rev", aliases: []string{"revision"}, singular: true, predicates: []string{"at.time"}},
		{name: "file", aliases: []string{"f", "path"}, negatable: true, predicates: []string{
			"has.content", "contains.content", "has.owner", "has.contributor"}},
		{name: "lang", aliases: []string{"l", "language"}, negatable: true},
		{name: "content", negatable: true},
		{name: "case", singular: true, whole: true},
		{name: "type"},
		{name: "patterntype", singular: true, whole: true},
		{name: "select", singular: true, signFirst: true},
		{name: "fork", singular: true, signFirst: true},
		{name: "archived", singular: true, signFirst: true},
		{name: "visibility", singular: true},
		{name: "context", singular: true},
		{name: "index", signFirst: true, lastCounts: true},
		{name: "count", whole: true, lastCounts: true},
		{name: "timeout", signFirst: true, whole: true, lastCounts: true},
		{name: "author", negatable: true},
		{name: "committer", negatable: true},
		{name: "message", aliases: []string{"m", "msg"}, negatable: true},
		{name: "before", aliases: []string{"until"}, signFirst: true},
		{name: "after", aliases: []string{"since"}, signFirst: true},
		{name: "repohasfile", negatable: true},
		{name: "repohascommitafter", singular: true},
		{name: "rule", singular: true},
		// g once named a group of repositories. Its name is still taken, so
		// that an old query fails rather than searches for the text "g:team".
		{name: "g", negatable: true},
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
