package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// paths lists the documents of an answer in the order they came.
func (a answered) paths() []string {
	var out []string
	for _, m := range a.matches {
		if f, ok := m.(*query.FileMatch); ok {
			out = append(out, f.Path)
		}
	}
	return out
}

func TestOrderDoesNotDependOnWorkers(t *testing.T) {
	big := wideCorpus(t)
	for _, text := range []string{"type:file ox count:all", "ox count:2500", "f1 or f22", "file:7 ox select:file.directory", "r"} {
		want := big.search(t, search.Settings{Workers: 1}, search.Options{}, text, query.Keyword)
		for _, workers := range []int{1, 2, 8} {
			got := big.search(t, search.Settings{Workers: workers}, search.Options{}, text, query.Keyword)
			if g, w := got.full(), want.full(); !slices.Equal(g, w) {
				t.Errorf("%q with %d workers: order differs\n%s", text, workers, firstDifference(g, w))
			}
		}
	}
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := randomCorpus(t, rng)
		for range 20 {
			text := randomQuery(rng)
			want := c.search(t, search.Settings{Workers: 1}, search.Options{}, text, query.Keyword).full()
			for _, workers := range []int{2, 8, 8} {
				if got := c.search(t, search.Settings{Workers: workers}, search.Options{}, text, query.Keyword).full(); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %q with %d workers: order differs\n%s", seed, text, workers, firstDifference(got, want))
				}
			}
		}
	}
}

// How documents are spread over shards does not decide what is found.
func TestShardsDoNotChangeTheAnswer(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 6))
		a := randomCorpus(t, rng)
		others := []*corpus{newCorpus(t, 19, nil, a.files), newCorpus(t, 65536, nil, a.files)}
		for range 25 {
			text := randomQuery(rng) + " count:all"
			want := slices.Sorted(slices.Values(a.search(t, search.Settings{}, search.Options{}, text, query.Keyword).lines()))
			for _, o := range others {
				got := slices.Sorted(slices.Values(o.search(t, search.Settings{}, search.Options{}, text, query.Keyword).lines()))
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, %q: shards change the answer\n%s", seed, text, firstDifference(got, want))
				}
			}
		}
	}
}

