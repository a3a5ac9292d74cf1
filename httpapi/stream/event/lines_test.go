package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

// chunkAt builds a chunk that starts on a line, with ranges given as bytes of
// content.
func chunkAt(line uint32, content string, ranges ...[2]int) query.Chunk {
	c := query.Chunk{Content: []byte(content), Start: at(100, line, 0)}
	place := func(i int) query.Location {
		before := content[:i]
		last := before[strings.LastIndexByte(before, '\n')+1:]
		return at(100+uint32(i), line+uint32(strings.Count(before, "\n")), uint32(len([]rune(last))))
	}
	for _, r := range ranges {
		c.Ranges = append(c.Ranges, span(place(r[0]), place(r[1])))
	}
	return c
}

func TestLineMatches(t *testing.T) {
	tests := []struct {
		name  string
		chunk query.Chunk
		want  string
	}{
		// one line
		{"one", chunkAt(3, "abc\n", [2]int{1, 2}), `3 "abc" [1 1]`},
		{"two on a line", chunkAt(3, "abcabc\n", [2]int{0, 1}, [2]int{3, 4}), `3 "abcabc" [0 1] [3 1]`},
		{"no final newline", chunkAt(0, "abc", [2]int{0, 3}), `0 "abc" [0 3]`},
		{"carriage return stays", chunkAt(0, "abc\r\n", [2]int{0, 3}), `0 "abc\r" [0 3]`},

		// context lines are left out
		{"context", chunkAt(7, "x\nabc\ny\n", [2]int{2, 5}), `8 "abc" [0 3]`},
		{"context between", chunkAt(0, "a\nx\na\n", [2]int{0, 1}, [2]int{4, 5}), "0 \"a\" [0 1]\n2 \"a\" [0 1]"},

		// runes, not bytes
		{"runes", chunkAt(0, "é½abc½\n", [2]int{4, 7}), `0 "é½abc½" [2 3]`},

		// a range over several lines comes in pieces
		{"two lines", chunkAt(0, "abc\ndef\n", [2]int{1, 6}), "0 \"abc\" [1 2]\n1 \"def\" [0 2]"},
		{"three lines", chunkAt(0, "abc\nxéyz\ndef\n", [2]int{2, 11}), "0 \"abc\" [2 1]\n1 \"xéyz\" [0 4]\n2 \"def\" [0 1]"},
		{"another on the last line", chunkAt(0, "abc\ndef\n", [2]int{2, 5}, [2]int{6, 7}), "0 \"abc\" [2 1]\n1 \"def\" [0 1] [2 1]"},

		// pieces without length are dropped
		{"empty range", chunkAt(0, "abc\n", [2]int{1, 1}), ``},
		{"empty line inside", chunkAt(0, "a\n\nb\n", [2]int{0, 4}), "0 \"a\" [0 1]\n2 \"b\" [0 1]"},
		{"ends on the next line's start", chunkAt(0, "abc\ndef\n", [2]int{1, 4}), `0 "abc" [1 2]`},
		{"starts at a newline", chunkAt(0, "abc\ndef\n", [2]int{3, 5}), `1 "def" [0 1]`},

		// an end that stays on the line of its newline reaches one past it
		{"ends past the line", query.Chunk{
			Content: []byte("abc\n"), Ranges: []query.Range{span(at(1, 0, 1), at(4, 0, 4))},
		}, `0 "abc" [1 3]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range appendLines(nil, tt.chunk) {
				s := fmt.Sprintf("%d %q", l.Number, l.Text)
				for _, p := range l.Pieces {
					s += fmt.Sprintf(" [%d %d]", p.Column, p.Runes)
				}
				got = append(got, s)
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("content %q, ranges %v\ngot:\n%s\nwant:\n%s", tt.chunk.Content, tt.chunk.Ranges, s, tt.want)
			}
		})
	}
}

func TestNoLineMatchesNoMember(t *testing.T) {
	m := glazeContent()
	m.Chunks = []query.Chunk{chunkAt(0, "abc\n", [2]int{1, 1})}
	var e Encoder
	if got := string(e.Append(nil, m)); strings.Contains(got, "lineMatches") {
		t.Errorf("got %s, want no lineMatches for an empty range", got)
	}
}
