package print_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/httpapi/client"
)

func at(line, column int) client.Location { return client.Location{Line: line, Column: column} }

func hit(fromLine, fromColumn, toLine, toColumn int) client.Range {
	return client.Range{Start: at(fromLine, fromColumn), End: at(toLine, toColumn)}
}

// content is a match in lab/kiln's a.go.
func content(chunks ...client.ChunkMatch) client.Match {
	return client.Match{Type: "content", Repository: "lab/kiln", Path: "a.go", Branches: []string{""}, ChunkMatches: chunks}
}

func chunk(text string, line int, hits ...client.Range) client.ChunkMatch {
	return client.ChunkMatch{Content: text, ContentStart: at(line, 0), Ranges: hits}
}

// preview is a diff of a file that was renamed.
const preview = "```diff\na/½.go b.go\n@@ -7,2 +7,2 @@ f()\n-\tadd(\"peat\")\n+\tadd(\"coal\")\n \n\n```"

func commit(content string, ranges ...[3]int) client.Match {
	return client.Match{Type: "commit", Repository: "lab/kiln", CommitDetails: client.CommitDetails{
		OID: "c0ffee01234567", AuthorName: "Ada", Detail: "[`c0ffee0` 3 days ago](/lab/kiln/-/commit/c0ffee01234567)",
		Message: "Stoke it\n\nIt was\ntoo cold", Content: content, Ranges: ranges,
	}}
}

// colored replaces the sequences of colours by letters.
var colored = strings.NewReplacer("\x1b[35m", "<p:", "\x1b[32m", "<n:", "\x1b[31m", "<r:", "\x1b[36m", "<s:", "\x1b[1;31m", "<h:", "\x1b[0m", ">")

