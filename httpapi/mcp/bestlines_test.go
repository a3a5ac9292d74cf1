package mcp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

// matchOf is a file whose lines with a match of words are chunks of their own.
func matchOf(text, words string) *query.FileMatch {
	m := &query.FileMatch{Repo: &query.Repository{Name: "lab/kiln"}, Path: "a.c"}
	pattern := regexp.MustCompile("(?i)" + words)
	offset := uint32(0)
	for n, line := range slices.Collect(strings.Lines(text)) {
		start := query.Location{Offset: offset, Line: uint32(n)}
		var ranges []query.Range
		for _, r := range pattern.FindAllStringIndex(line, -1) {
			ranges = append(ranges, query.Range{
				Start: query.Location{Offset: offset + uint32(r[0]), Line: uint32(n), Column: uint32(r[0])},
				End:   query.Location{Offset: offset + uint32(r[1]), Line: uint32(n), Column: uint32(r[1])},
			})
		}
		if ranges != nil {
			m.Chunks = append(m.Chunks, query.Chunk{Content: []byte(line), Start: start, Ranges: ranges})
		}
		offset += uint32(len(line))
	}
	return m
}

// Of many lines with a match those are shown that say most, in the order of the file.
func TestBestLines(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "\tbranch = next_branch(%d);\n", i)
	}
	text := b.String() +
		"int refuse_checked_out(const char *name)\n" + // 31
		"{\n" +
		"\tif (branch_checked_out(name))\n" + // 33
		"\t\treturn error(\"cannot delete\");\n" + // 34
		"}\n" + b.String()
	m := matchOf(text, "branch|checked|out|delete")
	lines, left := matchLines(m, 4, 0)
	got := strings.Join(lines, "\n")
	for _, want := range []string{"31: int refuse_checked_out", "33: \tif (branch_checked_out", "34: \t\treturn error"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among the lines:\n%s", want, got)
		}
	}
	if len(lines) != 4 || left != len(m.Chunks)-4 || !slices.IsSortedFunc(lines, func(a, b string) int {
		return strings.Compare(fmt.Sprintf("%9s", strings.SplitN(a, ":", 2)[0]), fmt.Sprintf("%9s", strings.SplitN(b, ":", 2)[0]))
	}) {
		t.Errorf("%d lines, %d left out of %d:\n%s", len(lines), left, len(m.Chunks), got)
	}
	if all, left := matchLines(m, len(m.Chunks), 0); len(all) != len(m.Chunks) || left != 0 {
		t.Errorf("%d of %d lines, %d left out", len(all), len(m.Chunks), left)
	}
}

// Lines around a match are shown with it, and not without.
func TestBestLinesKeepContext(t *testing.T) {
	m := matchOf("glaze\nfirst\nsecond\nthird\nashes and glaze\nfourth\n", "glaze|ashes")
	joined := query.Chunk{Content: []byte("glaze\nfirst\nsecond\nthird\nashes and glaze\nfourth\n")}
	for _, c := range m.Chunks {
		joined.Ranges = append(joined.Ranges, c.Ranges...)
	}
	m.Chunks = []query.Chunk{joined}
	for context, want := range []string{"5: ashes and glaze", "4- third|5: ashes and glaze|6- fourth", "3- second|4- third|5: ashes and glaze|6- fourth"} {
		lines, left := matchLines(m, 1, context)
		if got := strings.Join(lines, "|"); got != want || left != 1 {
			t.Errorf("with %d lines around: got %q and %d left out, want %q", context, got, left, want)
		}
	}
}

// A match of many lines shows its first ones, and takes no time or memory for the others.
func TestBestLinesOfOneLongMatch(t *testing.T) {
	const rows = 1 << 20
	text := strings.Repeat("\n", rows)
	m := &query.FileMatch{Repo: &query.Repository{Name: "lab/kiln"}, Chunks: []query.Chunk{{
		Content: []byte(text), Ranges: []query.Range{{End: query.Location{Offset: rows, Line: rows - 1, Column: 1}}},
	}}}
	var lines []string
	left := 0
	allocated := testing.AllocsPerRun(1, func() { lines, left = matchLines(m, 5, 0) })
	if got, want := strings.Join(lines, "|"), "1: |2: |3: |4: |5: "; got != want || left != rows-5 {
		t.Errorf("got %q and %d left out, want %q", got, left, want)
	}
	if allocated > 2000 {
		t.Errorf("%v allocations", allocated)
	}
}
