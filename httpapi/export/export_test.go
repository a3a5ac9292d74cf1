package export_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/httpapi/export"
	"github.com/trawlsearch/trawl/query"
)

var kiln = &query.Repository{ID: 1, Name: "lab/kiln", Description: "Fires, \"hot\""}

func at(line, column uint32) query.Location { return query.Location{Line: line, Column: column} }

func span(fromLine, fromColumn, toLine, toColumn uint32) query.Range {
	return query.Range{Start: at(fromLine, fromColumn), End: at(toLine, toColumn)}
}

func content(text string, line uint32, ranges ...query.Range) *query.FileMatch {
	return &query.FileMatch{Repo: kiln, Path: "a.go", Commit: "c0ffee", Chunks: []query.Chunk{{Content: []byte(text), Start: at(line, 0), Ranges: ranges}}}
}

// write returns the lines below the header.
func write(t *testing.T, clean func(string) string, matches ...query.Match) string {
	t.Helper()
	var out strings.Builder
	table := export.NewTable(&out, clean)
	for _, m := range matches {
		if err := table.WriteMatch(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	rows, ok := strings.CutPrefix(out.String(), "type,repository,revision,commit,path,line,column,end_line,end_column,author,date,text\n")
	if !ok {
		t.Fatalf("no header: %q", out.String())
	}
	return rows
}

func TestRows(t *testing.T) {
	const head = "content,lab/kiln,,c0ffee,a.go,"
	long := strings.Repeat("é", 5000)
	for _, c := range []struct {
		name  string
		match query.Match
		want  string
	}{
		// places in text: one row each
		{"one", content("\tglaze here\n", 4, span(4, 1, 4, 6)), head + "5,2,5,7,,,\"\tglaze here\"\n"},
		{"two in a line", content("½ glaze glaze", 0, span(0, 2, 0, 7), span(0, 8, 0, 13)), head + "1,3,1,8,,,½ glaze glaze\n" + head + "1,9,1,14,,,½ glaze glaze\n"},
		{"lines around", content("x\na\r\ny\n", 7, span(8, 0, 8, 1)), head + "9,1,9,2,,,a\n"},
		{"over two lines", content("a\nb\nc\n", 0, span(0, 0, 1, 1)), head + "1,1,2,2,,,\"a\nb\"\n"},
		{"a newline", content("a\nb\n", 0, span(0, 1, 1, 0)), head + "1,2,2,1,,,a\n"},
		{"an empty line", content("\n", 0, span(0, 0, 0, 0)), head + "1,1,1,1,,,\n"},
		{"out of order", content("a\nb\n", 0, span(1, 0, 1, 1), span(0, 0, 0, 1)), head + "2,1,2,2,,,b\n" + head + "1,1,1,2,,,a\n"},
		{"behind the text", content("a\n", 0, span(9, 9, 9, 10)), head + "10,10,10,11,,,\n"},
		{"bytes that are no text", content("a\xff\xfeb\n", 0, span(0, 3, 0, 4)), head + "1,4,1,5,,,a\ufffd\ufffdb\n"},

		// long lines
		{"at the start", content(long, 0, span(0, 0, 0, 1)), head + "1,1,1,2,,," + long[:2000] + "…\n"},
		{"in the middle", content(long, 0, span(0, 2000, 0, 2001)), head + "1,2001,1,2002,,,…" + long[:2000] + "…\n"},
		{"at the end", content(long, 0, span(0, 4999, 0, 5000)), head + "1,5000,1,5001,,,…" + long[:202] + "\n"},
		{"many lines", content(strings.Repeat("a\n", 5000), 0, span(0, 0, 4000, 1)), head + "1,1,4001,2,,,\"" + strings.Repeat("a\n", 500) + "…\"\n"},
		{"one that fits", content(long[:2000], 0, span(0, 999, 0, 1000)), head + "1,1000,1,1001,,," + long[:2000] + "\n"},

		// other matches
		{"a path", &query.FileMatch{Repo: kiln, Path: "a b,\"c\".md", Rev: "v2", Commit: "c0ffee"}, "path,lab/kiln,v2,c0ffee,\"a b,\"\"c\"\".md\",,,,,,,\n"},
		{"symbols", &query.FileMatch{Repo: kiln, Path: "a.go", Symbols: []query.Symbol{{Name: "Fire", Line: 3, Column: 5}, {Name: "½", Line: 9}}},
			"symbol,lab/kiln,,,a.go,3,6,3,10,,,Fire\nsymbol,lab/kiln,,,a.go,9,1,9,2,,,½\n"},
		{"a repository", &query.RepoMatch{Repo: kiln, Rev: "dev", HasRev: true}, "repo,lab/kiln,dev,,,,,,,,,\"Fires, \"\"hot\"\"\"\n"},
		{"a commit", &query.CommitMatch{Repo: kiln, OID: "c0ffee", Message: "Stoke it\n\nMore", Author: query.Signature{Name: "Ada, L.", Date: time.Date(2031, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))}},
			"commit,lab/kiln,,c0ffee,,,,,,\"Ada, L.\",2031-02-03T03:05:06Z,Stoke it\n"},
		{"a person", &query.OwnerMatch{Repo: kiln, Handle: "ada"}, "person,,,,,,,,,,,ada\n"},
		{"a team", &query.OwnerMatch{Repo: kiln, Email: "lab@example.org", IsTeam: true}, "team,,,,,,,,,,,lab@example.org\n"},

		// formulas of strangers
		{"a formula", content("=HYPERLINK(\"http://evil.example\")\n", 0, span(0, 0, 0, 1)), head + "1,1,1,2,,,\"'=HYPERLINK(\"\"http://evil.example\"\")\"\n"},
		{"one behind white space", content("\t \u00a0@SUM(1)\n", 0, span(0, 0, 0, 1)), head + "1,1,1,2,,,'\t \u00a0@SUM(1)\n"},
		{"a wide one", content("＝1\n", 0, span(0, 0, 0, 1)), head + "1,1,1,2,,,'＝1\n"},
		{"in a path", &query.FileMatch{Repo: kiln, Path: "-1+cmd|' /C calc'!A0"}, "path,lab/kiln,,,'-1+cmd|' /C calc'!A0,,,,,,,\n"},
		{"in the name of an author", &query.CommitMatch{Repo: kiln, Author: query.Signature{Name: "+1"}}, "commit,lab/kiln,,,,,,,,'+1,,\n"},
		{"no formula", content("a = b\n", 0, span(0, 0, 0, 1)), head + "1,1,1,2,,,a = b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := write(t, nil, c.match); got != c.want {
				t.Errorf("match %+v\n got %q\nwant %q", c.match, got, c.want)
			}
		})
	}
}

