package print

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxColumns is how much of a line a terminal is shown, and leadColumns how much
// of that stands before the first match. Both are in runes.
const (
	maxColumns  = 600
	leadColumns = 100
)

// matched is marked for a line of a document. A terminal gets the part of a
// long line around its first match, and the number of matches outside of it.
func (p *Matches) matched(text string, hits []columnRange, rest style) []piece {
	if !p.opts.Terminal || len(text) <= maxColumns || utf8.RuneCountInString(text) <= maxColumns {
		return marked(text, hits, rest)
	}
	columns := utf8.RuneCountInString(text)
	from := 0
	if len(hits) > 0 {
		first := slices.MinFunc(hits, func(a, b columnRange) int { return a.from - b.from })
		from = min(max(first.from-leadColumns, 0), columns-maxColumns)
	}
	to := from + maxColumns
	var shown []columnRange
	outside := 0
	for _, h := range hits {
		if h.from >= to {
			outside++
			continue
		}
		shown = append(shown, columnRange{max(h.from-from, 0), min(h.to, to) - from})
	}
	start := runeOffset(text, from)
	end := start + runeOffset(text[start:], maxColumns)
	var out []piece
	if from > 0 {
		out = append(out, piece{"…", styleSeparator})
	}
	out = append(out, marked(text[start:end], shown, rest)...)
	if to < columns {
		out = append(out, piece{"…", styleSeparator})
	}
	if outside > 0 {
		out = append(out, piece{" (" + strconv.Itoa(outside) + " more in this line)", styleSeparator})
	}
	return out
}

// runeOffset returns where the rune with that number begins.
func runeOffset(text string, number int) int {
	at := 0
	for ; number > 0 && at < len(text); number-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
