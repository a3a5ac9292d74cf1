package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/query"
)

type nameArgs struct {
	Name string `json:"name" jsonschema:"the name, such as ServeHTTP; of a qualified name such as Server.Close the last part is looked for"`
	within
	Limit int `json:"limit,omitempty" jsonschema:"most files to show, 1 to 100; 15 if left out"`
	size
}

// name returns the name that is looked for.
func (n nameArgs) name() (navigate.Name, error) {
	if err := checkText("name", strings.TrimSpace(n.Name), navigate.MaxNameBytes); err != nil {
		return navigate.Name{}, err
	}
	name, ok := navigate.ParseName(n.Name)
	if !ok {
		return name, instruct("name has to be one name without spaces, such as parseConfig; use keyword_search for several words.")
	}
	return name, nil
}

// names answers the queries of a name within what the arguments say.
func (a *asker) names(ctx context.Context, in within) navigate.Search {
	return func(text string) (*navigate.Answer, error) {
		f, err := a.searchWithin(ctx, text, "regexp", in, 0)
		if err != nil {
			return nil, err
		}
		return f.Answer, nil
	}
}

// findDefinitions looks for the very name, then in any case, then for names that begin
// with it.
func findDefinitions(ctx context.Context, a *asker, in nameArgs) (string, error) {
	name, err := in.name()
	if err != nil {
		return "", err
	}
	answer, closeness, err := name.Definitions(a.names(ctx, in.within))
	if err != nil {
		return "", err
	}
	f, p := &found{Answer: answer}, newPage(in.MaxBytes)
	switch {
	case len(f.Matches) == 0:
		p.note("Definitions are those that ctags knows of the default branches; for names that it does not know use regexp_search with a word such as func, class or def in front.")
	case closeness == navigate.OtherCase:
		p.note("No definition has exactly this name; these differ in case.")
	case closeness == navigate.Beginning:
		p.note("No definition has exactly this name; these begin with it.")
	}
	return f.finish(p, f.show(p, bounded(in.Limit, 15, 100))), nil
}

// findReferences shows lines that have the name, and which of them define it.
func findReferences(ctx context.Context, a *asker, in nameArgs) (string, error) {
	name, err := in.name()
	if err != nil {
		return "", err
	}
	search := a.names(ctx, in.within)
	answer, err := name.References(search)
	if err != nil {
		return "", err
	}
	defining, err := name.Defining(search)
	if err != nil {
		return "", err
	}
	f, p := &found{Answer: answer}, newPage(in.MaxBytes)
	shown := f.show(p, bounded(in.Limit, 15, 100))
	if where := f.among(defining, shown); len(where) > 0 {
		p.note("Defined at: %s", strings.Join(where, ", "))
	}
	return f.finish(p, shown), nil
}

// among returns which of the first files have the lines, a few of them.
func (f *found) among(lines navigate.Lines, shown int) []string {
	var out []string
	for _, m := range f.Matches[:min(len(f.Matches), shown)] {
		file, ok := m.(*query.FileMatch)
		if !ok {
			continue
		}
		for _, c := range file.Chunks {
			for _, r := range c.Ranges {
				at := navigate.Line{Repository: file.Repo.Name, Path: file.Path, Number: int(r.Start.Line) + 1}
				if lines[at] && len(out) < 5 {
					out = append(out, fmt.Sprintf("%s %s:%d", at.Repository, at.Path, at.Number))
				}
			}
		}
	}
	return out
}
