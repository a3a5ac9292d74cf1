package match

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
)

// needles are literals of which every match has one.
type needles []finder

// finder is one of them.
type finder struct {
	needle
	// wide says that wide runes may stand for letters of the needle.
	wide bool
}

// maxNeedles is how many needles are worth looking for one after the other:
// each takes about as long as a tenth of what the automaton does.
const maxNeedles = 8

// wideReach is the most bytes that a literal of an anchor, spelled with wide
// runes, may have.
const wideReach = 3 * postings.MaxLiteralBytes

// literalNeedles returns needles for a literal or an Or of some, nil for
// anything else and when there are too many.
func literalNeedles(e postings.Expr) needles {
	texts := literalTexts(e)
	if len(texts) > maxNeedles {
		return nil
	}
	return newNeedles(texts)
}

// beginningNeedles is literalNeedles for literals that need not be looked for
// whole: where fewer beginnings of them do, such as one for those of static\s,
// it takes these.
func beginningNeedles(e postings.Expr) needles {
	const enough = 5
	texts := literalTexts(e)
	best := texts
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t.text))
	}
	for n := longest - 1; n >= enough; n-- {
		var cut []foldedText
		for _, t := range texts {
			t.text = t.text[:min(n, len(t.text))]
			if !slices.Contains(cut, t) {
				cut = append(cut, t)
			}
		}
		if len(cut) < len(best) {
			best = cut
		}
	}
	if len(best) > maxNeedles {
		return nil
	}
	return newNeedles(best)
}

// foldedText is what a needle looks for.
type foldedText struct {
	text       string
	fold, wide bool
}

// literalTexts returns the texts of a literal or of an Or of some, nil for
// anything else.
func literalTexts(e postings.Expr) []foldedText {
	lits := []postings.Expr{e}
	if or, ok := e.(*postings.Or); ok {
		lits = or.Exprs
	}
	var out []foldedText
	for _, e := range lits {
		l, ok := e.(*postings.Literal)
		if !ok {
			return nil
		}
		t := foldedText{text: l.Exact}
		if t.text == "" {
			run := slices.MaxFunc(l.Runs, func(a, b string) int { return len(a) - len(b) })
			t = foldedText{run, true, l.WideFold}
		}
		out = append(out, t)
	}
	return out
}

func newNeedles(texts []foldedText) needles {
	var out needles
	for _, t := range texts {
		out = append(out, finder{newNeedle(t.text, t.fold), t.wide})
	}
	return out
}

// wide reports whether wide runes may stand for letters of a needle.
func (n needles) wide() bool {
	return slices.ContainsFunc(n, func(f finder) bool { return f.wide })
}

// longest returns the most bytes that a needle has.
func (n needles) longest() (bytes int) {
	for _, f := range n {
		bytes = max(bytes, len(f.text))
	}
	return bytes
}

// of returns for each text a bit for every needle that is its beginning, nil if
// there is a text without one, or if there are too many texts for the bits.
func (n needles) of(texts []foldedText) []uint8 {
	if len(texts) > maxAlternatives || len(n) > maxNeedles {
		return nil
	}
	out := make([]uint8, len(texts))
	for i, t := range texts {
		for j, f := range n {
			if len(f.text) <= len(t.text) && newNeedle(t.text[:len(f.text)], t.fold).same(&f.needle) {
				out[i] |= 1 << j
			}
		}
		if out[i] == 0 {
			return nil
		}
	}
	return out
}

// needleIterator yields the offsets at which a needle stands.
type needleIterator struct {
	needles needles
	text    []byte
	// from is where to go on, perhaps behind the text. It never decreases.
	from int
	// places are the next offset of each needle, len(text) if there is none.
	places  [maxNeedles]int
	cursors [maxNeedles]cursor
}

func (n needles) iterator(text []byte, from int) needleIterator {
	it := needleIterator{needles: n, text: text, from: from}
	for i := range n {
		it.places[i], it.cursors[i] = -1, newCursor()
	}
	return it
}

// next returns the next offset, or -1.
func (it *needleIterator) next() int {
	first := len(it.text)
	if it.from >= first {
		return -1
	}
	for i := range it.needles {
		if it.places[i] < it.from {
			if it.places[i] = it.needles[i].next(it.text, it.from, &it.cursors[i]); it.places[i] < 0 {
				it.places[i] = len(it.text)
			}
		}
		first = min(first, it.places[i])
	}
	if first == len(it.text) {
		return -1
	}
	it.from = first + 1
	return first
}
