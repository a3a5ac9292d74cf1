package search_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

var update = flag.Bool("update", false, "rewrite testdata")

func smallCorpus(t testing.TB) *corpus {
	const foo, bar, fork, old = "example.org/acme/foo", "example.org/acme/bar", "example.org/acme/foo-fork", "example.org/acme/foo-old"
	team, empty := "kiln", ""
	facts := map[string]store.Repository{
		foo: {
			Description: "Foo service,\nfires clay", Topics: []string{"clay", "kiln-control"},
			Metadata: map[string]*string{"team": &team, "legacy": nil, "note: old": &empty},
		},
		fork: {Fork: true, Topics: []string{"clay"}},
		old:  {Archived: true},
	}
	files := []doc{
		{repo: foo, path: "README.md", text: "Foo service\nuses bar and baz\n"},
		{repo: foo, path: "src/bar.go", text: "package foo\n\nfunc Bar() string { return \"baz\" }\n"},
		{repo: foo, path: "src/bar_test.go", text: "package foo\nfunc TestBar() {}\n"},
		{repo: bar, path: "Makefile", text: "build:\n\tgo build ./...\n"},
		{repo: fork, path: "README.md", text: "Foo fork\n"},
		{repo: old, path: "README.md", text: "Foo old\n"},
	}
	for _, repo := range []string{foo, bar, fork, old} {
		r := facts[repo]
		r.Source = smallGit(t, repo == foo, files, repo)
		facts[repo] = r
	}
	c := newCorpus(t, 1000, facts, files)
	c.symbols(t)
	return c
}

// smallGit makes the git repository of one of the small corpus's, with a tag,
// a branch and what is no commit where more asks for it.
func smallGit(t testing.TB, more bool, docs []doc, repo string) string {
	t.Helper()
	g := &gitHistory{}
	main := map[string]string{}
	for _, d := range docs {
		if d.repo == repo {
			main[d.path] = d.text
		}
	}
	if !more {
		g.commit(main, nil, "refs/heads/main")
		return g.write(t)
	}
	v1 := g.commit(map[string]string{"README.md": "Foo draft\n"}, nil, "refs/tags/v1")
	next := g.commit(map[string]string{"README.md": main["README.md"], "src/next.go": "package foo\n\nfunc Next() {}\n", "CODEOWNERS": "*.go @ann\n"},
		[]string{v1}, "refs/heads/next/1", "refs/heads/-dash")
	g.commit(main, []string{next}, "refs/heads/main")
	dir := g.write(t)
	runGit(t, dir, "", "tag", "-a", "-m", "annotated", "v1-note", "v1")
	runGit(t, dir, "", "tag", "-a", "-m", "of a tag", "v1-twice", "v1-note")
	runGit(t, dir, "", "tag", "tree", "v1^{tree}")
	runGit(t, dir, "", "tag", "blob", "v1:README.md")
	return dir
}

// TestSmall checks testdata/small.txt, which says what its format is; -update
// rewrites the answers in it.
func TestSmall(t *testing.T) {
	const golden = "testdata/small.txt"
	c := smallCorpus(t)
	old, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	lines := strings.Split(strings.TrimSuffix(string(old), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		fmt.Fprintln(&out, lines[i])
		pt, text, ok := strings.Cut(lines[i], " `")
		if !ok || strings.HasPrefix(pt, "#") {
			continue
		}
		var want []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			want = append(want, lines[i][2:])
		}
		got := c.tell(query.PatternType(pt), strings.TrimSuffix(text, "`"))
		for _, l := range got {
			fmt.Fprintln(&out, "  "+l)
		}
		if !*update && !slices.Equal(got, want) {
			t.Errorf("%s `%s\ngot\n  %s\nwant\n  %s", pt, text, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tell searches and prints all that a person would be shown, in lines.
func (c *corpus) tell(pt query.PatternType, text string) []string {
	q, err := syntax.Parse(text, pt)
	if err != nil {
		return tellAlert(search.QueryAlert(err))
	}
	var out []string
	results := report.New(time.Now)
	outcome := search.New(c.st, search.Settings{}).Search(context.Background(), q, search.Options{Display: -1, Report: results},
		answer.SinkFunc(func(matches []query.Match) error {
			for _, m := range matches {
				out = append(out, tellMatch(m))
			}
			return nil
		}))
	slices.Sort(out)
	for _, s := range results.Progress().Skipped {
		line := "skipped " + s.Reason + ": " + s.Title
		if s.SuggestedQuery != "" {
			line += ", " + s.SuggestedQuery
		}
		out = append(out, line)
	}
	if outcome.Err != nil {
		out = append(out, "error "+outcome.Err.Error())
	}
	if outcome.Alert != nil {
		out = append(out, tellAlert(outcome.Alert)...)
	}
	return out
}

func tellAlert(a *query.Alert) []string {
	out := []string{"alert " + a.Title + ": " + strings.ReplaceAll(a.Description, "\n", "⏎")}
	for _, p := range a.Proposed {
		out = append(out, "propose "+p.Description+": "+p.Query)
	}
	return out
}

// tellMatch prints what a match shows: the texts of its ranges by line, then
// those in the path.
func tellMatch(m query.Match) string {
	if r, ok := m.(*query.RepoMatch); ok {
		s := "repo " + r.Repo.Name
		if r.HasRev {
			s += "@" + r.Rev
		}
		s += tellRanges(r.Repo.Name, r.NameRanges)
		if len(r.DescriptionRanges) > 0 {
			s += " description" + tellRanges(r.Repo.Description, r.DescriptionRanges)
		}
		return s
	}
	if o, ok := m.(*query.OwnerMatch); ok {
		return fmt.Sprintf("owner %s%s of %s", o.Handle, o.Email, o.Repo.Name)
	}
	f := m.(*query.FileMatch)
	s := "path "
	switch {
	case len(f.Symbols) > 0:
		s = "symbol "
	case len(f.Chunks) > 0:
		s = "content "
	}
	s += f.Repo.Name
	if f.Rev != "" {
		s += "@" + f.Rev
	}
	s += " " + f.Path
	for _, c := range f.Chunks {
		for _, r := range c.Ranges {
			s += fmt.Sprintf(" %d:%q", r.Start.Line+1, c.Content[r.Start.Offset-c.Start.Offset:r.End.Offset-c.Start.Offset])
		}
	}
	for _, m := range f.Symbols {
		s += fmt.Sprintf(" %d:%s %s in %q", m.Line, m.Kind, m.Name, m.Container)
	}
	if len(f.PathRanges) > 0 {
		s += " path" + tellRanges(f.Path, f.PathRanges)
	}
	return s
}

func tellRanges(text string, ranges []query.Range) string {
	s := ""
	for _, r := range ranges {
		s += fmt.Sprintf(" %q", text[r.Start.Offset:r.End.Offset])
	}
	return s
}

// Every query that an alert proposes can be run as it stands.
func TestProposalsParse(t *testing.T) {
	golden, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(golden)) {
		if rest, ok := strings.CutPrefix(line, "  propose "); ok {
			_, text, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			n++
			for _, pt := range []query.PatternType{query.Keyword, query.Standard, query.Literal, query.Regexp} {
				if _, err := syntax.Parse(text, pt); err != nil {
					t.Errorf("proposed %q as %s: %v", text, pt, err)
				}
			}
		}
	}
	if n == 0 {
		t.Error("no proposals in testdata/small.txt")
	}
}
