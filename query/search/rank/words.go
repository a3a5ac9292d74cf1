package rank

import (
	"cmp"
	"slices"

	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/target"
)

// Documents in which the words of a query stand all over are about it, whether
// or not they define any. How often is not known before text is read, but in how
// many blocks is: that is what lists say.

// mostWordBlocks is how many blocks of one pattern are counted in a shard: a word
// that has more tells nothing.
const mostWordBlocks = 1 << 14

// findWordy promises points to candidates by how many of their blocks have the
// patterns of b. It is asked when all shards are planned.
func (r *ranker) findWordy(k int, b *target.Query) {
	if b.InSymbols {
		return // its lists are of names
	}
	var most []TopDocument
	for n, p := range r.plans {
		if p == nil || r.candidates[n] == nil {
			continue
		}
		points := r.wordPoints(n, k, b)
		if points == nil {
			continue
		}
		for _, doc := range p.Candidates {
			at := TopDocument{n, doc, points[doc] * score.DocumentShare(p.Docs.Quality[doc], p.IsProse(doc))}
			if at.points == 0 || len(most) == r.task.TopDocuments && at.points <= most[len(most)-1].points {
				continue
			}
			i, _ := slices.BinarySearchFunc(most, at, func(a, b TopDocument) int {
				return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Doc, b.Doc))
			})
			most = slices.Insert(most[:min(len(most), r.task.TopDocuments-1)], min(i, r.task.TopDocuments-1), at)
		}
	}
	for _, at := range most {
		r.at(at.Shard, at.Doc)
	}
}

// wordPoints returns the points of the documents of a shard, nil if there are
// none, and keeps them, to be added to what else is known of these documents.
func (r *ranker) wordPoints(n, k int, b *target.Query) []float64 {
	p := r.plans[n]
	docOf := p.View.DocOf()
	var counts []uint16
	for a, at := range b.Atoms {
		blocks := p.Basics[k].Atoms[a].Content.Blocks
		if at.Silent || at.Negated || blocks == nil || blocks.Len() > mostWordBlocks {
			continue
		}
		if r.words[n] == nil {
			r.words[n] = make([]float64, p.Docs.Len())
		}
		counts = append(counts[:0], make([]uint16, p.Docs.Len())...)
		for block := range blocks.All() {
			counts[docOf[block]]++
		}
		for _, doc := range p.Candidates {
			if found := counts[doc]; found > 0 {
				all := int(p.Docs.FirstBlock[doc+1] - p.Docs.FirstBlock[doc])
				r.words[n][doc] += b.Share * score.BlockPoints(int(found), all)
			}
		}
	}
	return r.words[n]
}
