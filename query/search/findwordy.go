package search

import (
	"cmp"
	"slices"
)

// Documents in which the words of a query stand all over are about it, whether
// or not they define any. How often is not known before text is read, but in how
// many blocks is: that is what lists say.

// oftenHalfBlocks and usualBlocks are oftenHalf and usualBytes, by the block.
const (
	oftenHalfBlocks = 3
	usualBlocks     = 4
)

// blockPoints are those of a pattern in n blocks of a document of so many.
func blockPoints(n, all int) float64 {
	half := oftenHalfBlocks * (1 - lengthShare + lengthShare*float64(all)/usualBlocks)
	return oftenWorth * float64(n) / (float64(n) + half)
}

// mostWordBlocks is how many blocks of one pattern are counted in a shard: a word
// that has more tells nothing.
const mostWordBlocks = 1 << 14

// findWordy promises points to candidates by how many of their blocks have the
// patterns of b. It is asked when all shards are planned.
func (h *header) findWordy(k int, b *basic) {
	if b.symbols {
		return // its lists are of names
	}
	var most []head
	for n, p := range h.plans {
		if p == nil || h.candidates[n] == nil {
			continue
		}
		points := h.wordPoints(n, k, b)
		if points == nil {
			continue
		}
		for _, doc := range p.candidates {
			at := head{n, doc, points[doc] * documentShare(p.docs.Quality[doc], p.prose(doc))}
			if at.promise == 0 || len(most) == h.run.set.Heads && at.promise <= most[len(most)-1].promise {
				continue
			}
			i, _ := slices.BinarySearchFunc(most, at, func(a, b head) int {
				return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.shard, b.shard), cmp.Compare(a.doc, b.doc))
			})
			most = slices.Insert(most[:min(len(most), h.run.set.Heads-1)], min(i, h.run.set.Heads-1), at)
		}
	}
	for _, at := range most {
		h.at(at.shard, at.doc)
	}
}

// wordPoints returns the points of the documents of a shard, nil if there are
// none, and keeps them for whatever else they promise.
func (h *header) wordPoints(n, k int, b *basic) []float64 {
	p := h.plans[n]
	docOf := p.view.DocOf()
	var counts []uint16
	for a, at := range b.atoms {
		blocks := p.basics[k].atoms[a].content.Blocks
		if at.silent || at.negated || blocks == nil || blocks.Len() > mostWordBlocks {
			continue
		}
		if h.words[n] == nil {
			h.words[n] = make([]float64, p.docs.Len())
		}
		counts = append(counts[:0], make([]uint16, p.docs.Len())...)
		for block := range blocks.All() {
			counts[docOf[block]]++
		}
		for _, doc := range p.candidates {
			if found := counts[doc]; found > 0 {
				all := int(p.docs.FirstBlock[doc+1] - p.docs.FirstBlock[doc])
				h.words[n][doc] += b.share * blockPoints(int(found), all)
			}
		}
	}
	return h.words[n]
}