func TestRanking(t *testing.T) {
	// The documents stand in the order of their names where nothing else is
	// said.
	file := func(path, text string) doc { return doc{repo: "r", path: path, text: text} }
	tests := []struct {
		name  string
		files []doc
		query string
		pt    query.PatternType
		want  string
	}{
		// the phrase is worth more than its words
		{"phrase", []doc{file("a", "main\nfunc\n"), file("b", "func of main\n"), file("c", "func main() {\n"), file("d", "func main {\n\n\n")},
			"func main", query.Keyword, "c d b a"},
		{"phrase in another case", []doc{file("a", "main func"), file("b", "FUNC Main")}, "func main", query.Keyword, "b a"},
		{"phrase in the wrong case", []doc{file("a", "func main x Func"), file("b", "func Main x Func"), file("c", "main Func, Func Main, func")},
			"Func Main case:yes", query.Keyword, "c b"},
		{"phrase not at its first word", []doc{file("a", "func main\nfunc main"), file("b", "func x\nmain\nfunc main")}, "func main", query.Keyword, "a b"},
		{"no phrase in a regexp query", []doc{file("a", "mainx func"), file("b", "func main")}, "func|main", query.Regexp, "a b"},
		{"three words", []doc{file("a", "three two one"), file("b", "zero one two three")}, "one two three", query.Keyword, "b a"},

		// what stands on one line before what does not
		{"near", []doc{file("a", "x func\ny\nmain z"), file("b", "x func y main z")}, "main func", query.Keyword, "b a"},

		// words that stand there often before others, less so in longer documents
		{"often", []doc{file("a", "ox\nyak"), file("b", "ox ox\nyak yak"), file("c", "ox ox\nyak yak"+strings.Repeat("\n", 60000))}, "yak ox", query.Keyword, "b a c"},
		{"often, of one pattern", []doc{file("a", "ox"), file("b", "ox ox")}, "ox", query.Keyword, "a b"},

		// whole words, then their ends, then their inside
		{"words", []doc{file("a", "xoxx"), file("b", "xox"), file("c", "ox")}, "ox", query.Keyword, "c b a"},
		{"classes of bytes", []doc{file("a", "aoxa"), file("b", "Xox"), file("c", "(ox)"), file("d", "ox1")}, "ox", query.Keyword, "c d b a"},
		{"the best line counts", []doc{file("a", "aoxa\naoxa"), file("b", "aoxa\nox")}, "ox", query.Keyword, "b a"},

		// names before texts, the whole base name before its parts
		{"paths", []doc{file("a", "ox"), file("ox/a", ""), file("xoxx", ""), file("dir/oxen", ""), file("dir/ox", "")}, "ox", query.Keyword,
			"dir/ox dir/oxen xoxx ox/a a"},
		{"stems", []doc{file("a/oxide.go", ""), file("a/ox_test.go", ""), file("a/ox.go", ""), file("b/c/ox.go", "")}, "ox", query.Keyword,
			"a/ox.go b/c/ox.go a/oxide.go a/ox_test.go"},
		{"ends of paths", []doc{file("a/b/ox.go", ""), file("c/b/oxb/ox.go", ""), file("b/ox.gold", "")}, "b/ox.go", query.Keyword,
			"a/b/ox.go c/b/oxb/ox.go b/ox.gold"},

		// of several words: names made of words like them, and paths that have all
		{"a name of the words", []doc{file("a/ox_horse.c", "ox yak"), file("a/ox_yak.c", "ox yak"), file("a/yak_horses.c", "ox yak")}, "ox yak", query.Keyword,
			"a/ox_yak.c a/yak_horses.c a/ox_horse.c"},
		{"a name of words like them", []doc{file("a/screen.c", "scraping oxen"), file("a/scrape.c", "scraping oxen"), file("b/OxScraper.c", "scraping oxen")}, "oxen scraping",
			query.Keyword, "a/scrape.c b/OxScraper.c a/screen.c"},
		{"a path of all words", []doc{file("a/ox_horse.c", "ox yak"), file("yak/ox_horse.c", "ox yak")}, "ox yak", query.Keyword, "yak/ox_horse.c a/ox_horse.c"},
		{"a plain name in a directory named so", []doc{file("yaks/apple.c", "ox yak"), file("yaks/core.c", "ox yak"), file("core.c", "ox yak")}, "ox yak", query.Keyword,
			"yaks/core.c yaks/apple.c core.c"},

		// the case that was typed before another
		{"case", []doc{file("a", "OX"), file("b", "ox")}, "ox", query.Keyword, "b a"},

		// code before text for people
		{"prose", []doc{file("a.md", "ox"), file("b.go", "ox")}, "ox", query.Keyword, "b.go a.md"},

		{"settings", []doc{file("a/Makefile", "ox"), file("b.go", "ox")}, "ox", query.Keyword, "b.go a/Makefile"},

		// more patterns before fewer
		{"patterns", []doc{file("a", "ox"), file("b", "ox yak"), file("c", "yak")}, "ox or yak", query.Keyword, "b a c"},

		// what is equal stays in document order
		{"ties", []doc{file("c", "ox"), file("a", "ox"), file("b", "ox")}, "ox", query.Keyword, "c a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCorpus(t, 1000, nil, tt.files)
			a := c.search(t, search.Settings{}, search.Options{Debug: true}, tt.query, tt.pt)
			if got := strings.Join(a.paths(), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
				for _, m := range a.matches {
					if f, ok := m.(*query.FileMatch); ok {
						t.Logf("%s: %s", f.Path, f.Debug)
					}
				}
			}
		})
	}
}

