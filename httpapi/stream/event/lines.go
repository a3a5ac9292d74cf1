package event

import (
	"bytes"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// Line is a line of a document with the pieces of matches in it.
type Line struct {
	// Text is without its newline.
	Text []byte
	// Number counts from zero.
	Number uint32
	Pieces []Piece
}

// Piece is the part of a range that lies on one line, in runes.
type Piece struct{ Column, Runes uint32 }

// Lines returns the lines of chunks that hold a piece of a match, as a stream
// sends them.
func Lines(chunks []query.Chunk) []Line {
	var lines []Line
	for _, c := range chunks {
		lines = appendLines(lines, c)
	}
	return lines
}

// appendLines appends the lines of c that hold a piece of its ranges.
// A range over several lines yields a piece on each, from its start to the end
// of its first line and so on; pieces without length are dropped, and with
// them lines that have no other. It relies on the ranges being sorted and
// disjoint: one walk over the content and the ranges side by side suffices.
func appendLines(dst []Line, c query.Chunk) []Line {
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
			dst = append(dst, Line{text, number, pieces})
		}
		for len(ranges) > 0 && ranges[0].End.Line <= number {
			ranges = ranges[1:]
		}
	}
	return dst
}

// linePieces cuts out of ranges, the first of which may have begun earlier,
// what lies on one line.
func linePieces(ranges []query.Range, number uint32, text []byte) []Piece {
	var pieces []Piece
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
			pieces = append(pieces, Piece{from, to - from})
		}
	}
	return pieces
}
