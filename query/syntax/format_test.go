package syntax_test

import (
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		pt         query.PatternType
		text, want string
	}{
		// Keyword: words stay bare where they read back.
		{query.Keyword, `open   file`, `open and file`},
		{query.Keyword, `"open file" f(x, y) a/b`, `"open file" and f(x, y) and a/b`},
		{query.Keyword, `a or`, `a and "or"`},
		{query.Keyword, `(foo`, `"(foo"`},
		{query.Keyword, `a (b or not c) -content:"d e"`, `-content:"d e" and a and (b or not c)`},
		{query.Keyword, `/a\/b/ /\d\\./`, `/a\/b/ and /\d\./`},
		{query.Keyword, `/\\\\/ /\\n/`, `/\\\\/ and /\\n/`},
		// Filters.
		{query.Keyword, `R:a -f:"x y" L:go count:all x`, `repo:a -file:"x y" lang:go count:99999999 x`},
		{query.Keyword, `file:(a|b)\.go$ file:"[(]" x`, `file:(a|b)\.go$ file:"[(]" x`},
		{query.Keyword, `repo:has.path(a b) R:has.path(a) x`, `repo:has.path(a b) repo:"has.path(a)" x`},
		{query.Keyword, `repo:a rev:"v 1" x`, `repo:"a@v 1" x`},
		{query.Keyword, `repo:a rev:*refs/heads/* index:only x`, `repo:a index:only rev:*refs/heads/* x`},
		{query.Keyword, `repo:""`, `repo:""`},
		// Unions.
		{query.Keyword, `repo:a x or y`, `repo:a (x or y)`},
		{query.Keyword, `(repo:a x) or y or (repo:b and z w)`, `(repo:a x) or y or (repo:b z and w)`},
		// Other types print as keyword and say so.
		{query.Standard, `open file`, `patterntype:keyword "open file"`},
		{query.Standard, `repo:a`, `repo:a`},
		{query.Literal, `repo:a "x or y`, `patterntype:keyword repo:a ("\"x" or y)`},
		// Regexp stays.
		{query.Regexp, `a b or "c("`, `/(?:a).*?(?:b)/ or "c("`},
		{query.Regexp, `content:a.b c`, `content:a.b and /c/`},
		{query.Regexp, `x and (y or "a)")`, `/x/ and (content:"" /y/ or "a)")`},
		// Structural has no quotes to print with.
		{query.Structural, `f(...) g`, `f(...) g`},
	} {
		q, err := syntax.Parse(c.text, c.pt)
		if err != nil {
			t.Errorf("Parse(%q, %s): %v", c.text, c.pt, err)
			continue
		}
		if got := syntax.Format(q); got != c.want {
			t.Errorf("Format(Parse(%q, %s))\n got %s\nwant %s", c.text, c.pt, got, c.want)
		}
		checkPrintsBack(t, q)
	}
}

func TestReadingsPrintBack(t *testing.T) {
	for _, c := range readings(t) {
		if q, err := syntax.Parse(c.text, c.pt); err == nil {
			checkPrintsBack(t, q)
		}
	}
}

// checkPrintsBack parses what Format prints. Pattern types, which Format may
// change, are left out of the comparison.
func checkPrintsBack(t testing.TB, q *query.Query) {
	t.Helper()
	printed := syntax.Format(q)
	again, err := syntax.Parse(printed, q.PatternType)
	if err != nil {
		if len(printed) > 128<<10 {
			return
		}
		t.Errorf("Parse(%q, %s) prints as %q, which fails: %v", q.Text, q.PatternType, printed, err)
		return
	}
	if got, want := untyped(again), untyped(q); got != want {
		t.Errorf("Parse(%q, %s) prints as %q\n that reads %s\nbut was     %s", q.Text, q.PatternType, printed, got, want)
	}
}

func untyped(q *query.Query) string {
	c := &query.Query{}
	for _, b := range q.Basics {
		var kept []query.Filter
		for _, f := range b.Filters {
			if f.Field == "patterntype" {
				continue
			}
			if f.Predicate != nil {
				f.Field += "()"
			}
			kept = append(kept, f)
		}
		b.Filters = kept
		c.Basics = append(c.Basics, b)
	}
	return sexp(c)
}

func FuzzParse(f *testing.F) {
	for _, c := range readings(f) {
		f.Add(c.text, uint8(len(c.pt)))
	}
	for i, text := range []string{
		"((((", "a))", `"\`, `repo:"a\`, "not", "not ", "a not )", "(not )", "( )", "a( or b", "or or", "and(a)", "(a)or", "x\xff(\xfe",
		`patterntype:literal patterntype:regexp "a patterntype:keyword`, "content: or content:", `(content:"" or x) (y or repo:"")`,
		`("a)" or b) and ("(" or c)`, "repo:a@«at.time(x)»", "repo:a rev:at.time(2024-05-01, v)", "lang:«», x", "/a\\\nb/ \\ ",
	} {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		pt := allTypes[int(n)%len(allTypes)]
		q, err := syntax.Parse(text, pt)
		if err != nil {
			if q != nil || err.Error() == "" {
				t.Errorf("Parse(%q, %s) = %v with error %q", text, pt, q, err)
			}
			return
		}
		checkPrintsBack(t, q)
		for _, b := range q.Basics {
			b.NamesOneRepo()
		}
	})
}
