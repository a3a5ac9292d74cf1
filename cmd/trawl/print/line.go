package print

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// line is a line of a document, without its newline.
type line struct {
	// number counts from 1.
	number int
	text   string
	// hits are the columns that matched, in runes; hit says that a match
	// touches the line, even one that is empty.
	hits []columnRange
	hit  bool
}

// columnRange is a half-open interval of a line, in runes.
type columnRange struct{ from, to int }

// toLineEnd stands for the end of a line whose length was not counted.
const toLineEnd = int(^uint(0) >> 1)

// linesOf takes a chunk apart.
func linesOf(c client.ChunkMatch) []line {
	text := strings.TrimSuffix(c.Content, "\n")
	var out []line
	for i, t := range strings.Split(text, "\n") {
		out = append(out, line{number: c.ContentStart.Line + i + 1, text: t})
	}
	for _, r := range c.Ranges {
		first, last := r.Start.Line-c.ContentStart.Line, r.End.Line-c.ContentStart.Line
		// A range that ends before the first column of a line is not in it.
		if r.End.Column == 0 && last > first {
			last--
			r.End.Column = toLineEnd
		}
		for i := max(first, 0); i <= min(last, len(out)-1); i++ {
			hit := columnRange{0, toLineEnd}
			if i == first {
				hit.from = r.Start.Column
			}
			if i == last {
				hit.to = r.End.Column
			}
			out[i].hit = true
			out[i].hits = append(out[i].hits, hit)
		}
	}
	return out
}

// columns are the ranges of a text of one line, such as a path.
func columns(ranges []client.Range) []columnRange {
	var out []columnRange
	for _, r := range ranges {
		out = append(out, columnRange{r.Start.Column, r.End.Column})
	}
	return out
}

// marked cuts text into what hits and what does not. Hits may overlap, be out
// of order or lie beyond the text, since servers may cut lines.
func marked(text string, hits []columnRange, rest style) []piece {
	if len(hits) == 0 {
		return []piece{{text, rest}}
	}
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b columnRange) int { return a.from - b.from })
	var out []piece
	column, at := 0, 0
	cut := func(to int, s style) {
		end := at
		for ; end < len(text) && column < to; column++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if end > at {
			out = append(out, piece{text[at:end], s})
		}
		at = end
	}
	for _, h := range hits {
		cut(h.from, rest)
		cut(h.to, styleHit)
	}
	cut(toLineEnd, rest)
	return out
}
