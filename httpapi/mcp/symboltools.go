package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

type nameArgs struct {
	Name string `json:"name" jsonschema:"the name, such as ServeHTTP; of a qualified name such as Server.Close the last part is looked for"`
	within
	Limit int `json:"limit,omitempty" jsonschema:"most files to show, 1 to 100; 15 if left out"`
	size
}

// name returns the last part of a qualified name and what it stands in.
func (n nameArgs) name() (name, container string, err error) {
	name = strings.TrimSpace(n.Name)
	if err := checkText("name", name, 200); err != nil {
		return "", "", err
	}
	name = strings.TrimSuffix(name, "()")
	for _, sep := range []string{"::", "->", "#", "."} {
		if i := strings.LastIndex(name, sep); i > 0 && i+len(sep) < len(name) {
			container, name = name[:i], name[i+len(sep):]
		}
	}
	if name == "" || strings.ContainsAny(name, " \t") {
		return "", "", instruct("name has to be one name without spaces, such as parseConfig; use keyword_search for several words.")
	}
	return name, container, nil
}

// findDefinitions looks for the very name, then in any case, then for names that begin
// with it.
func findDefinitions(ctx context.Context, a *asker, in nameArgs) (string, error) {
	name, container, err := in.name()
	if err != nil {
		return "", err
	}
	quoted := regexp.QuoteMeta(name)
	var f *found
	note := ""
	for _, try := range []struct{ query, note string }{
		{"type:symbol case:yes ^" + quoted + "$", ""},
		{"type:symbol case:no ^" + quoted + "$", "No definition has exactly this name; these differ in case."},
		{"type:symbol case:no ^" + quoted, "No definition has exactly this name; these begin with it."},
	} {
		note = try.note
		if f, err = a.searchWithin(ctx, try.query, "regexp", in.within, 0); err != nil {
			return "", err
		}
		if len(f.matches) > 0 {
			break
		}
	}
	f.prefer(container)
	p := newPage(in.MaxBytes)
	if note != "" && len(f.matches) > 0 {
		p.note("%s", note)
	}
	if len(f.matches) == 0 {
		p.note("Definitions are those that ctags knows of the default branches; for names that it does not know use regexp_search with a word such as func, class or def in front.")
	}
	return f.finish(p, f.show(p, bounded(in.Limit, 15, 100))), nil
}

// prefer moves the files to the front whose definitions stand in what a name is qualified
// by.
func (f *found) prefer(container string) {
	if container == "" {
		return
	}
	var first, others []query.Match
	for _, m := range f.matches {
		if file, ok := m.(*query.FileMatch); ok && standsIn(file, container) {
			first = append(first, m)
		} else {
			others = append(others, m)
		}
	}
	f.matches = append(first, others...)
}

func standsIn(m *query.FileMatch, container string) bool {
	for _, s := range m.Symbols {
		if s.Container != "" && (strings.HasSuffix(s.Container, container) || strings.HasSuffix(container, s.Container)) {
			return true
		}
	}
	return false
}

// findReferences shows lines that have the name, and which of them define it.
func findReferences(ctx context.Context, a *asker, in nameArgs) (string, error) {
	name, _, err := in.name()
	if err != nil {
		return "", err
	}
	f, err := a.searchWithin(ctx, "case:yes "+wholeWord(name), "regexp", in.within, 0)
	if err != nil {
		return "", err
	}
	defined, err := a.searchWithin(ctx, "type:symbol case:yes ^"+regexp.QuoteMeta(name)+"$", "regexp", in.within, 0)
	if err != nil {
		return "", err
	}
	lines := map[string]bool{}
	for _, m := range defined.matches {
		if file, ok := m.(*query.FileMatch); ok {
			for _, s := range file.Symbols {
				lines[line(file, int(s.Line))] = true
			}
		}
	}
	p := newPage(in.MaxBytes)
	shown := f.show(p, bounded(in.Limit, 15, 100))
	if where := f.among(lines, shown); len(where) > 0 {
		p.note("Defined at: %s", strings.Join(where, ", "))
	}
	return f.finish(p, shown), nil
}

// wholeWord matches a name that is no part of a longer one.
func wholeWord(name string) string {
	out := regexp.QuoteMeta(name)
	if isWordByte(name[0]) {
		out = `\b` + out
	}
	if isWordByte(name[len(name)-1]) {
		out += `\b`
	}
	return out
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func line(m *query.FileMatch, n int) string { return fmt.Sprintf("%s %s:%d", m.Repo.Name, m.Path, n) }

// among returns which of the first files have the lines, a few of them.
func (f *found) among(lines map[string]bool, shown int) []string {
	var out []string
	for _, m := range f.matches[:min(len(f.matches), shown)] {
		file, ok := m.(*query.FileMatch)
		if !ok {
			continue
		}
		for _, c := range file.Chunks {
			for _, r := range c.Ranges {
				if at := line(file, int(r.Start.Line)+1); lines[at] && len(out) < 5 {
					out = append(out, at)
				}
			}
		}
	}
	return out
}
