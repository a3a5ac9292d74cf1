package mcp_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
)

// TestTools calls each tool as an agent would.
func TestTools(t *testing.T) {
	w := newWorld(t)
	s := w.client(t, "bob")
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		// searches
		{"keyword_search", map[string]any{"query": "fire heat", "language": "Go"}, []string{"## lab/kiln main.go", "6: func fire(heat int) {", " in 1 file."}},
		{"keyword_search", map[string]any{"query": "glaze", "limit": 2}, []string{", the first 2 shown: narrow the search, or raise limit", "Narrow with: "}},
		{"keyword_search", map[string]any{"query": "glaze", "path": `^many\.txt$`}, []string{"3000 matches in 1 file", "more in this file)"}},
		{"keyword_search", map[string]any{"query": "nosuchword"}, []string{"Nothing was found.", "Try fewer or other words", "Query: nosuchword"}},
		{"regexp_search", map[string]any{"pattern": `func \w+\(heat`, "context": 1}, []string{"5- // fire heats the kiln.", "6: func fire(heat int) {", "7- "}},
		{"regexp_search", map[string]any{"pattern": "FIRE\\(", "case_sensitive": true}, []string{"Nothing was found."}},
		{"regexp_search", map[string]any{"pattern": `glazed,\s+end`}, []string{"## lab/kiln long.js", "1: …", "glazed, end;"}},
		{"natural_search", map[string]any{"question": "Where does the code say how long a glaze cools before the retry of unobtainium?"}, []string{"docs/guide.md", "Searched for: ", "were dropped: "}},
		// files
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "main.go"}, []string{"## lab/kiln main.go at " + w.last[:12] + ", lines 1 to 12 of 12", "6: func fire(heat int) {", "12: }"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "/main.go", "revision": "v1.0", "start_line": 5, "end_line": 6}, []string{"at " + w.first[:12] + ", lines 5 to 6 of 11", "5: func fire(heat int) {"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "many.txt", "max_bytes": 2000}, []string{"Read on with start_line "}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "empty.txt"}, []string{"is empty"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "long.js"}, []string{"1: var glazed, ", "…"}},
		{"list_files", map[string]any{"repository": "lab/kiln"}, []string{"docs/\n", "main.go\n"}},
		{"list_files", map[string]any{"repository": "lab/kiln", "path": "docs", "revision": w.first}, []string{"docs/guide.md"}},
		{"list_files", map[string]any{"repository": "lab/kiln", "recursive": true, "limit": 3}, []string{"3 entries", "There is more"}},
		{"list_files", map[string]any{"repository": "lab/kiln", "pattern": `\.go$`, "path": "glazes"}, []string{"glazes/a.go", "4 matches in 4 files."}},
		{"list_files", map[string]any{"repository": "lab/kiln", "pattern": `guide`, "revision": "v1.0"}, []string{"docs/guide.md"}},
		{"list_repositories", nil, []string{"1 of 1 repository.", "lab/kiln (main)"}},
		{"list_repositories", map[string]any{"query": "nothing"}, []string{"0 of 0 repositories.", "Try a shorter part"}},
		// history
		{"commit_search", map[string]any{"query": "kiln bricks"}, []string{"2 matches in 1 commit.", "## lab/kiln " + w.first[:12], "Ada: Build the kiln\nWith bricks."}},
		{"commit_search", map[string]any{"author": "ada", "limit": 1}, []string{"2 matches in 2 commits, the first 1 shown"}},
		{"diff_search", map[string]any{"query": "fire heats the kiln"}, []string{"## lab/kiln " + w.last[:12], "+// fire heats the kiln."}},
		{"compare_revisions", map[string]any{"repository": "lab/kiln", "base": "v1.0", "path": "main.go", "diff": true},
			[]string{"## lab/kiln v1.0...HEAD", "1 commit:", "Say what fire does", "1 file changed, +1 -0:", "main.go +1 -0", "@@ -", "+// fire heats the kiln."}},
		{"compare_revisions", map[string]any{"repository": "lab/kiln", "base": "v1.0", "head": "main", "limit": 2}, []string{"(new)", "There are more files: give a path, or after "}},
		{"blame", map[string]any{"repository": "lab/kiln", "path": "main.go", "start_line": 4, "end_line": 6},
			[]string{"blame of lines 4 to 6", "5-5 " + w.last[:12], "6-6 " + w.first[:12], "Ada: Build the kiln", "Go on with start_line 7"}},
		// errors are instructions
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "docs"}, []string{"is a directory: use list_files"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "photo.png"}, []string{"is a binary file of "}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "src/guide.md"}, []string{"Files of that name: docs/guide.md"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "nowhere.md"}, []string{"use list_files"}},
		{"read_file", map[string]any{"repository": "other/kiln", "path": "main.go"}, []string{"Did you mean: lab/kiln?"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "main.go", "revision": "v9"}, []string{`no revision "v9". Branches: main.`}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "main.go", "start_line": 99}, []string{"give a start_line up to 12"}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "main.go", "start_line": 9, "end_line": 2}, []string{"are no range"}},
		{"list_files", map[string]any{"repository": "lab/kiln", "path": "main.go"}, []string{"is a file: use read_file"}},
		{"keyword_search", map[string]any{"query": " "}, []string{"the query is empty"}},
		{"keyword_search", map[string]any{"query": "(nothing"}, []string{"A parenthesis is not closed", "Try: (nothing)"}},
		{"regexp_search", map[string]any{"pattern": "glaze[z-a]"}, []string{"the query is not understood"}},
		{"keyword_search", map[string]any{"query": "glaze", "path": "*.go"}, []string{"path is no regular expression"}},
		{"natural_search", map[string]any{"question": "where is the function?"}, []string{"no telling word"}},
		{"commit_search", nil, []string{"nothing is asked for"}},
		{"commit_search", map[string]any{"query": "kiln", "after": "someday"}, []string{"the query is not understood"}},
		{"compare_revisions", map[string]any{"repository": "lab/kiln", "base": "v1.0", "head": "v9"}, []string{`no revision "v9"`}},
		{"blame", map[string]any{"repository": "lab/kiln", "path": "empty.txt"}, []string{"the file has 0 lines"}},
		{"keyword_search", map[string]any{"words": "glaze"}, []string{`unexpected additional properties ["words"]`, "The arguments of keyword_search are: query, repository, path, language, limit, context, max_bytes."}},
		{"read_file", map[string]any{"repository": "lab/kiln", "path": "main.go", "start_line": "5"}, []string{"validating", "start_line, end_line"}},
	} {
		got, _ := call(t, s, c.tool, c.arguments)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %v: no %q in\n%s", c.tool, c.arguments, want, got)
			}
		}
	}
}

// TestSymbolTools finds names.
func TestSymbolTools(t *testing.T) {
	w := newWorld(t)
	if !w.symbols {
		needs.Skip(t, "ctags", nil)
	}
	s := w.client(t, "bob")
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		{"find_definitions", map[string]any{"name": "fire"}, []string{"1 match in 1 file.", "## lab/kiln main.go\n6: function fire"}},
		{"find_definitions", map[string]any{"name": "main.fire()"}, []string{"6: function fire"}},
		{"find_definitions", map[string]any{"name": "FIRE"}, []string{"6: function fire", "these differ in case"}},
		{"find_definitions", map[string]any{"name": "mix"}, []string{"glazes/a.go", "these begin with it"}},
		{"find_definitions", map[string]any{"name": "nothing"}, []string{"Nothing was found.", "use regexp_search"}},
		{"find_definitions", map[string]any{"name": "two words"}, []string{"one name without spaces"}},
		{"find_references", map[string]any{"name": "fire"}, []string{"6: func fire(heat int) {", "11: \tfire(900)", "Defined at: lab/kiln main.go:6"}},
	} {
		got, _ := call(t, s, c.tool, c.arguments)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %v: no %q in\n%s", c.tool, c.arguments, want, got)
			}
		}
	}
}
