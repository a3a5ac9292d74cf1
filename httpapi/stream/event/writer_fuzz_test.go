package event

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// FuzzEvents: whatever is in a match, a stream of it is events of two lines and
// an empty one, each with JSON that encoding/json reads.
func FuzzEvents(f *testing.F) {
	f.Add("a.go", "kiln", "func f() {\n", "message\n\nevent: done\ndata: {}\n\n", uint32(1), uint32(5), true)
	f.Add("\xff\x00\u2028", "\r\n", "\r\n\x7f\u0085\xed\xa0\x80", "</script>\n", uint32(0), uint32(0), false)
	f.Fuzz(func(t *testing.T, path, repo, text, message string, start, end uint32, chunks bool) {
		start = min(start, uint32(len(text)))
		end = min(max(start, end), uint32(len(text)))
		at := func(n uint32) query.Location {
			before := text[:n]
			line := strings.Count(before, "\n")
			return query.Location{Offset: n, Line: uint32(line), Column: uint32(len([]rune(before[strings.LastIndexByte(before, '\n')+1:])))}
		}
		r := &query.Repository{Name: repo}
		matches := []query.Match{
			&query.FileMatch{Repo: r, Path: path, Commit: message, Chunks: []query.Chunk{{Content: []byte(text), Ranges: []query.Range{{Start: at(start), End: at(end)}}}}},
			&query.FileMatch{Repo: r, Path: path, Language: text},
			&query.RepoMatch{Repo: r},
		}
		var out bytes.Buffer
		events := NewWriter(output{send: func(p []byte) error { out.Write(p); return nil }}, repo)
		e := Encoder{Chunks: chunks, Now: time.Now}
		open := BeginMatches(nil)
		for i, m := range matches {
			if i > 0 {
				open = append(open, ',')
			}
			open = e.Append(open, m)
		}
		for _, err := range []error{
			events.Matches(EndMatches(open)),
			events.Alert(&query.Alert{Title: text, Description: message}),
			events.Error(message),
			events.Done(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var names []string
		for _, event := range strings.SplitAfter(out.String(), "\n\n") {
			if event == "" {
				continue
			}
			lines := strings.Split(strings.TrimSuffix(event, "\n\n"), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "event: ") || !strings.HasPrefix(lines[1], "data: ") {
				t.Fatalf("an event of lines %q", lines)
			}
			data := strings.TrimPrefix(lines[1], "data: ")
			if !json.Valid([]byte(data)) || strings.ContainsAny(data, "\r\n") {
				t.Fatalf("data %q is no JSON of one line", data)
			}
			names = append(names, strings.TrimPrefix(lines[0], "event: "))
			if names[len(names)-1] == "matches" {
				var got []struct {
					Path string `json:"path"`
				}
				if err := json.Unmarshal([]byte(data), &got); err != nil || len(got) != 3 || got[0].Path != strings.ToValidUTF8(path, "\ufffd") && got[0].Path != validPath(path) {
					t.Fatalf("path %q comes back as %+v, %v", path, got, err)
				}
			}
		}
		if strings.Join(names, " ") != "matches alert error done" {
			t.Fatalf("events %v", names)
		}
	})
}

// validPath replaces each byte that is not UTF-8 as encoding/json does.
func validPath(path string) string {
	b, _ := json.Marshal(path)
	var out string
	_ = json.Unmarshal(b, &out)
	return out
}
