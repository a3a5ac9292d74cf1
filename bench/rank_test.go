package bench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// rankToy is a corpus of four files for the stand-in, which answers in the
// order of their names.
func rankToy(t *testing.T) bench.RankConfig {
	t.Helper()
	corpus := filepath.Join(t.TempDir(), "toy")
	if err := os.Mkdir(corpus, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := os.WriteFile(filepath.Join(corpus, name), []byte("glaze\n"+name+"kiln\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(fakeVariable, honest)
	return bench.RankConfig{Trawl: fakeBinary(t), Corpus: corpus, Queries: []bench.Judged{
		{Name: "first", Kind: "definition", PatternType: "keyword", Text: "glaze", Want: []string{"a"}},
		{Name: "either", Kind: "definition", PatternType: "keyword", Text: "glaze", Want: []string{"d", "b"}},
		{Name: "none", Kind: "file", PatternType: "keyword", Text: "akiln", Want: []string{"d"}},
	}}
}

func TestRank(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	c := rankToy(t)
	c.Work = filepath.Join(t.TempDir(), "work")
	r, err := bench.Rank(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) > 0 || len(r.Queries) != 3 || r.Queries[0].Rank != 1 || r.Queries[1].Rank != 2 || r.Queries[2].Rank != 0 {
		t.Errorf("report %+v, want ranks 1, 2 and none", r)
	}
	if r.All.MRR != 0.5 || r.All.First != 1.0/3 || r.All.Five != 2.0/3 || len(r.Kinds) != 2 || r.Kinds[0].MRR != 0.75 || r.Worse() {
		t.Errorf("scores %+v and %+v", r.All, r.Kinds)
	}
	var ranks bytes.Buffer
	if err := r.Write(&ranks); err != nil {
		t.Fatal(err)
	}
	c.Reuse = true
	for _, tt := range []struct {
		name   string
		change func(*bench.RankConfig)
		worse  bool
		text   string // what the report has to say
	}{
		{"the same", func(*bench.RankConfig) {}, false, "all         3        0.500  33%    67%         0.500       0.500"},
		{"worse", func(c *bench.RankConfig) { c.Before.Of["either"] = 1 }, true, "1 WORSE"},
		{"better", func(c *bench.RankConfig) { c.Before.Of["either"] = 0 }, false, "- better"},
		{"a new query", func(c *bench.RankConfig) { delete(c.Before.Of, "none") }, false, "0.750       0.750"},
		{"another tree", func(c *bench.RankConfig) { c.Before.Tree = "0" }, false, "of another tree"},
		{"nothing to find", func(c *bench.RankConfig) { c.Queries[2].Want = []string{"e"} }, false, "problem: the corpus has none of the files wanted by none"},
	} {
		c := c
		if c.Before, err = bench.ParseRanks(ranks.String()); err != nil {
			t.Fatal(err)
		}
		c.Queries = append([]bench.Judged(nil), c.Queries...)
		tt.change(&c)
		r, err := bench.Rank(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if r.Worse() != tt.worse || !strings.Contains(text.String(), tt.text) {
			t.Errorf("%s: worse = %v, want %v and %q in\n%s", tt.name, r.Worse(), tt.worse, tt.text, &text)
		}
		var back bench.RankReport
		text.Reset()
		if err := r.WriteJSON(&text); err != nil || json.Unmarshal(text.Bytes(), &back) != nil || back.All != r.All {
			t.Errorf("%s: as JSON %s", tt.name, &text)
		}
	}
}

func TestRankErrors(t *testing.T) {
	if _, err := bench.Rank(t.Context(), bench.RankConfig{}); err == nil || !strings.Contains(err.Error(), "are needed") {
		t.Errorf("nothing given: error %v", err)
	}
	c := rankToy(t)
	t.Setenv(fakeVariable, failing)
	if _, err := bench.Rank(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no luck today") {
		t.Errorf("a server that ends: error %v", err)
	}
}
