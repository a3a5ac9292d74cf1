package search

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"github.com/trawlsearch/trawl/query/match"
)

// Points of one pattern in one document, after what readers of code look for:
// where a thing is defined, then names of files, then whole words, then parts
// of words. They were set with trawl-bench rank.
const (
	// A definition counts the more of its name was matched, and by its kind.
	definitionWhole  = 4000
	definitionEdge   = 3000
	definitionInside = 2000
	kindWorth        = 400
	// kindNamed is for a definition whose kind the query names beside its name, as
	// struct page does.
	kindNamed = 6000
	// withinWord is the share left to a part of a name that ends within a word.
	withinWord = 0.1

	baseWhole  = 7000
	baseStem   = 6500
	baseEdge   = 4000
	baseInside = 3000
	dirWhole   = 1500
	dirPart    = 500

	// wholeWord is a match that is a whole identifier; the others are shares of
	// one, by how many of its ends are ends of an identifier or of a part of one.
	wholeWord = 500
	wordPart  = 200
	oneEnd    = 100
	partEnd   = 30

	// phraseWhole is for the keyword phrase in one piece, phrasePart for one
	// that begins or ends within a word.
	phraseWhole = 8000
	phrasePart  = 3000
	// nearWorth is for all patterns on one line, less for some.
	nearWorth = 1000

	// oftenWorth is for one of several patterns that stands in a document without
	// end, half of it for one that stands there oftenHalf times; in documents longer
	// than usualBytes it takes more. Found by trawl-bench mined, over half of 1,009
	// queries, as besides and proseShare were.
	oftenWorth, oftenHalf = 6000, 4
	usualBytes            = 20000
	// lengthShare is the share of oftenHalf that grows with the length.
	lengthShare = 0.7

	// otherCase is the share that is left to a literal found in another case.
	otherCase = 0.9
	// besides is the share of what else was found of a pattern than the best.
	besides = 0.1
	// proseShare is the share of a document that is prose or settings: people search
	// code.
	proseShare = 0.5
	// dirCost is taken for each directory of the path, up to maxDirs.
	dirCost, maxDirs = 20, 10
	// starsWorth is given to repositories with very many stars, half of it to
	// those with usualStars.
	starsWorth, usualStars = 100, 5000
)

// qualityShare is the share by a document's quality: sources, tests and samples,
// vendored and generated files.
var qualityShare = [...]float64{1, 0.7, 0.6, 0.5}

// hit is a pattern that was found in a document.
type hit struct {
	// literal is its text, empty for a regexp; owner and member are its parts
	// where it is a qualified name.
	literal, owner, member string
	// phrase is the keyword phrase that begins with the pattern, or empty.
	phrase string
	// words are those of the literal.
	words []string
	// share is what the pattern counts of the whole.
	share float64
	// text and path are where it was found, sorted and disjoint.
	text, path []match.Span
}

// scorer rates one document.
type scorer struct {
	caseSensitive bool
	// text is that of the document, if there are hits.
	text *match.Text
	hits []hit
	// definitions are those in the document whose names the query has, and
	// places where these stand.
	definitions []definition
	places      []definitionPlace
	// names are spans of the path that filters matched.
	names []match.Span
	// symbols are the points of symbols that were asked for.
	symbols float64

	quality byte
	prose   bool
	stars   int

	// what file found out, for explain
	patterns, phrase, near float64
}

// file returns the score of the document at path. It depends on all that was
// found there, of which a limit may show little.
func (s *scorer) file(path string) (float64, error) {
	if err := s.locate(); err != nil {
		return 0, err
	}
	for i := range s.hits {
		h := &s.hits[i]
		inText, err := s.words(h)
		if err != nil {
			return 0, err
		}
		found := [3]float64{inText, pathPoints(path, h.path), s.defined(path, h)}
		best, sum := 0.0, 0.0
		for _, points := range found {
			best, sum = max(best, points), sum+points
		}
		s.patterns += h.share * (best + besides*(sum-best))
		if len(s.hits) > 1 {
			s.patterns += h.share * oftenPoints(len(h.text), s.text.Len())
		}
	}
	share := 1.0
	if len(s.hits) > 0 {
		share = besides
	}
	s.patterns += share*pathPoints(path, s.names) + s.symbols
	if len(s.hits) > 1 {
		s.patterns += stemPoints(path, s.hits) + togetherInPath(s.hits) + s.kindPoints()
		n, err := s.together()
		if err != nil {
			return 0, err
		}
		s.near = nearWorth * float64(n-1) / float64(len(s.hits)-1)
	}
	return s.sum(path), nil
}

// sum weighs what was found by what the document is.
func (s *scorer) sum(path string) float64 {
	out := (s.patterns + s.phrase + max(s.near, 0)) * documentShare(s.quality, s.prose)
	out += starsWorth * float64(s.stars) / float64(s.stars+usualStars)
	return out - dirCost*float64(min(strings.Count(path, "/"), maxDirs))
}

// documentShare is the share of the points that a document gets.
func documentShare(quality byte, prose bool) float64 {
	share := qualityShare[min(int(quality), len(qualityShare)-1)]
	if prose {
		share *= proseShare
	}
	return share
}

