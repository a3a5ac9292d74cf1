package complete

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

const (
	// searchTime bounds a search for proposals: a person types on meanwhile.
	searchTime = "timeout:500ms"
	// leastLetters is how much of a name is written before definitions are looked for.
	leastLetters = 3
	// mostDefinitions are proposed where a word may be anything.
	mostDefinitions = 5
)

// finding answers a query of pattern type regexp, for who asks.
type finding func(ctx context.Context, text string) (*navigate.Answer, error)

// wanted is what only a search finds: the query that finds it, the field whose value it
// is, "" for a word, and what of a match is proposed.
type wanted struct {
	query, field, kind string
	names              func(m query.Match) []string
	most               int
}

// plainWord are names that a query has as they are, whatever its pattern type.
var plainWord = regexp.MustCompile(`^[\pL\pN_]+$`)

// wantedFor is what is looked for to complete a word.
func wantedFor(w syntax.Word) (out wanted, ok bool) {
	out = wanted{field: w.Field, most: mostItems}
	written := written(w.Text)
	expression := w.Text // that files and people are to fit
	if _, err := regexp.Compile(expression); err != nil {
		expression = regexp.QuoteMeta(expression)
	}
	switch {
	case written == "" || strings.ContainsAny(written, "\"\n"):
		return out, false
	case w.Field == "file":
		out.query, out.kind = syntax.WithFilter("type:path count:200", "file", expression), "file"
		out.names = func(m query.Match) []string {
			if f, ok := m.(*query.FileMatch); ok {
				return []string{f.Path}
			}
			return nil
		}
	case w.Field == "author" || w.Field == "committer":
		out.query, out.kind = syntax.WithFilter("type:commit count:500", w.Field, expression), "person"
		out.names = func(m query.Match) []string {
			c, ok := m.(*query.CommitMatch)
			switch {
			case !ok:
				return nil
			case w.Field == "author":
				return []string{c.Author.Name}
			}
			return []string{c.Committer.Name}
		}
	case w.Field == "" && !w.Negated && len([]rune(written)) >= leastLetters:
		out.query, out.kind, out.most = "type:symbol case:no count:200 ^"+regexp.QuoteMeta(written), "symbol", mostDefinitions
		out.names = func(m query.Match) (names []string) {
			if f, ok := m.(*query.FileMatch); ok {
				for _, s := range f.Symbols {
					if plainWord.MatchString(s.Name) {
						names = append(names, s.Name)
					}
				}
			}
			return names
		}
	default:
		return out, false
	}
	return out, true
}

// written is a value without what an earlier completion has put around it.
func written(value string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(value, "^"), "$"), `\`, "")
}

// kept are the filters of the query around a word that say where to look.
var kept = []string{"repo", "context", "rev", "fork", "archived", "visibility", "lang"}

// filtersOf are the filters of the query around a word. One that cannot be read, or has
// several parts, has none.
func filtersOf(around string) []query.Filter {
	q, err := syntax.Parse(around, query.Keyword)
	if err != nil || len(q.Basics) != 1 {
		return nil
	}
	return q.Basics[0].Filters
}

// within adds to a query where the query around a word looks.
func within(text, around string) string {
	for _, f := range filtersOf(around) {
		if slices.Contains(kept, f.Field) {
			text = syntax.FormatFilter(f) + " " + text
		}
	}
	return text
}

// lookFor looks for what a word may become. incomplete says that there was no time for
// all, or that the server had no turn to give.
func lookFor(ctx context.Context, do finding, w syntax.Word, around string) (out []Item, incomplete bool) {
	want, ok := wantedFor(w)
	if do == nil || !ok {
		return nil, false
	}
	a, err := do(ctx, within(want.query, around)+" "+searchTime)
	if err != nil {
		return nil, true
	}
	seen, names := map[string]bool{}, []string(nil)
	for _, m := range a.Matches {
		for _, name := range want.names(m) {
			if name != "" && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	text := strings.ToLower(written(w.Text))
	prefixed := func(name string) int {
		return -cmp.Compare(len(name)-len(strings.TrimPrefix(name, written(w.Text))), 0)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a, text), distance(b, text)), cmp.Compare(prefixed(a), prefixed(b)), cmp.Compare(len(a), len(b)))
	})
	for _, name := range names[:min(len(names), want.most)] {
		out = append(out, want.item(w, name))
	}
	return out, a.Incomplete()
}

// item is the proposal of a name.
func (want wanted) item(w syntax.Word, name string) Item {
	value := regexp.QuoteMeta(name)
	switch want.kind {
	case "symbol":
		return Item{name + " ", name, want.kind}
	case "file":
		value = "^" + value + "$"
	}
	return Item{syntax.FormatFilter(query.Filter{Field: want.field, Negated: w.Negated, Value: value}) + " ", name, want.kind}
}