// A definition comes before names, and these before the rest.
func TestRankingOfDefinitions(t *testing.T) {
	file := func(path, text string) doc { return doc{repo: "r", path: path, text: text} }
	tests := []struct {
		name, query string
		files       []doc
		want        string
	}{
		{"definition, name, word, part", "Kiln", []doc{file("a.go", "x Kilns"), file("b.go", "x Kiln"), file("kiln.go", "x"), file("d.go", "func Kiln()")},
			"d.go kiln.go b.go a.go"},
		{"the whole name before its ends", "Kiln", []doc{file("a.go", "func hotKilnDoor()"), file("b.go", "func KilnDoor()"), file("c.go", "func Kiln()")},
			"c.go b.go a.go"},
		{"a word of the name before a part of a word", "race", []doc{file("a.go", "func trace()"), file("b.go", "func dataRace()")}, "b.go a.go"},
		{"kinds", "kiln", []doc{file("a", "const kiln"), file("b", "func kiln"), file("c", "type kiln")}, "c b a"},
		{"the kind that the query names before the name of a file", "type kiln", []doc{file("type_kiln.go", "kiln and type"), file("a.go", "type kiln")}, "a.go type_kiln.go"},
		{"another case", "kiln", []doc{file("a", "func Kiln"), file("b", "func kiln")}, "b a"},
		{"in another line than the match", "case:yes Kiln", []doc{file("a", "func kiln\nx Kiln"), file("b", "x\nfunc Kiln")}, "b a"},
		{"a regexp", `/func [A-Z]iln\b/`, []doc{file("a", "x func Kilns\nfunc Kilnx\nx func Kiln"), file("b", "func Kiln")}, "b a"},
		{"a phrase", "type Kiln", []doc{file("a", "func Kiln\ntype x"), file("b", "Kiln, type Kiln"), file("c", "type Kiln")}, "c b a"},
		{"two words", "Kiln Fire", []doc{file("a", "Kiln, Fire"), file("b", "func Fire\nKiln"), file("c", "type Kiln\nfunc Fire")}, "c b a"},
		{"a qualified name", "hot.Kiln", []doc{file("a.go", "x := hot.Kiln{}"), file("cold/b.go", "type Kiln // no hot.Kiln"), file("hot/c.go", "type Kiln // not hot.Kiln twice")},
			"hot/c.go a.go cold/b.go"},
		{"behind letters outside ASCII", "Kiln", []doc{file("a", "ſſſ Kiln"), file("b", "	func Kiln // ſ")}, "b a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCorpus(t, 2, nil, tt.files)
			c.symbols(t)
			a := c.search(t, search.Settings{}, search.Options{Debug: true}, "count:all "+tt.query, query.Keyword)
			if got := strings.Join(a.paths(), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
				for _, m := range a.matches {
					if f, ok := m.(*query.FileMatch); ok {
						t.Logf("%s: %s", f.Path, f.Debug)
					}
				}
			}
		})
	}
}

// What a query names comes first even from the last shard, behind more
// documents than one group has, and from the index or a full scan alike.
func TestHeadsFirst(t *testing.T) {
	var files []doc
	for i := range 1501 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%04d.go", i), text: "x := Kiln(fire, glaze)\n"})
	}
	files = append(files,
		doc{repo: "r", path: "z/fire.go", text: "Kiln fire glaze\n"},
		doc{repo: "r", path: "z/phrase.go", text: "glaze fire Kiln\n"},
		doc{repo: "r", path: "z/test.go", text: "func Kiln() {}\n", quality: 1},
		doc{repo: "r", path: "z/def.go", text: "func Kiln() {}\n"})
	c := newCorpus(t, 100, nil, files)
	c.symbols(t)
	for _, tt := range []struct{ query, want string }{
		{"Kiln", "z/def.go z/test.go f0000.go"},
		{"fire", "z/fire.go f0000.go f0001.go"},
		{"glaze fire", "z/fire.go z/phrase.go f0000.go"},
		{"type:symbol Kiln", "z/def.go z/test.go"},
		{"type:path fire", "z/fire.go"},
		{"file:fire", "z/fire.go"},
		{"Kiln -file:def", "z/test.go f0000.go f0001.go"},
	} {
		for _, set := range []search.Settings{{Workers: 1}, {Workers: 2}, {Workers: 5}, {Workers: 8}, {Brute: true}} {
			got := c.search(t, set, search.Options{}, tt.query+" count:all", query.Keyword).paths()
			if got := strings.Join(got[:min(3, len(got))], " "); got != tt.want {
				t.Errorf("%q with %+v: got %s, want %s first", tt.query, set, got, tt.want)
			}
		}
		limited := c.search(t, search.Settings{}, search.Options{}, tt.query+" count:1", query.Keyword).paths()
		if first, _, _ := strings.Cut(tt.want, " "); len(limited) != 1 || limited[0] != first {
			t.Errorf("%q count:1: got %q, want %s", tt.query, limited, first)
		}
	}
}

// A document that is about the words of a query comes first even from the last
// shard, behind more documents than one group has that only mention them.
func TestWordyFirst(t *testing.T) {
	var files []doc
	for i := range 800 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%04d.go", i), text: "x := Kiln(y)\nfire\n", indexed: true})
	}
	files = append(files, doc{repo: "r", path: "z/z.go", text: strings.Repeat("a Kiln of\nfire and more\n", 2000), indexed: true})
	c := newCorpus(t, 100, nil, files)
	for _, set := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
		for _, limit := range []string{"all", "1", "100"} {
			if got := c.search(t, set, search.Options{}, "Kiln fire count:"+limit, query.Keyword).paths(); got[0] != "z/z.go" {
				t.Errorf("count:%s with %+v: %s comes first, want z/z.go", limit, set, got[0])
			}
		}
	}
}