// words returns the points of the best place of h in the text, and sees to the
// phrase.
func (s *scorer) words(h *hit) (best float64, err error) {
	for _, span := range h.text {
		// What stands around it decides what ends there; the phrase begins with it.
		from := max(int(span.Start)-1, 0)
		to := min(max(int(span.End)+1, int(span.Start)+len(h.phrase)+1), s.text.Len())
		around, err := s.text.Bytes(from, to)
		if err != nil {
			return 0, err
		}
		lo, hi := int(span.Start)-from, int(span.End)-from
		if points := wordPoints(around, lo, hi); points > best {
			best = max(best, points*caseShare(h.literal, string(around[lo:hi])))
		}
		if h.phrase != "" {
			s.phrase = max(s.phrase, s.phrasePoints(around, lo, h.phrase))
		}
		if best >= wholeWord && (h.phrase == "" || s.phrase >= phraseWhole) {
			break
		}
	}
	return best, nil
}

// oftenPoints are those of a pattern that stands n times in size bytes: each more
// is worth less, as in BM25.
func oftenPoints(n, size int) float64 {
	if n == 0 {
		return 0
	}
	half := oftenHalf * (1 - lengthShare + lengthShare*float64(size)/usualBytes)
	return oftenWorth * float64(n) / (float64(n) + half)
}

// caseShare is the share that is left to what was found of a literal, which is
// empty for a regexp.
func caseShare(literal, found string) float64 {
	if literal == "" || literal == found {
		return 1
	}
	return otherCase
}

// phrasePoints rates the phrase where it begins at offset lo, if it does.
func (s *scorer) phrasePoints(text []byte, lo int, phrase string) float64 {
	hi := lo + len(phrase)
	if hi > len(text) || string(text[lo:hi]) != phrase && (s.caseSensitive || !bytes.EqualFold(text[lo:hi], []byte(phrase))) {
		return 0
	}
	if edge(text, lo) == wordEdge && edge(text, hi) == wordEdge {
		return phraseWhole
	}
	return phrasePart
}

// together returns the most patterns that stand on one line.
func (s *scorer) together() (best int, err error) {
	hits := s.hits[:min(len(s.hits), 64)]
	lineEnd, here := -1, uint64(0)
	for next := [64]int{}; ; {
		first := -1
		for n := range hits {
			if next[n] < len(hits[n].text) && (first < 0 || hits[n].text[next[n]].Start < hits[first].text[next[first]].Start) {
				first = n
			}
		}
		if first < 0 || best == len(hits) {
			return best, nil
		}
		start := int(hits[first].text[next[first]].Start)
		next[first]++
		if start > lineEnd {
			here = 0
			if lineEnd, err = s.text.LineEnd(start); err != nil {
				return 0, err
			}
		}
		here |= 1 << first
		best = max(best, bits.OnesCount64(here))
	}
}

// pathPoints rates spans of a path: the whole base name, its stem without
// extensions, a part of it, a whole directory, a part of one.
func pathPoints(path string, spans []match.Span) float64 {
	if len(spans) == 0 {
		return 0
	}
	best := 0.0
	base := strings.LastIndexByte(path, '/') + 1
	stem := len(path)
	if dot := strings.IndexByte(path[base:], '.'); dot > 0 {
		stem = base + dot
	}
	for _, span := range spans {
		best = max(best, namePoints(path, int(span.Start), int(span.End), base, stem))
	}
	return best
}

func namePoints(path string, lo, hi, base, stem int) float64 {
	switch {
	case hi > base && lo <= base && hi == len(path):
		return baseWhole
	case hi > base && lo <= base && hi == stem:
		return baseStem
	case hi > base && (lo <= base || hi == len(path) || hi == stem):
		return baseEdge
	case hi > base:
		return baseInside
	case (lo == 0 || path[lo] == '/' || path[lo-1] == '/') && hi < len(path) && (path[hi] == '/' || path[hi-1] == '/'):
		return dirWhole
	}
	return dirPart
}

// Ends of identifiers and of their parts.
const (
	noEdge = iota
	partEdge
	wordEdge
)

// wordPoints rates a match by its ends.
func wordPoints(text []byte, lo, hi int) float64 {
	switch edge(text, lo) + edge(text, hi) {
	case 2 * wordEdge:
		return wholeWord
	case wordEdge + partEdge:
		return wordPart
	case wordEdge: // or both ends of parts
		return oneEnd
	case partEdge:
		return partEnd
	}
	return 0
}

// edge tells what ends between the bytes before and behind offset i: an
// identifier, a part of one as in camelCase, snake_case and v2, or nothing.
func edge[T string | []byte](text T, i int) int {
	if i <= 0 || i >= len(text) {
		return wordEdge
	}
	before, behind := class(text[i-1]), class(text[i])
	switch {
	case before == other || behind == other:
		return wordEdge
	case before != behind && (before != upper || behind != lower):
		return partEdge
	}
	return noEdge
}

// Classes of bytes.
const (
	lower = iota
	upper
	digit
	underscore
	// high are the bytes of runes outside ASCII.
	high
	other
)

func class(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	case c == '_':
		return underscore
	case c >= 0x80:
		return high
	}
	return other
}

// explain says how the score of a path came about.
func (s *scorer) explain(path string) string {
	return fmt.Sprintf("score %.0f: patterns %.0f, phrase %.0f, near %.0f, share %.2f, definitions %d",
		s.sum(path), s.patterns, s.phrase, max(s.near, 0), documentShare(s.quality, s.prose), len(s.definitions))
}
