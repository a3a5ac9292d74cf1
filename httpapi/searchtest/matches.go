package searchtest

import (
	"time"

	"github.com/trawlsearch/trawl/query"
)

// Kiln is the repository of all matches but Repo.
var Kiln = &query.Repository{ID: 12, Name: "git.example.org/lab/kiln", Stars: 41, LastFetched: time.Date(2031, 2, 3, 4, 5, 6, 789012000, time.UTC)}

// KilnCommit is what is indexed of Kiln.
const KilnCommit = "5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60"

// At returns a location.
func At(offset, line, column uint32) query.Location {
	return query.Location{Offset: offset, Line: line, Column: column}
}

// Span returns a range.
func Span(start, end query.Location) query.Range { return query.Range{Start: start, End: end} }

// Content is a file with three hits in five lines of its text and one in its path.
func Content() *query.FileMatch {
	return &query.FileMatch{
		Repo: Kiln, Path: "cmd/glaze/main.go", Commit: KilnCommit, Rev: "v2", Language: "Go",
		PathRanges: []query.Range{Span(At(4, 0, 4), At(9, 0, 9))}, InText: 3, InPath: true,
		Chunks: []query.Chunk{{
			Content: []byte("\n// ½ cup of glaze, see <glaze> below\nfunc main() { mix(\"glaze\") }\n\n"),
			Start:   At(13, 1, 0),
			Ranges: []query.Range{
				Span(At(27, 2, 12), At(32, 2, 17)), Span(At(39, 2, 24), At(44, 2, 29)), Span(At(71, 3, 19), At(76, 3, 24)),
			},
		}},
	}
}

// Path is a file that was found by its path.
func Path() *query.FileMatch {
	return &query.FileMatch{
		Repo: Kiln, Path: "docs/glaze.md", Commit: KilnCommit, Rev: "v2", Language: "Markdown",
		PathRanges: []query.Range{Span(At(5, 0, 5), At(10, 0, 10))}, InPath: true,
	}
}

// Repo is a repository with topics and metadata.
func Repo() *query.RepoMatch {
	r := &query.Repository{
		ID: 15, Name: "git.example.org/lab/glaze-db", LastFetched: time.Date(2031, 2, 3, 3, 0, 0, 0, time.UTC), Description: "Recipes & tests",
		Private: true, Topics: []string{"ceramics"}, Metadata: map[string]*string{"team": new("kiln"), "legacy": nil},
	}
	return &query.RepoMatch{Repo: r, Rev: "v2", HasRev: true, NameRanges: []query.Range{Span(At(20, 0, 20), At(25, 0, 25))}}
}

// Commits are a commit found by its message and one by its diff, from the last days
// before the year 2000.
func Commits() []query.Match {
	m := query.CommitMatch{
		Repo: Kiln, OID: KilnCommit, Message: "Stoke the kiln\n\nIt was too cold for glaze.",
		Author:    query.Signature{Name: "Ada Muster", Email: "ada@example.org", Date: time.Date(1999, 12, 29, 10, 30, 0, 0, time.FixedZone("", 3600))},
		Committer: query.Signature{Name: "Bo", Email: "bo@example.org", Date: time.Date(1999, 12, 29, 10, 31, 12, 0, time.FixedZone("", 3600))},
	}
	m.Body, m.Ranges = m.Message, []query.Range{Span(At(36, 2, 20), At(41, 2, 25))}
	d := m
	d.IsDiff = true
	d.Body = "a.go a.go\n@@ -7,1 +7,2 @@ func stoke()\n-\tadd(\"peat\")\n+\tadd(\"glaze\")\n+\tblow()\n"
	d.Ranges = []query.Range{Span(At(60, 3, 7), At(65, 3, 12))}
	return []query.Match{&m, &d}
}

// Hits returns a chunk with ranges of one byte, every step bytes of content.
func Hits(content string, step int) query.Chunk {
	c := query.Chunk{Content: []byte(content), Start: At(1000, 10, 0)}
	line, lineStart := uint32(10), 0
	for i := range len(content) {
		if i%step == 0 && content[i] != '\n' {
			l := At(uint32(1000+i), line, uint32(i-lineStart))
			c.Ranges = append(c.Ranges, Span(l, At(l.Offset+1, l.Line, l.Column+1)))
		}
		if content[i] == '\n' {
			line, lineStart = line+1, i+1
		}
	}
	return c
}
