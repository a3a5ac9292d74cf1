package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
	"github.com/trawlsearch/trawl/query"
)

const kilnCommit = searchtest.KilnCommit

var kiln, at, span, glazeContent, hits = searchtest.Kiln, searchtest.At, searchtest.Span, searchtest.Content, searchtest.Hits

func TestMatchJSON(t *testing.T) {
	kilnTag := "kiln"
	glazeDB := &query.Repository{
		ID: 15, Name: "git.example.org/lab/glaze-db", LastFetched: time.Date(2031, 2, 3, 4, 0, 0, 0, time.FixedZone("", 3600)),
		Description: "Recipes & tests", Private: true, Topics: []string{"ceramics"},
		Metadata: map[string]*string{"team": &kilnTag, "legacy": nil},
	}
	full := *glazeDB
	full.Stars, full.Fork, full.Archived = 3, true, true
	const (
		contentHead = `{"type":"content","path":"cmd/glaze/main.go","pathMatches":[{"start":{"offset":4,"line":0,"column":4},"end":{"offset":9,"line":0,"column":9}}],` +
			`"repositoryID":12,"repository":"git.example.org/lab/kiln","repoStars":41,"repoLastFetched":"2031-02-03T04:05:06.789012Z",` +
			`"branches":["v2"],"commit":"5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60","hunks":null,`
		glazeRanges = `"ranges":[{"start":{"offset":27,"line":2,"column":12},"end":{"offset":32,"line":2,"column":17}},` +
			`{"start":{"offset":39,"line":2,"column":24},"end":{"offset":44,"line":2,"column":29}},` +
			`{"start":{"offset":71,"line":3,"column":19},"end":{"offset":76,"line":3,"column":24}}]`
		contentTail = `,"language":"Go"}`
	)
	tests := []struct {
		name    string
		encoder Encoder
		match   query.Match
		want    string
	}{
		// content in both forms
		{"chunks", Encoder{Chunks: true}, glazeContent(), contentHead +
			`"chunkMatches":[{"content":"\n// ½ cup of glaze, see \u003cglaze\u003e below\nfunc main() { mix(\"glaze\") }\n\n",` +
			`"contentStart":{"offset":13,"line":1,"column":0},` + glazeRanges + `}]` + contentTail},
		{"lines", Encoder{}, glazeContent(), contentHead +
			`"lineMatches":[{"line":"// ½ cup of glaze, see \u003cglaze\u003e below","lineNumber":2,"offsetAndLengths":[[12,5],[24,5]]},` +
			`{"line":"func main() { mix(\"glaze\") }","lineNumber":3,"offsetAndLengths":[[19,5]]}]` + contentTail},

		// max-line-len cuts chunks only
		{"cut chunks", Encoder{Chunks: true, MaxLineBytes: 20}, glazeContent(), contentHead +
			`"chunkMatches":[{"content":"\n// ½ cu...truncated\nfunc mai...truncated\n\n",` +
			`"contentStart":{"offset":13,"line":1,"column":0},` + glazeRanges + `,"contentTruncated":true}]` + contentTail},
		{"lines stay whole", Encoder{MaxLineBytes: 20}, glazeContent(), contentHead +
			`"lineMatches":[{"line":"// ½ cup of glaze, see \u003cglaze\u003e below","lineNumber":2,"offsetAndLengths":[[12,5],[24,5]]},` +
			`{"line":"func main() { mix(\"glaze\") }","lineNumber":3,"offsetAndLengths":[[19,5]]}]` + contentTail},

		// paths, with all and with the least that is known
		{"path", Encoder{}, &query.FileMatch{
			Repo: kiln, Path: "docs/glaze.md", Commit: kilnCommit, Rev: "v2", Language: "Markdown", Debug: "score 1",
			PathRanges: []query.Range{span(at(5, 0, 5), at(10, 0, 10))},
		}, `{"type":"path","path":"docs/glaze.md","pathMatches":[{"start":{"offset":5,"line":0,"column":5},"end":{"offset":10,"line":0,"column":10}}],` +
			`"repositoryID":12,"repository":"git.example.org/lab/kiln","repoStars":41,"repoLastFetched":"2031-02-03T04:05:06.789012Z",` +
			`"branches":["v2"],"commit":"5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60","language":"Markdown","debug":"score 1"}`},
		{"bare path", Encoder{}, &query.FileMatch{Repo: &query.Repository{ID: 1, Name: "r"}, Path: "p"},
			`{"type":"path","path":"p","repositoryID":1,"repository":"r","branches":[""]}`},

		// symbols, whatever else matched
		{"symbols", Encoder{Chunks: true}, &query.FileMatch{
			Repo: kiln, Path: "cmd/glaze/main.go", Commit: kilnCommit, Rev: "v2", Language: "Go", Debug: "score 1", Chunks: glazeContent().Chunks,
			PathRanges: []query.Range{span(at(5, 0, 5), at(10, 0, 10))},
			Symbols:    []query.Symbol{{Name: "main", Container: "main", Kind: "function", Line: 4, Column: 5}},
		}, `{"type":"symbol","path":"cmd/glaze/main.go","repositoryID":12,"repository":"git.example.org/lab/kiln","repoStars":41,` +
			`"repoLastFetched":"2031-02-03T04:05:06.789012Z","branches":["v2"],"commit":"5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60","language":"Go",` +
			`"symbols":[{"url":"/git.example.org/lab/kiln@v2/-/blob/cmd/glaze/main.go?L4:6-4:10","name":"main","containerName":"main","kind":"FUNCTION","line":4}]}`},
		{"bare symbols", Encoder{}, &query.FileMatch{
			Repo: &query.Repository{ID: 1, Name: "r"}, Path: "a b#é?.c",
			Symbols: []query.Symbol{{Name: "é", Line: 1}, {Name: "B", Kind: "enum-member", Line: 2, Column: 1}},
		}, `{"type":"symbol","path":"a b#é?.c","repositoryID":1,"repository":"r","branches":[""],` +
			`"symbols":[{"url":"/r/-/blob/a%20b%23%C3%A9%3F.c?L1:1-1:3","name":"é","containerName":"","kind":"UNKNOWN","line":1},` +
			`{"url":"/r/-/blob/a%20b%23%C3%A9%3F.c?L2:2-2:3","name":"B","containerName":"","kind":"ENUMMEMBER","line":2}]}`},

		// repositories
		{"repo", Encoder{}, &query.RepoMatch{
			Repo: glazeDB, Rev: "v2", HasRev: true, NameRanges: []query.Range{span(at(20, 0, 20), at(25, 0, 25))},
		}, `{"type":"repo","repositoryID":15,"repository":"git.example.org/lab/glaze-db",` +
			`"repositoryMatches":[{"start":{"offset":20,"line":0,"column":20},"end":{"offset":25,"line":0,"column":25}}],` +
			`"branches":["v2"],"repoLastFetched":"2031-02-03T03:00:00Z","description":"Recipes \u0026 tests","private":true,` +
			`"metadata":{"legacy":null,"team":"kiln"},"topics":["ceramics"]}`},
		{"full repo", Encoder{}, &query.RepoMatch{Repo: &full, HasRev: true, DescriptionRanges: []query.Range{span(at(0, 0, 0), at(1, 0, 1))}},
			`{"type":"repo","repositoryID":15,"repository":"git.example.org/lab/glaze-db","branches":[""],"repoStars":3,` +
				`"repoLastFetched":"2031-02-03T03:00:00Z","description":"Recipes \u0026 tests",` +
				`"descriptionMatches":[{"start":{"offset":0,"line":0,"column":0},"end":{"offset":1,"line":0,"column":1}}],` +
				`"fork":true,"archived":true,"private":true,"metadata":{"legacy":null,"team":"kiln"},"topics":["ceramics"]}`},
		{"bare repo", Encoder{}, &query.RepoMatch{Repo: &query.Repository{ID: 1, Name: "r"}},
			`{"type":"repo","repositoryID":1,"repository":"r"}`},

		// owners
		{"person", Encoder{}, &query.OwnerMatch{Repo: kiln, Handle: "ada"}, `{"type":"person","handle":"ada","email":""}`},
		{"address", Encoder{}, &query.OwnerMatch{Repo: kiln, Email: "<ada@example.org>"},
			`{"type":"person","handle":"","email":"\u003cada@example.org\u003e"}`},
		{"team", Encoder{}, &query.OwnerMatch{Repo: kiln, Handle: "lab/kiln", IsTeam: true},
			`{"type":"team","handle":"lab/kiln","email":"","name":"lab/kiln","displayName":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.encoder.Append(nil, tt.match)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMatchJSONForgetsTheLastRepository(t *testing.T) {
	var e Encoder
	for i := range 3 {
		m := &query.FileMatch{Repo: &query.Repository{ID: uint32(i), Name: fmt.Sprint("r", i)}, Path: "p"}
		want := fmt.Sprintf(`"repositoryID":%d,"repository":"r%d"`, i, i)
		for range 2 {
			if got := string(e.Append(nil, m)); !strings.Contains(got, want) {
				t.Errorf("got %s, want %s in it", got, want)
			}
		}
	}
}

// The structs below say by their tags what Encoder writes by hand.
type (
	tagLocation struct {
		Offset uint32 `json:"offset"`
		Line   uint32 `json:"line"`
		Column uint32 `json:"column"`
	}
	tagRange struct {
		Start tagLocation `json:"start"`
		End   tagLocation `json:"end"`
	}
	tagChunk struct {
		Content      string      `json:"content"`
		ContentStart tagLocation `json:"contentStart"`
		Ranges       []tagRange  `json:"ranges"`
	}
	tagContent struct {
		Type            string     `json:"type"`
		Path            string     `json:"path"`
		PathMatches     []tagRange `json:"pathMatches,omitempty"`
		RepositoryID    uint32     `json:"repositoryID"`
		Repository      string     `json:"repository"`
		RepoStars       int        `json:"repoStars,omitempty"`
		RepoLastFetched *time.Time `json:"repoLastFetched,omitempty"`
		Branches        []string   `json:"branches,omitempty"`
		Commit          string     `json:"commit,omitempty"`
		Hunks           *struct{}  `json:"hunks"`
		ChunkMatches    []tagChunk `json:"chunkMatches,omitempty"`
		Language        string     `json:"language,omitempty"`
		Debug           string     `json:"debug,omitempty"`
	}
	tagRepo struct {
		Type               string             `json:"type"`
		RepositoryID       uint32             `json:"repositoryID"`
		Repository         string             `json:"repository"`
		RepositoryMatches  []tagRange         `json:"repositoryMatches,omitempty"`
		Branches           []string           `json:"branches,omitempty"`
		RepoStars          int                `json:"repoStars,omitempty"`
		RepoLastFetched    *time.Time         `json:"repoLastFetched,omitempty"`
		Description        string             `json:"description,omitempty"`
		DescriptionMatches []tagRange         `json:"descriptionMatches,omitempty"`
		Fork               bool               `json:"fork,omitempty"`
		Archived           bool               `json:"archived,omitempty"`
		Private            bool               `json:"private,omitempty"`
		Metadata           map[string]*string `json:"metadata,omitempty"`
		Topics             []string           `json:"topics,omitempty"`
	}
)

func tagRanges(ranges []query.Range) []tagRange {
	var out []tagRange
	for _, r := range ranges {
		out = append(out, tagRange{tagLocation(r.Start), tagLocation(r.End)})
	}
	return out
}

func tagTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func tagged(m query.Match) any {
	r := m.In()
	switch m := m.(type) {
	case *query.FileMatch:
		w := tagContent{
			Type: "content", Path: m.Path, PathMatches: tagRanges(m.PathRanges), RepositoryID: r.ID, Repository: r.Name, RepoStars: r.Stars,
			RepoLastFetched: tagTime(r.LastFetched), Branches: []string{m.Rev}, Commit: m.Commit, Language: m.Language, Debug: m.Debug,
		}
		for _, c := range m.Chunks {
			w.ChunkMatches = append(w.ChunkMatches, tagChunk{string(c.Content), tagLocation(c.Start), tagRanges(c.Ranges)})
		}
		return w
	case *query.RepoMatch:
		w := tagRepo{
			Type: "repo", RepositoryID: r.ID, Repository: r.Name, RepositoryMatches: tagRanges(m.NameRanges), RepoStars: r.Stars,
			RepoLastFetched: tagTime(r.LastFetched), Description: r.Description, DescriptionMatches: tagRanges(m.DescriptionRanges),
			Fork: r.Fork, Archived: r.Archived, Private: r.Private, Metadata: r.Metadata, Topics: r.Topics,
		}
		if m.HasRev {
			w.Branches = []string{m.Rev}
		}
		return w
	}
	return nil
}

var (
	drawText     = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a<b>&c", "\xff\xc3", "\u2028", "x/y.go"}))
	drawLocation = rapid.Custom(func(t *rapid.T) query.Location {
		n := rapid.Uint32()
		return at(n.Draw(t, "offset"), n.Draw(t, "line"), n.Draw(t, "column"))
	})
	drawRanges = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) query.Range {
		return span(drawLocation.Draw(t, "start"), drawLocation.Draw(t, "end"))
	}), 1, 3)
	drawMaybeRanges = rapid.OneOf(drawRanges, rapid.Just[[]query.Range](nil))
	drawRepo        = rapid.Custom(func(t *rapid.T) *query.Repository {
		text, flag := drawText, rapid.Bool()
		r := &query.Repository{
			ID: rapid.Uint32().Draw(t, "id"), Name: text.Draw(t, "name"), Stars: rapid.IntRange(0, 9).Draw(t, "stars"),
			Description: text.Draw(t, "description"), Fork: flag.Draw(t, "fork"), Archived: flag.Draw(t, "archived"), Private: flag.Draw(t, "private"),
			Topics: rapid.SliceOfN(text, 0, 3).Draw(t, "topics"), Metadata: map[string]*string{},
		}
		if flag.Draw(t, "fetched") {
			r.LastFetched = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "sec"), rapid.Int64Range(0, 1e9-1).Draw(t, "nsec"))
		}
		for _, k := range rapid.SliceOfN(text, 0, 3).Draw(t, "keys") {
			if r.Metadata[strings.ToValidUTF8(k, "?")] = nil; flag.Draw(t, "valued") {
				v := text.Draw(t, "value")
				r.Metadata[strings.ToValidUTF8(k, "?")] = &v
			}
		}
		return r
	})
)

func drawMatch(t *rapid.T) query.Match {
	text := drawText
	if rapid.Bool().Draw(t, "isRepo") {
		return &query.RepoMatch{
			Repo: drawRepo.Draw(t, "repo"), Rev: text.Draw(t, "rev"), HasRev: rapid.Bool().Draw(t, "hasRev"),
			NameRanges: drawMaybeRanges.Draw(t, "name"), DescriptionRanges: drawMaybeRanges.Draw(t, "description"),
		}
	}
	m := &query.FileMatch{
		Repo: drawRepo.Draw(t, "repo"), Path: text.Draw(t, "path"), Commit: text.Draw(t, "commit"), Rev: text.Draw(t, "rev"),
		Language: text.Draw(t, "language"), Debug: text.Draw(t, "debug"), PathRanges: drawMaybeRanges.Draw(t, "path ranges"),
	}
	for range rapid.IntRange(1, 3).Draw(t, "chunks") {
		m.Chunks = append(m.Chunks, query.Chunk{
			Content: []byte(text.Draw(t, "content")), Start: drawLocation.Draw(t, "start"), Ranges: drawRanges.Draw(t, "ranges"),
		})
	}
	return m
}

func TestMatchJSONAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		want, err := json.Marshal(tagged(m))
		if err != nil {
			t.Fatal(err)
		}
		e := Encoder{Chunks: true}
		if got := e.Append(nil, m); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func BenchmarkMatchJSON(b *testing.B) {
	for _, chunks := range []bool{false, true} {
		b.Run(fmt.Sprintf("chunks=%v", chunks), func(b *testing.B) {
			e, m := Encoder{Chunks: chunks}, glazeContent()
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = e.Append(dst[:0], m)
			}
			b.ReportMetric(float64(len(dst)), "bytes/match")
		})
	}
}