func TestMatches(t *testing.T) {
	path := func(p string, hits ...client.Range) client.Match {
		return client.Match{Type: "path", Repository: "lab/kiln", Path: p, PathMatches: hits, Branches: []string{""}}
	}
	plain, color := print.Options{}, print.Options{Color: true}
	terminal, context := print.Options{Terminal: true}, print.Options{Before: 1, After: 1}
	for _, c := range []struct {
		name  string
		opts  print.Options
		match client.Match
		want  string
	}{
		// content
		{"one line", plain, content(chunk("glaze here\n", 4, hit(4, 0, 4, 5))), "lab/kiln/a.go:5:glaze here\n"},
		{"no newline at the end", plain, content(chunk("glaze", 0, hit(0, 0, 0, 5))), "lab/kiln/a.go:1:glaze\n"},
		{"a match over two lines", plain, content(chunk("a\nb\n", 0, hit(0, 0, 1, 1))), "lab/kiln/a.go:1:a\nlab/kiln/a.go:2:b\n"},
		{"a match of a newline", plain, content(chunk("a\nb\n", 0, hit(0, 0, 1, 0))), "lab/kiln/a.go:1:a\nlab/kiln/a.go-2-b\n"},
		{"an empty match", plain, content(chunk("\n", 0, hit(0, 0, 0, 0))), "lab/kiln/a.go:1:\n"},
		{"chunks out of order", plain, content(chunk("b\n", 8, hit(8, 0, 8, 1)), chunk("a\n", 2, hit(2, 0, 2, 1))),
			"lab/kiln/a.go:3:a\nlab/kiln/a.go:9:b\n"},
		{"lines around", context, content(chunk("x\na\ny\n", 0, hit(1, 0, 1, 1)), chunk("z\na\n", 7, hit(8, 0, 8, 1))),
			"lab/kiln/a.go-1-x\nlab/kiln/a.go:2:a\nlab/kiln/a.go-3-y\n--\nlab/kiln/a.go-8-z\nlab/kiln/a.go:9:a\n"},
		{"a revision", plain, client.Match{Repository: "r", Path: "p", Branches: []string{"v2"}}, "r@v2/p\n"},

		// symbols
		{"symbols", plain, client.Match{Repository: "r", Path: "p.go", Symbols: []client.Symbol{
			{Name: "Fire", Kind: "METHOD", ContainerName: "kiln.Kiln", Line: 3}, {Name: "x", Kind: "UNKNOWN", Line: 9}}},
			"r/p.go:3:Fire method in kiln.Kiln\nr/p.go:9:x unknown\n"},

		// names
		{"a path", plain, path("docs/a b.md"), "lab/kiln/docs/a b.md\n"},
		{"a repository", plain, client.Match{Type: "repo", Repository: "lab/kiln"}, "lab/kiln\n"},

		// commits: a line about each, then what was found
		{"a message", plain, commit("```COMMIT_EDITMSG\nStoke it\n\nIt was\ntoo cold\n```", [3]int{4, 4, 4}),
			"lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n    too cold\n"},
		{"a message, in colour", color, commit("```COMMIT_EDITMSG\n½ Stoke it\n\ncold\n```", [3]int{1, 2, 5}),
			"<p:lab/kiln> <n:c0ffee0123> Ada, 3 days ago<s:: >½ <h:Stoke> it\n"},
		{"a message without hits", plain, commit("```COMMIT_EDITMSG\nStoke it\n\nIt was cold\n```"), "lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n"},
		{"a diff", plain, commit(preview, [3]int{4, 7, 4}),
			"lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n    a/½.go b.go\n    @@ -7,2 +7,2 @@ f()\n    -\tadd(\"peat\")\n    +\tadd(\"coal\")\n     \n"},
		{"a diff, in colour", color, commit(preview, [3]int{1, 2, 1}, [3]int{1, 8, 4}, [3]int{4, 7, 4}),
			"<p:lab/kiln> <n:c0ffee0123> Ada, 3 days ago<s:: >Stoke it\n    <p:a/><h:½><p:.go ><h:b.go>\n    <s:@@ -7,2 +7,2 @@ f()>\n" +
				"    <r:-\tadd(\"peat\")>\n    <n:+\tadd(\"><h:coal><n:\")>\n     \n"},
		{"an empty diff", plain, commit("```diff\n\n```"), "lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n"},
		{"ranges that a server invents", color, commit(preview, [3]int{0, 0, 9}, [3]int{99, 0, 9}, [3]int{-1, -1, -1}, [3]int{5, 9, 9}),
			"<p:lab/kiln> <n:c0ffee0123> Ada, 3 days ago<s:: >Stoke it\n    <p:a/½.go b.go>\n    <s:@@ -7,2 +7,2 @@ f()>\n" +
				"    <r:-\tadd(\"peat\")>\n    <n:+\tadd(\"coal\")>\n     \n"},
		{"a commit without anything", plain, client.Match{Type: "commit"}, "  , : \n"},
		{"a commit for a terminal", terminal, commit("```diff\n\x1b a\r\n\n```"), "lab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\n    \\x1b a\n"},

		// owners
		{"a person", plain, client.Match{Type: "person", Owner: client.Owner{Handle: "ada"}}, "@ada\n"},
		{"an address", color, client.Match{Type: "person", Owner: client.Owner{Email: "ada@example.org"}}, "<p:ada@example.org>\n"},
		{"a team", plain, client.Match{Type: "team", Owner: client.Owner{Handle: "lab/kiln"}}, "@lab/kiln\n"},

		// colours: columns are runes, not bytes
		{"colours", color, content(chunk("½ cup glaze glaze\n", 0, hit(0, 6, 0, 11), hit(0, 12, 0, 17))),
			"<p:lab/kiln><p:/a.go><s::><n:1><s::>½ cup <h:glaze> <h:glaze>\n"},
		{"overlapping and out of order", color, content(chunk("abcdef\n", 0, hit(0, 3, 0, 5), hit(0, 1, 0, 4))),
			"<p:lab/kiln><p:/a.go><s::><n:1><s::>a<h:bcd><h:e>f\n"},
		{"behind the end of a cut line", color, content(chunk("ab...truncated\n", 0, hit(0, 100, 0, 105))),
			"<p:lab/kiln><p:/a.go><s::><n:1><s::>ab...truncated\n"},
		{"a path that hits", color, path("a/glaze.go", hit(0, 2, 0, 7)), "<p:lab/kiln><p:/><p:a/><h:glaze><p:.go>\n"},

		// what would control a terminal
		{"escapes for a terminal", terminal, content(chunk("\x1b]0;evil\a \u202e \u009b \t\r\n", 0, hit(0, 0, 0, 1))),
			"lab/kiln/a.go:1:" + `\x1b]0;evil\x07 \u202e \x9b ` + "\t\n"},
		{"bytes for a program", plain, content(chunk("\x1b\r\n", 0, hit(0, 0, 0, 1))), "lab/kiln/a.go:1:\x1b\r\n"},
		{"a newline in a path, for all", plain, path("a\nb"), `lab/kiln/a\nb` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			p := print.NewMatches(&out, c.opts)
			if err := p.Write([]client.Match{c.match}); err != nil {
				t.Fatal(err)
			}
			if got := colored.Replace(out.String()); got != c.want {
				t.Errorf("match %+v\n got %q\nwant %q", c.match, got, c.want)
			}
		})
	}
}

