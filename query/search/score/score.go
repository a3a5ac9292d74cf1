package score

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/ident"
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
	BaseInside = 3000
	dirWhole   = 1500
	dirPart    = 500

	// wholeWord is a match that is a whole identifier; the others are shares of
	// one, by how many of its ends are ends of an identifier or of a part of one.
	wholeWord = 500
	wordPart  = 200
	oneEnd    = 100
	partEnd   = 30

	// PhraseWhole is for the keyword phrase in one piece, phrasePart for one
	// that begins or ends within a word.
	PhraseWhole = 8000
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

// Hit is a pattern that was found in a document.
type Hit struct {
	// Literal is its text, empty for a regexp; Owner and Member are its parts
	// where it is a qualified name.
	Literal, Owner, Member string
	// Phrase is the keyword phrase that begins with the pattern, or empty.
	// CaseSensitive says that its case matters.
	Phrase        string
	CaseSensitive bool
	// Words are those of the literal.
	Words []string
	// Share is what the pattern counts of the whole.
	Share float64
	// Text and path are where it was found, sorted and disjoint.
	Text, Path []match.Span
}

// Document rates one document.
type Document struct {
	// Text is that of the document, if there are hits.
	Text *match.Text
	Hits []Hit
	// Definitions are those in the document whose names the query has, and
	// places where these stand.
	Definitions []Definition
	places      []definitionPlace
	// Names are spans of the path that filters matched.
	Names []match.Span
	// Symbols are the points of symbols that were asked for.
	Symbols float64

	Quality byte
	Prose   bool
	Stars   int

	// what Score found, for Explain
	Patterns, Phrase, near float64
}

// Score returns the score of the document at path. It depends on all that was
// found there, of which a limit may show little.
func (doc *Document) Score(path string) (float64, error) {
	if err := doc.locate(); err != nil {
		return 0, err
	}
	for i := range doc.Hits {
		h := &doc.Hits[i]
		inText, err := doc.words(h)
		if err != nil {
			return 0, err
		}
		found := [3]float64{inText, PathPoints(path, h.Path), doc.defined(path, h)}
		best, sum := 0.0, 0.0
		for _, points := range found {
			best, sum = max(best, points), sum+points
		}
		doc.Patterns += h.Share * (best + besides*(sum-best))
		if len(doc.Hits) > 1 {
			doc.Patterns += h.Share * oftenPoints(len(h.Text), doc.Text.Len())
		}
	}
	share := 1.0
	if len(doc.Hits) > 0 {
		share = besides
	}
	doc.Patterns += share*PathPoints(path, doc.Names) + doc.Symbols
	if len(doc.Hits) > 1 {
		doc.Patterns += stemPoints(path, doc.Hits) + togetherInPath(doc.Hits) + doc.kindPoints()
		n, err := doc.together()
		if err != nil {
			return 0, err
		}
		doc.near = nearWorth * float64(n-1) / float64(len(doc.Hits)-1)
	}
	return doc.Sum(path), nil
}

// Sum weighs what was found by what the document is.
func (doc *Document) Sum(path string) float64 {
	out := (doc.Patterns + doc.Phrase + max(doc.near, 0)) * DocumentShare(doc.Quality, doc.Prose)
	out += starsWorth * float64(doc.Stars) / float64(doc.Stars+usualStars)
	return out - dirCost*float64(min(strings.Count(path, "/"), maxDirs))
}

// DocumentShare is the share of the points that a document gets.
func DocumentShare(quality byte, prose bool) float64 {
	share := qualityShare[min(int(quality), len(qualityShare)-1)]
	if prose {
		share *= proseShare
	}
	return share
}