func TestTableIsNeverWithoutHeader(t *testing.T) {
	if got := write(t, nil); got != "" {
		t.Errorf("got %q below the header of an empty table", got)
	}
}

func TestTableCleansEveryText(t *testing.T) {
	evil := &query.Repository{Name: "\x1b[2J", Description: "\x1b[2J"}
	clean := func(s string) string { return strings.ReplaceAll(s, "\x1b", `\x1b`) }
	got := write(t, clean,
		&query.FileMatch{Repo: evil, Path: "\x1b", Rev: "\x1b", Commit: "\x1b", Chunks: []query.Chunk{{Content: []byte("\x1b\n"), Ranges: []query.Range{span(0, 0, 0, 1)}}}},
		&query.RepoMatch{Repo: evil}, &query.CommitMatch{Repo: evil, Message: "\x1b", Author: query.Signature{Name: "\x1b"}}, &query.OwnerMatch{Handle: "\x1b"})
	if strings.Contains(got, "\x1b") {
		t.Errorf("got %q with an escape character", got)
	}
	if rows, err := csv.NewReader(strings.NewReader(got)).ReadAll(); err != nil || len(rows) != 4 {
		t.Errorf("read back: %d rows, %v", len(rows), err)
	}
}

// What a server should never send is no reason to fall over.
func TestFromClientOfAnyServer(t *testing.T) {
	for _, m := range []client.Match{
		{}, {Type: "new"}, {Type: "symbol", Symbols: []client.Symbol{{Line: -1, URL: "?L1:0-"}, {URL: "L"}}},
		{Type: "content", ChunkMatches: []client.ChunkMatch{{Content: "a", ContentStart: client.Location{Line: -9},
			Ranges: []client.Range{{Start: client.Location{Line: -1, Column: -1}, End: client.Location{Line: 1 << 40}}}}}},
	} {
		write(t, nil, export.FromClient(m))
	}
}

func BenchmarkLongLine(b *testing.B) {
	m := content(strings.Repeat("glaze ", 200_000), 0)
	for i := range uint32(10_000) {
		m.Chunks[0].Ranges = append(m.Chunks[0].Ranges, span(0, 6*i, 0, 6*i+5))
	}
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		table := export.NewTable(&out, nil)
		if err := table.WriteMatch(m); err != nil {
			b.Fatal(err)
		}
	}
}
