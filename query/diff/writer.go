package diff

import (
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
)

// writer appends text to a body and keeps count of where it is.
type writer struct {
	body         []byte
	line, column uint32
	ranges       []query.Range
	// hidden counts places on lines that are not shown; cut says that there are
	// such lines.
	hidden int
	cut    bool
}

func (w *writer) at() query.Location {
	return query.Location{Offset: uint32(len(w.body)), Line: w.line, Column: w.column}
}

func (w *writer) newline() {
	w.body = append(w.body, '\n')
	w.line++
	w.column = 0
}

// plain appends text of ours or of a header; it holds no newline.
func (w *writer) plain(text string) { w.text([]byte(text), nil, nil) }

// text appends text without newlines, and ranges for the spans of it. Runes
// that escape gives another text for are replaced by that, and bytes that are
// no rune by U+FFFD; the ranges are where the text ends up.
func (w *writer) text(text []byte, spans []match.Span, escape func(rune) string) {
	open := -1 // the range that has begun
	mark := func(i int) {
		for {
			switch {
			case open >= 0 && int(spans[0].End) <= i:
				w.ranges[open].End = w.at()
				spans, open = spans[1:], -1
			case open < 0 && len(spans) > 0 && int(spans[0].Start) <= i:
				w.ranges = append(w.ranges, query.Range{Start: w.at()})
				open = len(w.ranges) - 1
			default:
				return
			}
		}
	}
	for i := 0; i < len(text); {
		mark(i)
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if escape != nil {
			if s := escape(r); s != "" {
				w.body = append(w.body, s...)
				w.column += uint32(len(s))
				continue
			}
		}
		w.body = utf8.AppendRune(w.body, r)
		w.column++
	}
	mark(len(text))
	if open >= 0 {
		w.ranges[open].End = w.at()
	}
}