// When more documents may hold a phrase by their lists than can go first, their
// texts are asked, and a document that lists say too much of promises less.
func TestPhraseIsConfirmed(t *testing.T) {
	const heads = 8
	for _, tt := range []struct {
		others int
		asked  bool
	}{
		{heads - 1, false},
		{heads, true},
		{4*heads - 1, true},
	} {
		var files []doc
		for i := range tt.others {
			files = append(files, doc{repo: "r", path: fmt.Sprintf("f%04d.go", i), text: "glaze x, the fire\n", indexed: true})
		}
		files = append(files, doc{repo: "r", path: "z/test.go", text: "glaze fire\n", quality: 1, indexed: true})
		for range 100 { // which cannot hold the phrase
			files = append(files, doc{repo: "r", path: fmt.Sprintf("g%04d.go", len(files)), text: "fire, glaze\n"})
		}
		c := newCorpus(t, 20, nil, files)
		for _, brute := range []bool{false, true} {
			trace := &report.Trace{}
			got := c.search(t, search.Settings{TopDocuments: heads, Brute: brute}, search.Options{Trace: trace}, "glaze fire count:all", query.Keyword)
			if len(got.matches) != len(files) || got.paths()[0] != "z/test.go" {
				t.Errorf("%d others, brute %t: %d matches, %s first, want %d, z/test.go", tt.others, brute, len(got.matches), got.paths()[0], len(files))
			}
			for _, s := range trace.Steps() {
				if i := slices.IndexFunc(s.Fields, func(f report.Field) bool { return f.Key == "texts" }); i >= 0 && (s.Fields[i].Value != "0") != tt.asked {
					t.Errorf("%d others, brute %t: %s texts were asked, want some: %t", tt.others, brute, s.Fields[i].Value, tt.asked)
				}
			}
		}
	}
}

// Among few candidates definitions are found when the first of them matches, and
// the order is the same.
func TestDefinitionsOfFew(t *testing.T) {
	var files []doc
	for i := range 9 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%d.go", i), text: "x := Kiln(fire)\n"})
	}
	files = append(files, doc{repo: "r", path: "z/def.go", text: "func Kiln() {}\n"})
	c := newCorpus(t, 3, nil, files)
	c.symbols(t)
	for _, tt := range []struct {
		query       string
		heads       int
		first, step string
	}{
		{"Kiln", 0, "z/def.go", "find definitions"},
		{"Kiln", 10, "z/def.go", "find definitions"},
		{"Kiln", 9, "z/def.go", "choose first documents"},
		{`/Kiln.*\d/`, 0, "", ""},
		{"Kilns", 0, "", ""},
	} {
		trace := &report.Trace{}
		got := c.search(t, search.Settings{TopDocuments: tt.heads}, search.Options{Trace: trace}, tt.query+" count:all", query.Keyword).paths()
		if first := strings.Join(got[:min(1, len(got))], ""); first != tt.first {
			t.Errorf("%s, %d heads: %q first, want %q", tt.query, tt.heads, first, tt.first)
		}
		step := ""
		for _, s := range trace.Steps() {
			if s.Name == "find definitions" || s.Name == "choose first documents" {
				step += s.Name
			}
		}
		if step != tt.step {
			t.Errorf("%s, %d heads: definitions were looked for by %q, want %q", tt.query, tt.heads, step, tt.step)
		}
	}
}

