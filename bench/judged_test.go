package bench_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func TestParseJudged(t *testing.T) {
	const good = "name: a\nkind: type\nquery: Kiln\nwant: kiln.go\n"
	for _, tt := range []struct {
		name, text string
		want       string // part of the error, empty for none
	}{
		// What can be read
		{"one", good, ""},
		{"nothing", "# nothing\n", ""},
		{"all fields", "# x\n\nname: a-1\nkind: x\ntype: regexp\nquery: a: b\nwant: a\nwant: b/c\nwhy: so\n\n" + strings.Replace(good, "name: a", "name: b", 1), ""},

		// What is missing
		{"no query", "name: a\nkind: type\nwant: x\n", "block at line 1: query is missing"},
		{"no want", "\n\nname: a\nkind: type\nquery: x\n", "block at line 3: want is missing"},
		{"no value", "name:\n", "line 1: name has no value"},

		// What is wrong
		{"two names", good + "\n" + good, `line 6: name "a" is taken`},
		{"two queries", good + "query: y\n", "line 5: query stands twice"},
		{"bad name", "name: A b\n", `name "A b": use lower-case words`},
		{"bad type", "type: sql\n", `"sql" is none of`},
		{"whole path", "want: /etc/passwd\n", "write the path within the repository"},
		{"unknown field", "colour: red\n", `line 1: unknown field "colour"`},
		{"no field", "nothing\n", `line 1: "nothing" is not "field: value"`},
	} {
		_, err := bench.ParseJudged(tt.text)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: error %v, want none", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// The sets that ship are large enough to mean something, and every query of
// them has a rank to be compared with.
func TestJudgedSets(t *testing.T) {
	every := []string{"definition", "type", "file", "keywords", "phrase", "error", "everywhere"}
	for _, set := range []struct {
		name  string
		least int
		kinds []string
	}{{"go", 40, every}, {"kernel", 40, every}, {"kernel-unseen", 30, []string{"definition", "keywords"}}, {"git-unseen", 30, []string{"definition", "keywords"}}} {
		name := set.name
		queries, ranks, err := bench.JudgedSet(name)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, q := range queries {
			kinds[q.Kind]++
			if _, known := ranks.Of[q.Name]; !known {
				t.Errorf("%s: query %s has no rank: run trawl-bench rank --update", name, q.Name)
			}
		}
		if len(queries) < set.least || len(ranks.Of) != len(queries) || len(ranks.Tree) != 40 {
			t.Errorf("%s: %d queries, %d ranks of tree %q; want %d or more, as many, and a tree", name, len(queries), len(ranks.Of), ranks.Tree, set.least)
		}
		for _, kind := range set.kinds {
			if kinds[kind] < 3 {
				t.Errorf("%s: %d queries of kind %s, want 3 or more", name, kinds[kind], kind)
			}
		}
	}
	if _, _, err := bench.JudgedSet("toy"); err == nil || !strings.Contains(err.Error(), `no judged set "toy"`) {
		t.Errorf("a set that is not there: error %v", err)
	}
}

func TestParseRanks(t *testing.T) {
	r, err := bench.ParseRanks("# x\ntree abc\n\na 1\nb-c 0\n")
	if err != nil || r.Tree != "abc" || r.Of["a"] != 1 || len(r.Of) != 2 {
		t.Errorf("ranks %+v, error %v", r, err)
	}
	for _, text := range []string{"a\n", "a x\n", "a -1\n", "a 1\na 2\n"} {
		if _, err := bench.ParseRanks(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func FuzzParseJudged(f *testing.F) {
	f.Add("name: a\nkind: type\nquery: Kiln\nwant: kiln.go\n")
	f.Add("# only\n\nname: a\nwhy: :\n")
	f.Fuzz(func(t *testing.T, text string) {
		queries, err := bench.ParseJudged(text)
		if err == nil && slices.ContainsFunc(queries, func(q bench.Judged) bool { return q.Name == "" || q.Text == "" || len(q.Want) == 0 }) {
			t.Errorf("%q: a query without name, text or file: %+v", text, queries)
		}
	})
}
