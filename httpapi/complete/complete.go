package complete

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// mostItems are proposed at once.
const mostItems = 20

// Item is a proposal: Text takes the place of the word at the cursor, and Label
// is what of it people look for.
type Item struct {
	Text  string `json:"text"`
	Label string `json:"label"`
	// Kind is filter, predicate, value, language, repository, revision, file, symbol or
	// person.
	Kind string `json:"kind"`
}

// names are the repositories that someone may see.
type names struct {
	all     iter.Seq[*store.Repository]
	visible func(*store.Repository) bool
	// refs returns the branches and tags of a repository with a text in their names, as far
	// as there is time; nil returns none.
	refs func(r *store.Repository, text string) []string
	// languages returns the bytes of the languages of a repository, as far as there is time;
	// nil returns none.
	languages func(r *store.Repository) []code.LanguageShare
}

// each calls do with each repository until it returns false.
func (n names) each(do func(*store.Repository) bool) {
	n.all(func(r *store.Repository) bool { return !n.visible(r) || do(r) })
}

// items are the proposals for a word in a query.
func items(w syntax.Word, around string, n names) []Item {
	var out []Item
	if w.Field == "" {
		out = filters(w)
	} else {
		out = values(w, around, n)
	}
	return out[:min(len(out), mostItems)]
}

// filters are those whose names begin with the word.
func filters(w syntax.Word) []Item {
	var out []Item
	for _, f := range syntax.Fields() {
		if !strings.HasPrefix(f.Name, strings.ToLower(w.Text)) || w.Negated && !f.Negatable {
			continue
		}
		text := f.Name + ":"
		if w.Negated {
			text = "-" + text
		}
		out = append(out, Item{text, text, "filter"})
	}
	return out
}

// values are what a filter may have that contains what is written of it; those that
// begin with it come first.
func values(w syntax.Word, around string, n names) []Item {
	field, ok := syntax.FieldNamed(w.Field)
	if !ok {
		return nil
	}
	written := strings.ToLower(w.Text)
	filter := func(value, label, kind string) Item {
		return Item{syntax.FormatFilter(query.Filter{Field: w.Field, Negated: w.Negated, Value: value}) + " ", label, kind}
	}
	var out []Item
	for _, v := range field.Values {
		if strings.Contains(v, written) {
			out = append(out, filter(v, v, "value"))
		}
	}
	switch w.Field {
	case "repo":
		out = append(out, repositories(w.Text, n, filter)...)
	case "rev":
		out = append(out, revisions(repositoriesIn(around), w.Text, n, func(name string) Item { return filter(name, name, "revision") })...)
	case "lang":
		return languages(w.Text, n, func(name string) Item { return filter(strings.ToLower(name), name, "language") })
	}
	slices.SortStableFunc(out, func(a, b Item) int { return cmp.Compare(distance(a.Label, written), distance(b.Label, written)) })
	for _, p := range field.Predicates {
		if strings.HasPrefix(p, written) {
			out = append(out, Item{strings.TrimSuffix(syntax.FormatFilter(query.Filter{Field: w.Field, Negated: w.Negated, Predicate: &query.Predicate{Name: p}}), ")"), p + "(…)", "predicate"})
		}
	}
	return out
}

// distance is 0 for a label that is what is written, more for one that begins with
// it, as a whole or with its last part, and most for all others.
func distance(label, written string) int {
	label = strings.ToLower(label)
	switch {
	case label == written:
		return 0
	case strings.HasPrefix(label, written):
		return 1
	case strings.HasPrefix(label[strings.LastIndexByte(label, '/')+1:], written):
		return 2
	}
	return 3
}

type maker func(value, label, kind string) Item

// repositories are those with a text in their name, or with an "@" behind the name
// of one its branches.
func repositories(text string, n names, make maker) []Item {
	if name, rev, ok := strings.Cut(text, "@"); ok {
		return revisions([]string{name}, rev, n, func(found string) Item { return make(name+"@"+found, found, "revision") })
	}
	// what is written may be what an earlier completion has put there
	written := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "^"), "$"), `\`, ""))
	var found []string
	n.each(func(r *store.Repository) bool {
		if strings.Contains(strings.ToLower(r.Name), written) {
			found = append(found, r.Name)
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(distance(a, written), distance(b, written)) })
	var out []Item
	for _, name := range found[:min(len(found), mostItems)] {
		out = append(out, make("^"+regexp.QuoteMeta(name)+"$", name, "repository"))
	}
	return out
}
