package navigate

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// Place is the file that a name was met in. Its fields may be empty.
type Place struct {
	Repository, Revision, Path, Language string
}

// Result is a line that defines a name or refers to it.
type Result struct {
	Repository, Revision, Commit, Path, Language string
	// Line counts from 1. Column counts the characters before the name.
	Line, Column int
	// Text is the line, "" where it was not read.
	Text string
	// Definition says that the line defines the name, which then has a kind and
	// perhaps a container.
	Definition      bool
	Kind, Container string
	// Comment is what the lines beside a definition say about it.
	Comment string
}

// Results are lines, nearest first.
type Results struct {
	Lines     []*Result
	Closeness Closeness
	// Incomplete says that there may be more.
	Incomplete bool
}

// scope is where names are looked for.
type scope int

const (
	here scope = iota // the repository of the place
	elsewhere
)

// within adds filters to a query. The repository of the place is meant even if it is
// a fork or archived.
func (p Place) within(text string, s scope) string {
	name := "^" + regexp.QuoteMeta(p.Repository) + "$"
	if s == elsewhere {
		text = syntax.WithFilter(text, "timeout", "5s")
		if p.Repository == "" {
			return text
		}
		return syntax.WithFilter(text, "-repo", name)
	}
	if p.Revision != "" && p.hasOneRevision() {
		name += "@" + p.Revision
	}
	return everywhere(syntax.WithFilter(text, "repo", name))
}

// hasOneRevision reports whether a query takes the revision, if there is one, for no more
// than one.
func (p Place) hasOneRevision() bool { return !strings.ContainsAny(p.Revision, " :*") }

// everywhere has a query look in forks and archived repositories as well.
func everywhere(text string) string {
	return syntax.WithFilter(syntax.WithFilter(text, "fork", "yes"), "archived", "yes")
}

// scopes are where names are looked for from a place, in turn.
func (p Place) scopes() []scope {
	if p.Repository == "" {
		return []scope{elsewhere}
	}
	return []scope{here, elsewhere}
}

// searchIn answers queries within a scope.
func (f *Finder) searchIn(ctx context.Context, p Place, s scope, trace *httpapi.RequestTrace) Search {
	return func(text string) (*Answer, error) { return f.Search(ctx, p.within(text, s), "regexp", 0, trace) }
}

// Definitions finds the definitions of a name that was met at a place, nearest first:
// those of the very name or, if there are none, those that differ in case or are longer.
func (f *Finder) Definitions(ctx context.Context, n Name, at Place, trace *httpapi.RequestTrace) (*Results, error) {
	out := &Results{}
	for _, out.Closeness = range []Closeness{Exact, OtherCase, Beginning} {
		for _, s := range at.scopes() {
			if err := f.addDefinitions(ctx, n, at, s, out, trace); err != nil {
				return nil, err
			}
		}
		if len(out.Lines) > 0 {
			break
		}
	}
	at.sort(out.Lines, n.Container)
	return out, nil
}

// Nearest finds the definitions of the very name in the repository of the place or, if
// there are none, in others, nearest first.
func (f *Finder) Nearest(ctx context.Context, n Name, at Place, trace *httpapi.RequestTrace) (*Results, error) {
	out := &Results{Closeness: Exact}
	for _, s := range at.scopes() {
		if err := f.addDefinitions(ctx, n, at, s, out, trace); err != nil {
			return nil, err
		}
		if len(out.Lines) > 0 {
			break
		}
	}
	at.sort(out.Lines, n.Container)
	return out, nil
}

func (f *Finder) addDefinitions(ctx context.Context, n Name, at Place, s scope, out *Results, trace *httpapi.RequestTrace) error {
	a, err := f.searchIn(ctx, at, s, trace)(n.definitionQuery(out.Closeness))
	if err != nil {
		return err
	}
	out.Incomplete = out.Incomplete || a.Incomplete()
	for _, m := range a.Files() {
		out.Lines = append(out.Lines, definitionsIn(m)...)
	}
	return nil
}