// words returns the points of the best place of h in the text, and sees to the
// phrase.
func (doc *Document) words(h *Hit) (best float64, err error) {
	for _, span := range h.Text {
		// What stands around it decides what ends there; the phrase begins with it.
		from := max(int(span.Start)-1, 0)
		to := min(max(int(span.End)+1, int(span.Start)+len(h.Phrase)+1), doc.Text.Len())
		around, err := doc.Text.Bytes(from, to)
		if err != nil {
			return 0, err
		}
		lo, hi := int(span.Start)-from, int(span.End)-from
		if points := wordPoints(around, lo, hi); points > best {
			best = max(best, points*CaseShare(h.Literal, string(around[lo:hi])))
		}
		if h.Phrase != "" {
			doc.Phrase = max(doc.Phrase, phrasePoints(around, lo, h.Phrase, h.CaseSensitive))
		}
		if best >= wholeWord && (h.Phrase == "" || doc.Phrase >= PhraseWhole) {
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

// CaseShare is the share that is left to what was found of a literal, which is
// empty for a regexp.
func CaseShare(literal, found string) float64 {
	if literal == "" || literal == found {
		return 1
	}
	return otherCase
}

// phrasePoints rates the phrase where it begins at offset lo, if it does.
func phrasePoints(text []byte, lo int, phrase string, caseSensitive bool) float64 {
	hi := lo + len(phrase)
	if hi > len(text) || string(text[lo:hi]) != phrase && (caseSensitive || !bytes.EqualFold(text[lo:hi], []byte(phrase))) {
		return 0
	}
	if ident.Edge(text, lo) == ident.WordEdge && ident.Edge(text, hi) == ident.WordEdge {
		return PhraseWhole
	}
	return phrasePart
}

// together returns the most patterns that stand on one line.
func (doc *Document) together() (best int, err error) {
	hits := doc.Hits[:min(len(doc.Hits), 64)]
	lineEnd, here := -1, uint64(0)
	for next := [64]int{}; ; {
		first := -1
		for n := range hits {
			if next[n] < len(hits[n].Text) && (first < 0 || hits[n].Text[next[n]].Start < hits[first].Text[next[first]].Start) {
				first = n
			}
		}
		if first < 0 || best == len(hits) {
			return best, nil
		}
		start := int(hits[first].Text[next[first]].Start)
		next[first]++
		if start > lineEnd {
			here = 0
			if lineEnd, err = doc.Text.LineEnd(start); err != nil {
				return 0, err
			}
		}
		here |= 1 << first
		best = max(best, bits.OnesCount64(here))
	}
}

// PathPoints rates spans of a path: the whole base name, its stem without
// extensions, a part of it, a whole directory, a part of one.
func PathPoints(path string, spans []match.Span) float64 {
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
		return BaseInside
	case (lo == 0 || path[lo] == '/' || path[lo-1] == '/') && hi < len(path) && (path[hi] == '/' || path[hi-1] == '/'):
		return dirWhole
	}
	return dirPart
}

// wordPoints rates a match by its ends.
func wordPoints(text []byte, lo, hi int) float64 {
	switch ident.Edge(text, lo) + ident.Edge(text, hi) {
	case 2 * ident.WordEdge:
		return wholeWord
	case ident.WordEdge + ident.PartEdge:
		return wordPart
	case ident.WordEdge: // or both ends of parts
		return oneEnd
	case ident.PartEdge:
		return partEnd
	}
	return 0
}

// Explain says how the score of a path came about.
func (doc *Document) Explain(path string) string {
	return fmt.Sprintf("score %.0f: patterns %.0f, phrase %.0f, near %.0f, share %.2f, definitions %d",
		doc.Sum(path), doc.Patterns, doc.Phrase, max(doc.near, 0), DocumentShare(doc.Quality, doc.Prose), len(doc.Definitions))
}

// oftenHalfBlocks and usualBlocks are oftenHalf and usualBytes, by the block.
const (
	oftenHalfBlocks = 3
	usualBlocks     = 4
)

// BlockPoints are those of a pattern in n blocks of a document of so many.
func BlockPoints(n, all int) float64 {
	half := oftenHalfBlocks * (1 - lengthShare + lengthShare*float64(all)/usualBlocks)
	return oftenWorth * float64(n) / (float64(n) + half)
}
