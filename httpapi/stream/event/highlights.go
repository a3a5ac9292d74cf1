package event

import (
	"strings"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/diff"
)

// Highlights returns the ranges of a commit match line by line, without pieces
// that are empty: each a line, counted from that of the code fence, the first rune
// in it, and a length. Lengths count runes, except where a range goes on in the
// next line: there they count bytes, as clients of this API are used to.
func Highlights(m *query.CommitMatch) [][3]uint32 {
	out := [][3]uint32{}
	wider := widerHeaders(m)
	for _, r := range m.Ranges {
		text := m.Body[r.Start.Offset:r.End.Offset]
		for line, column := r.Start.Line, r.Start.Column; ; line, column = line+1, 0 {
			piece, rest, more := strings.Cut(text, "\n")
			length := uint32(len(piece))
			if line >= r.End.Line {
				length, more = r.End.Column-column, false
			}
			if length > 0 {
				out = append(out, [3]uint32{line + 1, column + wider.by(line, column), length})
			}
			if text = rest; !more {
				break
			}
		}
	}
	return out
}

// widerHeader is a header of a file in a diff whose first path takes more
// bytes than runes. Clients of this API are used to count bytes up to the
// second path.
type widerHeader struct{ line, from, more uint32 }

type widerHeaderSet []widerHeader

// by is what is added to the column of a place.
func (w widerHeaderSet) by(line, column uint32) uint32 {
	for _, h := range w {
		if h.line == line && column >= h.from {
			return h.more
		}
	}
	return 0
}

func widerHeaders(m *query.CommitMatch) widerHeaderSet {
	if !m.IsDiff || len(m.Ranges) == 0 {
		return nil
	}
	var out widerHeaderSet
	line := uint32(0)
	for b := diff.ReadBody(m.Body); b.Next(); line++ {
		if b.Kind != diff.FileHeader {
			continue
		}
		path := diff.OldPath(b.Text)
		runes := utf8.RuneCountInString(path)
		if len(path) > runes {
			out = append(out, widerHeader{line, uint32(runes) + 1, uint32(len(path) - runes)})
		}
	}
	return out
}