func definitionsIn(m *query.FileMatch) []*Result {
	var out []*Result
	for _, s := range m.Symbols {
		r := resultIn(m)
		r.Definition, r.Line, r.Column = true, int(s.Line), int(s.Column)
		r.Kind, r.Container = string(s.Kind), s.Container
		out = append(out, r)
	}
	return out
}

func resultIn(m *query.FileMatch) *Result {
	return &Result{Repository: m.Repo.Name, Revision: m.Rev, Commit: m.Commit, Path: m.Path, Language: m.Language}
}

// References finds the lines that have a name which was met at a place, those that
// are nearest first.
func (f *Finder) References(ctx context.Context, n Name, at Place, trace *httpapi.RequestTrace) (*Results, error) {
	out := &Results{Closeness: Exact}
	for _, s := range at.scopes() {
		search := f.searchIn(ctx, at, s, trace)
		a, err := n.References(search)
		if err != nil {
			return nil, err
		}
		defining, err := n.Defining(search)
		if err != nil {
			return nil, err
		}
		out.Incomplete = out.Incomplete || a.Incomplete()
		for _, m := range a.Files() {
			out.Lines = append(out.Lines, referencesIn(m, defining)...)
		}
	}
	at.sort(out.Lines, n.Container)
	return out, nil
}

// referencesIn returns the lines of a match, each once.
func referencesIn(m *query.FileMatch, defining Lines) []*Result {
	var out []*Result
	for _, c := range m.Chunks {
		last := -1
		for _, r := range c.Ranges {
			line := int(r.Start.Line)
			if line == last {
				continue
			}
			last = line
			found := resultIn(m)
			found.Line, found.Column = line+1, int(r.Start.Column)
			found.Text = lineAt(string(c.Content), line-int(c.Start.Line))
			found.Definition = defining[Line{m.Repo.Name, m.Path, line + 1}]
			out = append(out, found)
		}
	}
	return out
}

// maxLineBytes is how much of a line a result has. It begins maxLeadBytes before the
// name at most, so that the name is in it.
const (
	maxLineBytes = 400
	maxLeadBytes = 100
)

// lineAt returns a line of a text.
func lineAt(text string, n int) string {
	for ; n > 0; n-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// cutAround returns the part of a line that a result has. The column of the name in
// it is returned with it.
func cutAround(line string, column int) (string, int) {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if len(line) <= maxLineBytes {
		return line, column
	}
	from, lead := 0, 0
	for i := range line {
		if lead == column-maxLeadBytes {
			from = i
			column = maxLeadBytes
			break
		}
		lead++
	}
	end := min(len(line), from+maxLineBytes)
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.Clone(line[from:end]), column
}

// sort puts results in order: those of the same file, of its directory, of its
// repository, and others; of each those in the same language first, and those in the
// container. What is alike keeps its order, which is that of relevance.
func (p Place) sort(lines []*Result, container string) {
	slices.SortStableFunc(lines, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(p.distance(a), p.distance(b)), -cmp.Compare(rankIn(a, container), rankIn(b, container)))
	})
}

func rankIn(r *Result, container string) int {
	if standsIn(r.Container, container) {
		return 1
	}
	return 0
}

func (p Place) distance(r *Result) int {
	far := 0
	if p.Language != "" && family(r.Language) != family(p.Language) {
		far = 1
	}
	switch {
	case r.Repository != p.Repository:
		return 6 + far
	case r.Path == p.Path:
		return 0
	case path.Dir(r.Path) == path.Dir(p.Path):
		return 2 + far
	}
	return 4 + far
}

// family names the languages that call each other's names by the first of them.
func family(language string) string {
	switch language {
	case "C++", "Objective-C", "Objective-C++", "Cuda":
		return "C"
	case "TypeScript", "TSX", "JSX", "Vue", "Svelte":
		return "JavaScript"
	case "Kotlin", "Scala", "Groovy":
		return "Java"
	}
	return language
}