// In any corpus with symbols, what defines a word comes before what only has it
// in its text, tests and prose aside.
func TestDefinitionsBeforeMentions(t *testing.T) {
	compared := 0
	for seed := range uint64(12) {
		c := randomCorpus(t, rand.New(rand.NewPCG(seed, 21)))
		c.symbols(t)
		defines := func(path, word string) bool {
			i := slices.IndexFunc(c.files, func(f doc) bool { return f.path == path })
			return slices.ContainsFunc(definitions(c.files[i].text), func(s shard.Symbol) bool { return s.Name == word })
		}
		for _, word := range []string{"foo", "Foo", "task", "bar", "TASK", "baz_qux"} {
			folded := strings.ToLower(word)
			last := ""
			for _, path := range c.search(t, search.Settings{}, search.Options{}, "count:all type:file "+word, query.Keyword).paths() {
				i := slices.IndexFunc(c.files, func(f doc) bool { return f.path == path })
				if f := c.files[i]; f.quality > 0 || strings.Contains(strings.ToLower(path), folded) || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".txt") {
					continue
				}
				switch {
				case defines(path, word):
					compared++
					if last != "" {
						t.Errorf("seed %d, %q: %s defines it and comes behind %s, which has it in its text", seed, word, path, last)
					}
				case !strings.Contains(strings.ToLower(fmt.Sprint(definitions(c.files[i].text))), folded):
					last = path
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d definitions were found, so this says little", compared)
	}
}

// A repository with stars goes before one without on what else is the same.
func TestStarsDecideTies(t *testing.T) {
	facts := map[string]store.Repository{"b": {Stars: 9000}}
	c := newCorpus(t, 1000, facts, []doc{{repo: "a", path: "f", text: "ox"}, {repo: "b", path: "f", text: "ox"}, {repo: "a", path: "ox", text: ""}})
	var got []string
	for _, m := range c.search(t, search.Settings{}, search.Options{}, "type:file type:path ox", query.Keyword).matches {
		got = append(got, m.In().Name+"/"+m.(*query.FileMatch).Path)
	}
	if want := "a/ox b/f a/f"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// Inside a group of segments a better score comes first, wherever its document
// stands. The first group has 64 documents, each that follows twice as many.
func TestBetterScoreFirstInGroup(t *testing.T) {
	var files []doc
	for i := range 450 {
		text := "aoxa\n"
		if i%100 == 99 {
			text = "ox\n"
		}
		files = append(files, doc{repo: "r", path: fmt.Sprintf("d%03d", i), text: text})
	}
	c := newCorpus(t, 256, nil, files)
	a := c.search(t, search.Settings{}, search.Options{}, "type:file ox", query.Keyword)
	if len(a.matches) != 450 {
		t.Fatalf("got %d matches, want 450", len(a.matches))
	}
	for i := 1; i < len(a.matches); i++ {
		if i == 64 || i == 64+128 || i == 64+128+256 {
			continue
		}
		x, y := a.matches[i-1].(*query.FileMatch), a.matches[i].(*query.FileMatch)
		if x.Score < y.Score || x.Score == y.Score && x.Path > y.Path {
			t.Fatalf("match %d: %s with score %v stands before %s with score %v", i, x.Path, x.Score, y.Path, y.Score)
		}
	}
}

// Shards are visited by the quality of their best document, documents stand in
// a shard as they were written: on equal score what was judged worse comes
// late, a better score comes first all the same.
func TestQualityOrder(t *testing.T) {
	files := []doc{
		{repo: "r", path: "vendor/gen.go", text: "ox\n", quality: 3},
		{repo: "r", path: "vendor/lib.go", text: "ox\n", quality: 2},
		{repo: "r", path: "lib_test.go", text: "ox\n", quality: 1},
		{repo: "r", path: "part.go", text: "oxen\n"},
		{repo: "r", path: "lib.go", text: "ox\n"},
	}
	c := newCorpus(t, 1, nil, files)
	got := strings.Join(c.search(t, search.Settings{}, search.Options{}, "type:file ox", query.Keyword).paths(), " ")
	if want := "lib.go lib_test.go vendor/lib.go vendor/gen.go part.go"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRepositoryOrder(t *testing.T) {
	facts := map[string]store.Repository{"ox-b": {Stars: 3}, "ox-c": {Stars: 50}}
	c := newCorpus(t, 1000, facts, []doc{{repo: "ox-a", path: "f"}, {repo: "ox-b", path: "f"}, {repo: "ox-c", path: "f"}, {repo: "ox-d", path: "f"}})
	for _, text := range []string{"repo:ox", "type:repo ox", "(type:repo a) or (type:repo d) or (type:repo ox)"} {
		got := strings.Join(c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).lines(), ", ")
		if want := "repo ox-c, repo ox-b, repo ox-d, repo ox-a"; got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestScoresIgnoreTheOrderOfOperands: the case that one operand of an or asks for is
// no matter of the other, whichever comes first.
func TestScoresIgnoreTheOrderOfOperands(t *testing.T) {
	c := newCorpus(t, 10, nil, []doc{{repo: "r", path: "a.go", text: "Open File\n"}, {repo: "r", path: "b.go", text: "file open\n"}})
	scores := func(text string) string {
		var out []string
		for _, m := range c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).matches {
			f := m.(*query.FileMatch)
			out = append(out, fmt.Sprintf("%s %.0f", f.Path, f.Score))
		}
		return strings.Join(out, ", ")
	}
	one, other := scores("(zzz case:yes) or (open file)"), scores("(open file) or (zzz case:yes)")
	if one != other || one == "" {
		t.Errorf("with the operands in turn: %s, and %s", one, other)
	}
}
