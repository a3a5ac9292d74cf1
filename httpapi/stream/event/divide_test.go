package event

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

func TestDivide(t *testing.T) {
	long := strings.Repeat("<&>\xff", 600_000) // four bytes that become 24
	tests := []struct {
		name   string
		chunks []query.Chunk
	}{
		{"many lines", []query.Chunk{hits(strings.Repeat(strings.Repeat("x", 99)+"\n", 40_000), 100)}},
		{"short lines", []query.Chunk{hits(strings.Repeat("a\n", 200_000), 2)}},
		{"many hits on one line", []query.Chunk{hits(strings.Repeat("e", 300_000), 1)}},
		{"many hits on the middle line", []query.Chunk{hits("ab\n"+strings.Repeat("e", 100_000)+"\ncd\n", 1)}},
		{"a long line", []query.Chunk{hits(long, 1<<20)}},
		{"long lines", []query.Chunk{hits(long+"\n"+long+"\n", 1<<20)}},
		{"many chunks", bytesChunks(800)},
	}
	for _, tt := range tests {
		for _, chunks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/chunks=%v", tt.name, chunks), func(t *testing.T) {
				m := &query.FileMatch{Repo: kiln, Path: "p", Chunks: tt.chunks, PathRanges: make([]query.Range, 2)}
				parts := Divide(m)
				var ranges []query.Range
				for i, part := range parts {
					e := Encoder{Chunks: chunks}
					if n := len(e.AppendPart(nil, part)); n > maxPartBytes+1<<20 {
						t.Errorf("part %d of %d takes %d bytes, want at most %d and a little", i, len(parts), n, maxPartBytes)
					}
					for _, c := range part.(*query.FileMatch).Chunks {
						checkWindow(t, m, c)
						ranges = append(ranges, c.Ranges...)
					}
					if got := len(part.(*query.FileMatch).PathRanges); (got > 0) != (i == 0) {
						t.Errorf("part %d has %d path ranges, want them in the first part only", i, got)
					}
				}
				checkSameRanges(t, ranges, m)
			})
		}
	}
}

func bytesChunks(n int) []query.Chunk {
	var out []query.Chunk
	for i := range n {
		c := chunkAt(uint32(10*i), strings.Repeat("\x01", 2000)+"\n", [2]int{5, 9})
		out = append(out, c)
	}
	return out
}

// checkWindow demands that c is a run of whole lines of a chunk of m, at the
// place that it says.
func checkWindow(t *testing.T, m *query.FileMatch, c query.Chunk) {
	t.Helper()
	for _, whole := range m.Chunks {
		if c.Start.Line < whole.Start.Line || c.Start.Offset < whole.Start.Offset {
			continue
		}
		from := int(c.Start.Offset - whole.Start.Offset)
		if from > len(whole.Content) || !bytes.HasPrefix(whole.Content[from:], c.Content) {
			continue
		}
		if n := bytes.Count(whole.Content[:from], []byte{'\n'}); uint32(n) == c.Start.Line-whole.Start.Line {
			return
		}
	}
	t.Errorf("chunk at %+v with %d bytes is no part of the match", c.Start, len(c.Content))
}

func checkSameRanges(t *testing.T, got []query.Range, m *query.FileMatch) {
	t.Helper()
	var want []query.Range
	for _, c := range m.Chunks {
		want = append(want, c.Ranges...)
	}
	if len(got) != len(want) {
		t.Fatalf("parts hold %d ranges, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("range %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestDivideClipsARangeOverTheCut(t *testing.T) {
	line := strings.Repeat("\x01", 60_000) + "\n"
	c := chunkAt(0, strings.Repeat(line, 20), [2]int{10, 19 * 60_001})
	parts := Divide(&query.FileMatch{Repo: kiln, Chunks: []query.Chunk{c}})
	if len(parts) != 1 {
		t.Fatalf("got %d parts, want one: no range starts in the others", len(parts))
	}
	part := parts[0].(*query.FileMatch).Chunks[0]
	end := part.Ranges[0].End
	lines := uint32(bytes.Count(part.Content, []byte{'\n'}))
	if want := at(100+lines*60_001, lines-1, 60_001); end != want || lines == 0 || lines == 20 {
		t.Errorf("a range over %d lines kept of 20 ends at %+v, want %+v", lines, end, want)
	}
}

func TestDivideWithoutContent(t *testing.T) {
	huge := strings.Repeat("x", 11<<20)
	tests := []struct {
		name  string
		match query.Match
	}{
		{"description", &query.RepoMatch{Repo: &query.Repository{ID: 1, Name: "r", Description: huge}}},
		{"topics", &query.RepoMatch{Repo: &query.Repository{ID: 1, Name: "r", Topics: []string{huge}}}},
		{"metadata", &query.RepoMatch{Repo: &query.Repository{ID: 1, Name: "r", Metadata: map[string]*string{"k": &huge}}}},
		{"path ranges", &query.FileMatch{Repo: kiln, Path: "p", PathRanges: make([]query.Range, 200_000)}},
		{"owner", &query.OwnerMatch{Repo: kiln, Handle: huge, IsTeam: true}},
		{"debug", &query.FileMatch{Repo: kiln, Path: "p", Debug: huge}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := Divide(tt.match)
			if len(parts) != 1 {
				t.Fatalf("got %d parts, want 1", len(parts))
			}
			var e Encoder
			if n := len(e.AppendPart(nil, parts[0])); !FitsMatch(n) || n < 30 {
				t.Errorf("the part takes %d bytes, want it to fit an event", n)
			}
		})
	}
}

func TestDivideSymbols(t *testing.T) {
	m := &query.FileMatch{Repo: kiln, Path: strings.Repeat("<", 3000)}
	for i := range 3000 {
		m.Symbols = append(m.Symbols, query.Symbol{Name: fmt.Sprint(strings.Repeat("<", 300), i), Line: uint32(i + 1)})
	}
	var got []query.Symbol
	parts := Divide(m)
	for i, part := range parts {
		e := Encoder{}
		if n := len(e.AppendPart(nil, part)); n > maxPartBytes+1<<20 {
			t.Errorf("part %d of %d takes %d bytes, want at most %d and a little", i, len(parts), n, maxPartBytes)
		}
		got = append(got, part.(*query.FileMatch).Symbols...)
	}
	if len(parts) < 2 || !slices.Equal(got, m.Symbols) {
		t.Errorf("%d parts hold %d symbols, want several parts and the same %d", len(parts), len(got), len(m.Symbols))
	}
}