// written returns what becomes of matches, with letters for colours.
func written(t *testing.T, o print.Options, matches ...client.Match) string {
	t.Helper()
	var out bytes.Buffer
	p := print.NewMatches(&out, o)
	for _, m := range matches { // as they come, one by one
		if err := p.Write([]client.Match{m}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return colored.Replace(out.String())
}

func TestMatchesOneByOne(t *testing.T) {
	one := content(chunk("x\na\ny\n", 0, hit(1, 0, 1, 1)))
	more := content(chunk("a\n", 3, hit(3, 0, 3, 1)), chunk("z\na\n", 7, hit(8, 0, 8, 1))) // of the same document
	other := content(chunk("a a\n", 9, hit(9, 0, 9, 1), hit(9, 2, 9, 3)))
	other.Path = "½ b.go"
	other.Branches = []string{"v2"}
	name := client.Match{Type: "path", Repository: "lab/kiln", Path: "c d"}
	symbol := client.Match{Type: "symbol", Repository: "r", Path: "p.go", Symbols: []client.Symbol{{Name: "Fire", Kind: "METHOD", Line: 3}}}
	message := commit("```COMMIT_EDITMSG\nStoke it\n```", [3]int{1, 0, 5})
	all := []client.Match{one, more, other, name, symbol, message, {Type: "repo", Repository: "lab/kiln"}, {Type: "team", Owner: client.Owner{Handle: "lab"}}}
	const url = "https://code.example.org/trawl"
	link := func(path, text string) string { return "\x1b]8;;" + url + path + "\x1b\\" + text + "\x1b]8;;\x1b\\" }
	for _, c := range []struct {
		name    string
		opts    print.Options
		matches []client.Match
		want    string
	}{
		// headings
		{"headings", print.Options{Heading: true}, all, "lab/kiln/a.go\n1-x\n2:a\n3-y\n4:a\n8-z\n9:a\n\nlab/kiln@v2/½ b.go\n10:a a\n\nlab/kiln/c d\n\n" +
			"r/p.go\n3:Fire method\n\nlab/kiln c0ffee0123 Ada, 3 days ago: Stoke it\nlab/kiln\n@lab\n"},
		{"headings and lines around", print.Options{Heading: true, Before: 1, After: 1}, []client.Match{one, more, other},
			"lab/kiln/a.go\n1-x\n2:a\n3-y\n4:a\n--\n8-z\n9:a\n\nlab/kiln@v2/½ b.go\n10:a a\n"},
		{"headings in colour", print.Options{Heading: true, Color: true}, []client.Match{one}, "<p:lab/kiln><p:/a.go>\n<n:1><s:->x\n<n:2><s::><h:a>\n<n:3><s:->y\n"},

		// lines around, more of them on one side
		{"before", print.Options{Before: 1}, []client.Match{one, more}, "lab/kiln/a.go-1-x\nlab/kiln/a.go:2:a\n--\nlab/kiln/a.go:4:a\n--\nlab/kiln/a.go-8-z\nlab/kiln/a.go:9:a\n"},
		{"after", print.Options{After: 2}, []client.Match{one, other}, "lab/kiln/a.go:2:a\nlab/kiln/a.go-3-y\n--\nlab/kiln@v2/½ b.go:10:a a\n"},

		// names and counts
		{"names", print.Options{Form: print.Files}, all, "lab/kiln/a.go\nlab/kiln@v2/½ b.go\nlab/kiln/c d\nr/p.go\nlab/kiln c0ffee01234567\nlab/kiln\n@lab\n"},
		{"counts", print.Options{Form: print.Counts}, all,
			"lab/kiln/a.go:3\nlab/kiln@v2/½ b.go:2\nlab/kiln/c d:1\nr/p.go:1\nlab/kiln c0ffee01234567:1\nlab/kiln:1\n@lab:1\n"},
		{"counts of nothing", print.Options{Form: print.Counts}, nil, ""},

		// a table
		{"a table", print.Options{Form: print.CSV}, []client.Match{one, name}, "type,repository,revision,commit,path,line,column,end_line,end_column,author,date,text\n" +
			"content,lab/kiln,,,a.go,2,1,2,2,,,a\npath,lab/kiln,,,c d,,,,,,,\n"},
		{"an empty table", print.Options{Form: print.CSV}, nil, "type,repository,revision,commit,path,line,column,end_line,end_column,author,date,text\n"},
		{"a table for a terminal", print.Options{Form: print.CSV, Terminal: true}, []client.Match{content(chunk("\x1b[2J\n", 0, hit(0, 0, 0, 1)))},
			"type,repository,revision,commit,path,line,column,end_line,end_column,author,date,text\ncontent,lab/kiln,,,a.go,1,1,1,2,,,\\x1b[2J\n"},

		// links
		{"links below headings", print.Options{Heading: true, Links: url}, []client.Match{other}, link("/lab/kiln@v2/-/blob/%C2%BD%20b.go", "lab/kiln@v2/½ b.go") + "\n" +
			link("/lab/kiln@v2/-/blob/%C2%BD%20b.go?L10", "10") + ":a a\n"},
		{"links of lines", print.Options{Links: url + "/"}, []client.Match{other}, link("/lab/kiln@v2/-/blob/%C2%BD%20b.go?L10", "lab/kiln@v2/½ b.go:10") + ":a a\n"},
		{"links of names", print.Options{Links: url, Form: print.Files}, []client.Match{name, {Type: "repo", Repository: "r"}}, link("/lab/kiln/-/blob/c%20d", "lab/kiln/c d") + "\n" + link("/r", "r") + "\n"},
		{"links of commits", print.Options{Links: url}, []client.Match{message}, link("/lab/kiln/-/commit/c0ffee01234567", "lab/kiln c0ffee0123") + " Ada, 3 days ago: Stoke it\n"},
		{"no link out of a hostile path", print.Options{Links: url, Form: print.Files, Terminal: true}, []client.Match{{Type: "path", Repository: "r", Path: "\x1b\\\a\u009c"}},
			link("/r/-/blob/%1B%5C%07%C2%9C", `r/\x1b\\x07\x9c`) + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := written(t, c.opts, c.matches...); got != c.want {
				t.Errorf(" got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestMatchesAsJSON(t *testing.T) {
	var out bytes.Buffer
	p := print.NewMatches(&out, print.Options{Form: print.JSON, Color: true, Terminal: true})
	raw := `{"type":"path","path":"a\u003cb","unknown":1}`
	if err := p.Write([]client.Match{{Raw: json.RawMessage(raw)}, {Raw: json.RawMessage(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), raw+"\n{}\n"; got != want {
		t.Errorf("got %q, want %q: the objects as they came", got, want)
	}
	if p.Count() != 2 {
		t.Errorf("Count: got %d, want 2", p.Count())
	}
}

// JSON lets characters that control a terminal stand in its texts.
func TestJSONForATerminal(t *testing.T) {
	raw := "{\r\"path\":\"a\u009bb\u202ec\u007f½\\n\"}"
	got := written(t, print.Options{Form: print.JSON, Terminal: true}, client.Match{Raw: json.RawMessage(raw)})
	if want := `{ "path":"a\u009bb\u202ec\u007f½\n"}` + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var before, after any
	if json.Unmarshal([]byte(raw), &before) != nil || json.Unmarshal([]byte(got), &after) != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%q and %q are not the same value", raw, got)
	}
}

// A search whose output is not read must end.
func TestMatchesTellsOfAFailedWrite(t *testing.T) {
	broken := errors.New("broken pipe")
	err := print.NewMatches(failing{broken}, print.Options{}).Write([]client.Match{{Repository: "r"}})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestNotes(t *testing.T) {
	limit := client.Skipped{Title: "result limit hit", Message: "A limit was reached. Raise it with `count:11000`.",
		Suggested: &client.Suggested{QueryExpression: "count:11000"}}
	forks := client.Skipped{Title: "2 forked", Message: "Left out.\nmore", Suggested: &client.Suggested{QueryExpression: "fork:yes"}}
	for _, c := range []struct {
		name    string
		alert   *client.Alert
		skipped []client.Skipped
		found   int
		want    string
	}{
		{"nothing to say", nil, nil, 0, ""},
		{"a limit", nil, []client.Skipped{limit}, 3, "trawl: result limit hit: A limit was reached. Raise it with count:11000.\n"},
		{"nothing found, but", nil, []client.Skipped{forks}, 0,
			"trawl: nothing was found in what was searched, but not everything was:\ntrawl: 2 forked: Left out. [add fork:yes]\n"},
		{"an alert", &client.Alert{Title: "Timed out", Description: "Nothing\nin 1s", ProposedQueries: []client.ProposedQuery{
			{Query: "timeout:2s x", Description: "longer"}, {Query: "y"}}}, nil, 0,
			"trawl: Timed out: Nothing in 1s\ntrawl: try: timeout:2s x  (longer)\ntrawl: try: y\n"},
		{"a server that plays tricks", &client.Alert{Title: "\x1b[2J"}, nil, 0, "trawl: \\x1b[2J\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			print.Notes(&out, c.alert, client.Progress{Skipped: c.skipped}, c.found)
			if got := out.String(); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

func TestIndentedJSON(t *testing.T) {
	for _, c := range []struct {
		name, raw       string
		color, terminal bool
		want            string // "" for an error
	}{
		{"plain", `{"a":[1,"b\"c"],"d":{}}`, false, false, "{\n  \"a\": [\n    1,\n    \"b\\\"c\"\n  ],\n  \"d\": {}\n}\n"},
		{"in colour", `{"a":["b\"c","\\"],"d":null}`, true, false,
			"{\n  <p:\"a\">: [\n    <n:\"b\\\"c\">,\n    <n:\"\\\\\">\n  ],\n  <p:\"d\">: null\n}\n"},
		{"for a terminal", "\"\u009b2J\"", true, true, "<n:\"\\u009b2J\">\n"},
		{"not JSON", "<html>", false, false, ""},
	} {
		got, err := print.IndentedJSON([]byte(c.raw), c.color, c.terminal)
		if text := colored.Replace(string(got)); text != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, text, err, c.want)
		}
	}
}
