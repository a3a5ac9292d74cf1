package rank

import (
	"cmp"
	"context"
	"slices"

	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// phrasesPerTop is how many documents are looked into for the phrase, for each
// that may go first: what lists say of a sentence of common words is true of few.
const phrasesPerTop = 4

// mayHoldPerTop is how many documents are taken for holding the phrase, for each
// top document.
const mayHoldPerTop = 16

// findPhrase looks for documents that may hold the phrase: the first of them, and
// those of which something else is known.
func (r *ranker) findPhrase(k int, b *target.Query) {
	left := mayHoldPerTop * r.task.TopDocuments
	for n, p := range r.plans {
		if p == nil || p.phrases[k] == nil || r.candidates[n] == nil {
			continue
		}
		for doc := range p.withPhrase(k, r.candidates[n]) {
			if left--; left < 0 {
				break
			}
			r.at(n, doc).phrase = true
		}
		if left >= 0 {
			continue
		}
		for key, known := range r.evidence {
			if key.shard == n && p.phrases[k].Docs.Contains(key.doc) && r.candidates[n].contains(key.doc) && !p.IsUnindexed(key.doc) {
				known.phrase = true
			}
		}
	}
}

// confirmPhrase looks for the phrase in the text of the most promising documents
// that may hold it, if more may than can go first, and corrects
// what is known of those that do not.
func (r *ranker) confirmPhrase(ctx context.Context, k int, b *target.Query) {
	most := r.task.TopDocuments
	if b.PhraseMatcher == nil || len(r.evidence) <= most {
		return
	}
	may := r.sorted(func(key documentKey, e *evidence) bool {
		phrase := r.plans[key.shard].phrases[k]
		return e.phrase && phrase != nil && phrase.Docs.Contains(key.doc)
	})
	if len(may) <= most {
		return
	}
	may = may[:min(len(may), phrasesPerTop*most)]
	// Neighbours in the store are read one after the other.
	slices.SortFunc(may, func(a, b TopDocument) int { return cmp.Or(a.Shard-b.Shard, int(a.Doc)-int(b.Doc)) })
	v := verify.New(r.queries, verify.Options{})
	defer func() { _ = v.Close() }() // an error of reading was reported when it was
	for _, at := range may {
		if ctx.Err() != nil {
			return
		}
		r.texts++
		holds, err := v.HoldsPhrase(ctx, r.task.Slot, r.plans[at.Shard].Plan, r.plans[at.Shard].phrases[k], k, at.Doc)
		if err != nil {
			r.fail(r.plans[at.Shard], err)
			continue
		}
		r.evidence[documentKey{at.Shard, at.Doc}].phrase = holds
	}
}
