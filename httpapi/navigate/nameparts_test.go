package navigate

import (
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// What parts of a name are is one pattern of a query, whatever it would mean there.
func TestPartsAreAPattern(t *testing.T) {
	for _, text := range []string{
		"a) or repo:.", ".*", "(", `\`, `"`, `"x"`, "repo:lab/secret", "x or y", "or", "not x", "NOT", "and", "$", "^", "-x", "- x", "x -repo:y", "type:repo", "count:all x", "x timeout:1h",
		"/x/", "[", "é\u202e", "x{999999}", "#", "::", "a:b", "content:x", "x {",
	} {
		for _, expression := range newNameParts(text).expressions() {
			q, err := syntax.Parse("type:symbol case:no "+expression, query.Regexp)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if len(q.Basics) != 1 || len(q.Basics[0].Filters) != 2 {
				t.Errorf("%q became %q: %d basic queries, of which the first has the filters %v", text, expression, len(q.Basics), q.Basics[0].Filters)
			}
		}
	}
}

func TestFindParts(t *testing.T) {
	for _, c := range []struct {
		parts, name string
		place       partPlace
		marks       string
	}{
		{"fire", "Fire", wholeName, "[[0 4]]"},
		{"fi re", "Fire", atBeginning, "[[0 4]]"},
		{"fire", "fireAll", atBeginning, "[[0 4]]"},
		{"all", "fireAll", atWord, "[[4 7]]"},
		{"server", "HTTPServer", atWord, "[[4 10]]"},
		{"kiln", "fire_kiln", atWord, "[[5 9]]"},
		{"ire l", "fireAll", inWord, "[[1 4] [5 6]]"},
		{"a b", "xa_ab", atWord, "[[3 5]]"},
		{"b a", "abxa", inWord, "[[1 2] [3 4]]"},
		{"straße", "dieStraße2", atWord, "[[3 9]]"},
		{"a a a", "aa", 0, "[]"},
		{"x", "fire", 0, "[]"},
		{"b a", "ab", 0, "[]"},
	} {
		closeness, marks := newNameParts(c.parts).find(c.name)
		if closeness.place != c.place || fmt.Sprint(marks) != c.marks {
			t.Errorf("%q in %q: %v and %v, want %v and %s", c.parts, c.name, closeness.place, marks, c.place, c.marks)
		}
	}
}
