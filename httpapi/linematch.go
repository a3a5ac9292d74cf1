package httpapi

import (
	"bytes"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// lineMatch is a line of a document with the pieces of matches in it.
type lineMatch struct {
	// text is the line without its newline.
	text []byte
	// number counts from zero.
	number uint32
	pieces []piece
}

// piece is the part of a range that lies on one line, in runes.
type piece struct{ column, runes uint32 }

// appendLineMatches appends the lines of c that hold a piece of its ranges.
// A range over several lines yields a piece on each, from its start to the end
// of its first line and so on; pieces without length are dropped, and with
// them lines that have no other. It relies on the ranges being sorted and
// disjoint: one walk over the content and the ranges side by side suffices.
func appendLineMatches(dst []lineMatch, c query.Chunk) []lineMatch {
	rest, number := c.Content, c.Start.Line
	for ranges := c.Ranges; len(ranges) > 0 && len(rest) > 0; number++ {
		text := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			text, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if ranges[0].Start.Line > number {
			continue
		}
		if pieces := linePieces(ranges, number, text); len(pieces) > 0 {
			dst = append(dst, lineMatch{text, number, pieces})
		}
		for len(ranges) > 0 && ranges[0].End.Line <= number {
			ranges = ranges[1:]
		}
	}
	return dst
}

// linePieces cuts out of ranges, the first of which may have begun earlier,
// what lies on one line.
func linePieces(ranges []query.Range, number uint32, text []byte) []piece {
	var pieces []piece
	for _, r := range ranges {
		if r.Start.Line > number {
			break
		}
		from, to := uint32(0), r.End.Column
		if r.Start.Line == number {
			from = r.Start.Column
		}
		if r.End.Line > number {
			to = uint32(utf8.RuneCount(text))
		}
		if to > from {
			pieces = append(pieces, piece{from, to - from})
		}
	}
	return pieces
}
