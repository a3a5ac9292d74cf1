package owners_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/owners"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		// anywhere
		{"*", []string{"a", "a/b.go", ".x/y"}, nil},
		{"*.go", []string{"a.go", "x/y/a.go", "x.go/a"}, []string{"a.got", "go"}},
		{"docs", []string{"docs", "docs/a", "x/docs/b/c"}, []string{"docs2/a", "mydocs"}},
		{"docs/", []string{"docs/a", "x/docs/b/c"}, []string{"docs", "docs2/a"}},
		{"**", []string{"a", "a/b"}, nil},
		{"a?.c", []string{"ab.c", "x/a1.c"}, []string{"a.c", "a/.c", "abc.c"}},

		// from the root
		{"/docs", []string{"docs", "docs/a/b"}, []string{"x/docs"}},
		{"/docs/", []string{"docs/a/b"}, []string{"docs", "x/docs/a"}},
		{"/*.go", []string{"a.go"}, []string{"x/a.go"}},
		{"a/b", []string{"a/b", "a/b/c"}, []string{"x/a/b", "a/bc"}},
		{"docs/*", []string{"docs/a", "docs/a.md"}, []string{"docs/a/b", "x/docs/a", "docs"}},
		{"docs/*.md", []string{"docs/a.md"}, []string{"docs/a/b.md"}},
		{"/a/**", []string{"a/b", "a/b/c"}, []string{"a", "x/a/b"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b", "a/b/c"}, []string{"a/xb", "b"}},
		{"**/logs", []string{"logs", "x/logs", "x/y/logs/z"}, []string{"xlogs"}},

		// as it is written
		{"/A.md", []string{"A.md"}, []string{"a.md", "AxMd"}},
		{"[a-z].c", []string{"[a-z].c"}, []string{"a.c"}},
		{`a\ b`, []string{"a b", "x/a b"}, []string{"a", `a\ b`}},
		{`\#x`, []string{"#x"}, []string{"x"}},
		{"日本/*", []string{"日本/a"}, []string{"日/a"}},
		{"a*b*c", []string{"abc", "axxbxbc"}, []string{"ab", "abcd"}},
		{"x/**/y/**/z", []string{"x/y/z", "x/a/y/y/b/z"}, []string{"x/z", "x/y"}},
		{`a\*`, []string{"a*"}, []string{"ab", `a\*`}},
		{"a+(b)", []string{"a+(b)"}, []string{"aab"}},
		{"!a", nil, []string{"a", "!a"}},
		{"/", nil, []string{"a", ""}},
	} {
		r := owners.Parse(c.pattern + " @x\n")
		for _, path := range c.yes {
			if len(r.Owners(path)) == 0 {
				t.Errorf("pattern %q does not match %q", c.pattern, path)
			}
		}
		for _, path := range c.no {
			if len(r.Owners(path)) > 0 {
				t.Errorf("pattern %q matches %q", c.pattern, path)
			}
		}
	}
}

const file = `# who looks after what
*            @lab/all
*.go         @ann  bob@example.org # two of them
/vendor/
docs/  @ann @ann	@lab/docs
   /docs/Plan.md @Cy

[a].txt @dot
`

const sections = `*.go @root
[Docs] @lab/docs @ed
docs/
docs/a.md @ann
^[Data base][2] @db
*.sql
/docs/
[x] # none
/empty
`

func TestOwners(t *testing.T) {
	for _, c := range []struct{ text, path, want string }{
		// the last line that matches decides
		{file, "README", "@lab/all"},
		{file, "a/b.go", "@ann bob@example.org"},
		{file, "docs/x.go", "@ann @lab/docs"},
		{file, "docs/Plan.md", "@Cy"},
		{file, "vendor/a.go", ""},
		{file, "[a].txt", "@dot"},

		// sections decide each for itself
		{sections, "a.go", "@root"},
		{sections, "docs/x.go", "@root @lab/docs @ed @db"},
		{sections, "docs/a.md", "@ann @db"},
		{sections, "q.sql", "@db"},
		{sections, "empty", ""},

		// no rules
		{"", "a", ""},
		{"# nothing\r\n\r\n", "a", ""},
		{"* @a\r\n", "a", "@a"},
		{"* @a", "a", "@a"},
		{"* @a " + strings.Repeat("#", owners.MaxBytes), "a", ""},
	} {
		if got := strings.Join(owners.Parse(c.text).Owners(c.path), " "); got != c.want {
			t.Errorf("%.40q: owners of %s: got %q, want %q", c.text, c.path, got, c.want)
		}
	}
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		owner, name string
		want        bool
	}{
		{"@ann", "ann", true},
		{"@ann", "@Ann", true},
		{"@lab/docs", "lab/docs", true},
		{"Bob@example.org", "bob@EXAMPLE.org", true},
		{"@ann", "an", false},
		{"@lab/docs", "docs", false},
		{"bob@example.org", "bob", false},
	} {
		if got := owners.Is(c.owner, c.name); got != c.want {
			t.Errorf("Is(%q, %q): got %v", c.owner, c.name, got)
		}
	}
}

// Whatever stands in a file, it can be read, and an owner is a word of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{file, sections, "[", "]", "^[x]", "\\", "a\\", "** @x", "/**/ @x", "a/***/b", "\xff* @x"} {
		f.Add(seed, "docs/a.go")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		got := owners.Parse(text).Owners(path)
		for i, o := range got {
			if o == "" || !strings.Contains(text, o) || slices.Contains(got[:i], o) {
				t.Errorf("%q: owners of %q: got %q", text, path, got)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		owner, handle, email string
		isTeam               bool
	}{
		{"@ada", "ada", "", false},
		{"@lab/kiln", "lab/kiln", "", true},
		{"@lab/fire/kiln", "lab/fire/kiln", "", true},
		{"ada@example.org", "", "ada@example.org", false},
		{"ada", "ada", "", false},
		{"@", "", "", false},
	} {
		handle, email, isTeam := owners.Split(c.owner)
		if handle != c.handle || email != c.email || isTeam != c.isTeam {
			t.Errorf("Split(%q) = %q, %q, %t; want %q, %q, %t", c.owner, handle, email, isTeam, c.handle, c.email, c.isTeam)
		}
	}
}
