package search

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Points of a match, after what readers of code look for: whole words before
// parts of words, names of files before their text.
const (
	wordBoth   = 500
	wordOne    = 50
	baseWhole  = 7000
	baseEdge   = 5500
	baseInside = 4000
	// phraseWeight multiplies a match that stands in the whole keyword phrase.
	phraseWeight = 20
	// atomsWorth is shared out by how many of the query's patterns matched.
	atomsWorth = 400
)

// scorer rates one document.
type scorer struct {
	// phrase is the keyword phrase, in lower case unless caseSensitive.
	phrase        string
	caseSensitive bool

	text, path, atoms float64
}

// file returns the score of m: its best line or its path, whichever is
// better, and a share for the number of atoms.
func (s *scorer) file(m *query.FileMatch, atoms int) float64 {
	for i := range m.Chunks {
		c := &m.Chunks[i]
		for _, r := range c.Ranges {
			lo, hi := int(r.Start.Offset-c.Start.Offset), int(r.End.Offset-c.Start.Offset)
			s.text = max(s.text, s.span(c.Content, lo, min(hi, len(c.Content))))
		}
	}
	base := strings.LastIndexByte(m.Path, '/') + 1
	for _, r := range m.PathRanges {
		s.path = max(s.path, pathScore(int(r.Start.Offset)-base, int(r.End.Offset)-base, len(m.Path)-base))
	}
	if atoms > 0 {
		s.atoms = atomsWorth * (1 - 1/float64(atoms))
	}
	return max(s.text, s.path) + s.atoms
}

func (s *scorer) span(text []byte, lo, hi int) float64 {
	points := 0.0
	switch begins, ends := boundary(text, lo), boundary(text, hi); {
	case begins && ends:
		points = wordBoth
	case begins || ends:
		points = wordOne
	}
	if s.phrase != "" && s.inPhrase(text[lo:]) {
		return phraseWeight * max(points, wordOne)
	}
	return points
}

// inPhrase reports whether the phrase begins where the text does.
func (s *scorer) inPhrase(text []byte) bool {
	if len(text) < len(s.phrase) {
		return false
	}
	if s.caseSensitive {
		return string(text[:len(s.phrase)]) == s.phrase
	}
	return bytes.EqualFold(text[:len(s.phrase)], []byte(s.phrase))
}

// pathScore rates a range of a path given relative to the base name.
func pathScore(lo, hi, size int) float64 {
	switch {
	case hi <= 0:
		return 0
	case lo == 0 && hi == size:
		return baseWhole
	case lo == 0 || hi == size:
		return baseEdge
	}
	return baseInside
}

// boundary reports whether the byte class changes at offset i.
func boundary(text []byte, i int) bool {
	if i <= 0 || i >= len(text) {
		return true
	}
	return class(text[i-1]) != class(text[i])
}

func class(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return 0
	case 'A' <= c && c <= 'Z':
		return 1
	case '0' <= c && c <= '9':
		return 2
	case c == ' ' || c == '\n':
		return 3
	case c == '.' || c == ',' || c == ';' || c == '"' || c == '\'':
		return 4
	}
	return 5
}

// explain says how the score came about.
func (s *scorer) explain() string {
	return fmt.Sprintf("score %.0f: best text match %.0f, path %.0f, patterns %.0f", max(s.text, s.path)+s.atoms, s.text, s.path, s.atoms)
}
