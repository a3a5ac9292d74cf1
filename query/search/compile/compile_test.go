package compile

import (
	"cmp"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// parts counts what a text is searched with.
func parts(t *testing.T, text string) (n int) {
	t.Helper()
	parsed, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, b := range parsed.Basics {
		compiled, err := Compile(b, Options{DefaultCount: 10, Now: time.Now()})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, q := range compiled {
			n += len(q.Atoms) + len(q.Paths) + len(q.FileTests) + len(q.Owners) + len(q.Contributors)
			if q.RevisionsTyped {
				n++
			}
			if q.CommitAfter != nil {
				n++
			}
			if q.RepositoryFilter != nil {
				n += len(q.RepositoryFilter.facts)
			}
		}
	}
	return n
}

// Whatever predicate the parser knows is searched with, not ignored.
func TestPredicatesAreSearchedWith(t *testing.T) {
	arguments := map[string]string{"has.commit.after": "yesterday", "at.time": "yesterday", "has": "a:b", "has.meta": "a:b", "has.file": "path:x content:z", "contains": "file:x content:z"}
	predicates := 0
	for _, f := range syntax.Fields() {
		for _, name := range f.Predicates {
			predicates++
			argument := cmp.Or(arguments[name], arguments[query.Predicate{Name: name}.Test()], "x")
			without := "y repo:kiln "
			text := without + f.Name + ":" + name + "(" + argument + ")"
			if parts(t, text) <= parts(t, without) {
				t.Errorf("%s is searched like %s", text, without)
			}
		}
	}
	if predicates < 15 {
		t.Errorf("there are %d predicates", predicates)
	}
}

// Fields that nothing is searched with are refused.
func TestUnsupportedFields(t *testing.T) {
	for _, text := range []string{"y rule:x", "y g:team"} {
		parsed, err := syntax.Parse(text, query.Keyword)
		if err == nil {
			_, err = Compile(parsed.Basics[0], Options{DefaultCount: 10, Now: time.Now()})
		}
		if err == nil {
			t.Errorf("%s is searched", text)
		}
	}
}
