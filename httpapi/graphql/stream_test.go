package graphql_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// words are what random queries are made of.
var words = []string{
	"glaze", "fire", "heat", "main", "e", "fmt.", "/gl.ze/", "\"glaze\"", "café", "kiln", "lab", "notes", "nothing-of-that",
	"repo:kiln", "-repo:kiln", "repo:^lab/kiln$@main", "repo:lab@none", "file:go", "-file:txt", "lang:go", "fork:yes", "archived:yes", "type:path",
	"type:repo", "type:file", "type:commit", "type:diff", "type:symbol", "case:yes", "count:1", "count:3", "count:all", "select:repo", "select:file",
	"select:file.directory", "or", "and", "not", "(", ")", "repo:(", "patterntype:regexp", "context:global", "visibility:private", "repo:has.path(go)",
}

// found is what both ways of searching tell of a search, result by result.
type found struct {
	results    []string
	matchCount int
	alert      string
	filters    []string
}

func (f found) String() string {
	return fmt.Sprintf("%d matches, alert %q\n%s\n%s", f.matchCount, f.alert, strings.Join(f.results, "\n"), strings.Join(f.filters, "\n"))
}

// TestSearchEqualsStream: whatever is searched, the answer has what the stream
// sends, in the same order and with the same counts.
func TestSearchEqualsStream(t *testing.T) {
	w := newWorld(t)
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	types := []string{"standard", "keyword", "literal", "regexp"}
	empty := 0
	for range 400 {
		var parts []string
		for range 1 + random.IntN(4) {
			parts = append(parts, words[random.IntN(len(words))])
		}
		query, pt := strings.Join(parts, " "), types[random.IntN(len(types))]
		stream, answer := w.stream(query, pt), w.search(query, pt)
		if stream.String() != answer.String() {
			t.Fatalf("%s %q (seed %d)\nstream %s\nanswer %s", pt, query, seed, stream, answer)
		}
		if len(answer.results) == 0 {
			empty++
		}
	}
	if empty > 300 {
		t.Errorf("%d of 400 queries found nothing: the test tells little", empty)
	}
}

func (w *world) search(query, patternType string) found {
	w.t.Helper()
	var data struct {
		Search struct {
			Results struct {
				MatchCount int
				Alert      *struct{ Title string }
				Results    []struct {
					Typename   string `json:"__typename"`
					Name       string
					Repository struct{ Name string }
					File       struct {
						Path   string
						Commit struct{ OID string }
					}
					ChunkMatches []struct {
						Content string
						Ranges  []struct{ Start, End struct{ Line, Character int } }
					}
					Symbols []struct{ Name string }
					URL     string
					Matches []struct{ Body struct{ Text string } }
				}
				DynamicFilters []struct {
					Value string
					Count int
				}
			}
		}
	}
	w.data(&data, `query($query: String!, $type: SearchPatternType) { search(query: $query, patternType: $type, version: V3) { results {
		matchCount alert { title } dynamicFilters { value count }
		results { __typename
			... on FileMatch { repository { name } file { path commit { oid } } symbols { name } chunkMatches { content ranges { start { line character } end { line character } } } }
			... on CommitSearchResult { url matches { body { text } } }
			... on Repository { name }
		}
	} } }`, map[string]any{"query": query, "type": patternType})
	r := data.Search.Results
	out := found{matchCount: r.MatchCount}
	if r.Alert != nil {
		out.alert = r.Alert.Title
	}
	for _, m := range r.Results {
		switch m.Typename {
		case "Repository":
			out.results = append(out.results, "repository "+m.Name)
		case "CommitSearchResult":
			out.results = append(out.results, "commit "+m.URL+" "+m.Matches[0].Body.Text)
		default:
			var places []string
			for _, c := range m.ChunkMatches {
				for _, p := range c.Ranges {
					places = append(places, fmt.Sprint(p.Start.Line, p.Start.Character, p.End.Line, p.End.Character))
				}
			}
			for _, s := range m.Symbols {
				places = append(places, s.Name)
			}
			out.results = append(out.results, fmt.Sprint("file ", m.Repository.Name, " ", m.File.Path, " ", m.File.Commit.OID, " ", places))
		}
	}
	for _, f := range r.DynamicFilters {
		out.filters = append(out.filters, fmt.Sprint(f.Value, " ", f.Count))
	}
	slices.Sort(out.filters)
	return out
}

// stream reads the events of the stream.
func (w *world) stream(query, patternType string) found {
	w.t.Helper()
	values := url.Values{"q": {query}, "t": {patternType}, "v": {"V3"}, "cm": {"t"}, "cl": {"0"}}
	resp, err := w.client.Get(w.url + "/.api/search/stream?" + values.Encode())
	if err != nil {
		w.t.Fatal(err)
	}
	var out found
	name := ""
	for line := range strings.Lines(bodyOf(w.t, resp)) {
		line = strings.TrimSpace(line)
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			name = event
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out.event(w.t, name, data)
		}
	}
	slices.Sort(out.filters)
	return out
}

func (f *found) event(t testing.TB, name, data string) {
	t.Helper()
	read := func(v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(data), v); err != nil {
			t.Fatalf("event %s: %v", name, err)
		}
	}
	switch name {
	case "alert":
		var alert struct{ Title string }
		read(&alert)
		f.alert = alert.Title
	case "error":
		t.Fatalf("stream: %s", data)
	case "progress":
		var p struct{ MatchCount int }
		read(&p)
		f.matchCount = p.MatchCount
	case "filters":
		var filters []struct {
			Value string
			Count int
		}
		read(&filters)
		f.filters = nil
		for _, s := range filters {
			f.filters = append(f.filters, fmt.Sprint(s.Value, " ", s.Count))
		}
	case "matches":
		var matches []struct {
			Type, Repository, Path, Commit, URL, Content string
			ChunkMatches                                 []struct {
				Ranges []struct{ Start, End struct{ Line, Column int } }
			}
			Symbols []struct{ Name string }
		}
		read(&matches)
		for _, m := range matches {
			switch m.Type {
			case "repo":
				f.results = append(f.results, "repository "+m.Repository)
			case "commit":
				f.results = append(f.results, "commit "+m.URL+" "+m.Content)
			case "person", "team", "owner":
				// not part of this API's schema
			default:
				var places []string
				for _, c := range m.ChunkMatches {
					for _, p := range c.Ranges {
						places = append(places, fmt.Sprint(p.Start.Line, p.Start.Column, p.End.Line, p.End.Column))
					}
				}
				for _, s := range m.Symbols {
					places = append(places, s.Name)
				}
				f.results = append(f.results, fmt.Sprint("file ", m.Repository, " ", m.Path, " ", m.Commit, " ", places))
			}
		}
	}
}
