package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/syntax"
)

// restated is one query in two forms: as people write it, in one of the pattern
// types, and as a keyword query in which parentheses and quotes leave nothing to
// the parser. The two are drawn together, so the second is not the first as it
// was parsed.
type restated struct {
	pt          query.PatternType
	text, means string
}

// randomRestated draws quoted parentheses, groups of filters, and filters and
// settings behind an "or".
func randomRestated(rng *rand.Rand) restated {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	word := func() string { return pick("foo", "bar", "task", "Foo", "12", "baz_qux", "k", "->") }
	hard := func() string { return strconv.Quote(pick("();", "if (", ")", "a) b", ")*+", "(x", "foo)", "( or )")) }
	filter := func() string {
		return pick("file:src", "-file:foo", `file:\.go$`, "repo:one", "-repo:two", "lang:go", "file:k")
	}
	switch rng.IntN(6) {
	case 0: // trailing filters
		x, y, f, g := strconv.Quote(word()), hard(), filter(), filter()
		return restated{query.Keyword, x + " or " + y + " " + f + " " + g, f + " " + g + " (" + x + " or " + y + ")"}
	case 1: // settings anywhere outside parentheses
		x, y, s := word(), word(), pick("case:yes", "count:7", "count:3 count:9", "timeout:60s")
		last := s[strings.LastIndexByte(s, ' ')+1:]
		text := pick("%[1]s %[3]s or %[2]s", "%[1]s or %[2]s %[3]s", "%[3]s (%[1]s) or (%[2]s)", "(%[1]s) or %[2]s %[3]s")
		return restated{query.Keyword, fmt.Sprintf(text, quoted(x), quoted(y), s), last + " (" + quoted(x) + " or " + quoted(y) + ")"}
	case 2: // a group of filters beside words that are one phrase
		f, g := filter(), filter()
		x, y := word(), word()
		text := pick("(%[1]s or %[2]s) %[3]s %[4]s", "%[3]s (%[1]s or %[2]s) %[4]s", "%[3]s %[4]s (%[1]s or %[2]s)")
		phrase := strconv.Quote(x + " " + y)
		return restated{pickType(rng, query.Standard, query.Literal), fmt.Sprintf(text, f, g, x, y), "(" + f + " " + phrase + ") or (" + g + " " + phrase + ")"}
	case 3: // a group of filters and one of patterns
		f, g := filter(), filter()
		x, y := word(), word()
		both := "(" + quoted(x) + " or " + quoted(y) + ")"
		return restated{pickType(rng, query.Standard, query.Literal, query.Keyword), "(" + f + " or " + g + ") type:file (" + x + " or " + y + ")",
			"(type:file " + f + " " + both + ") or (type:file " + g + " " + both + ")"}
	case 4: // quoted parentheses in a group
		x, y := hard(), hard()
		return restated{pickType(rng, query.Regexp, query.Keyword), "(" + x + " or " + y + ") and not /" + word() + "/", ""}.meaning(x, y)
	}
	x, y, f := hard(), word(), filter()
	return restated{query.Regexp, "(" + x + " and not /" + y + "/) " + f, f + " " + literally(x) + " not /" + y + "/"}
}

// meaning is that of the form with two strings and a negated regexp.
func (r restated) meaning(x, y string) restated {
	_, not, _ := strings.Cut(r.text, " and not ")
	r.means = "(" + literally(x) + " or " + literally(y) + ") not " + not
	return r
}

// literally writes a quoted string as a pattern of which no parser could read the
// parentheses.
func literally(q string) string {
	text, _ := strconv.Unquote(q)
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\x{%x}`, r)
	}
	return "/" + b.String() + "/"
}

func quoted(word string) string { return strconv.Quote(word) }

func pickType(rng *rand.Rand, types ...query.PatternType) query.PatternType {
	return types[rng.IntN(len(types))]
}

// found are the files of an answer with their ranges. Scores differ with the form
// of a query.
func (a answered) found() []string { return stripPaths(a.lines()) }

// compareRestated wants the same of both forms of a query.
func (c *corpus) compareRestated(t testing.TB, rng *rand.Rand) (wrong string) {
	r := randomRestated(rng)
	all := ""
	if !strings.Contains(r.text, "count:") {
		all = " count:all"
	}
	if _, err := syntax.Parse(r.text+all, r.pt); err != nil {
		return fmt.Sprintf("parse %q as %s: %v", r.text, r.pt, err)
	}
	got := c.search(t, search.Settings{}, search.Options{}, r.text+all, r.pt)
	want := c.search(t, search.Settings{Brute: true}, search.Options{}, r.means+all, query.Keyword)
	if all == "" {
		if g, w := total(got.matches), total(want.matches); g != w {
			return fmt.Sprintf("%s query %q gives %d, and %q %d", r.pt, r.text, g, r.means, w)
		}
		return ""
	}
	if g, w := got.found(), want.found(); !slices.Equal(g, w) {
		return fmt.Sprintf("%s query %q and keyword query %q differ\n%s", r.pt, r.text, r.means, firstDifference(g, w))
	}
	return ""
}

// followLimit appends what a query that hit its limit suggests, and wants what the
// larger limit gives.
func (c *corpus) followLimit(t testing.TB, rng *rand.Rand, text string) (wrong string) {
	small := fmt.Sprintf("%s count:%d", text, 1+rng.IntN(5))
	a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, small, nil)
	if !strings.Contains(a.reasons(), "shard-match-limit") {
		return ""
	}
	got := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, follow(t, small, a, "shard-match-limit"), nil)
	want := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, text+" count:1000", nil)
	if g, w := got.full(), want.full(); !slices.Equal(g, w) {
		return fmt.Sprintf("query %q, followed, is not that with count:1000\n%s", small, firstDifference(g, w))
	}
	return ""
}
