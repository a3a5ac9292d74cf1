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

// confirmPhrase looks for the phrase in the text of the most promising documents
// that may hold it, if more may than can go first, and takes the promise from
// those that do not.
func (h *ranker) confirmPhrase(ctx context.Context, k int, b *target.Query) {
	most := h.task.TopDocuments
	if b.PhraseMatcher == nil || len(h.promise) <= most {
		return
	}
	may := h.sorted(func(key documentKey, p *promise) bool {
		phrase := h.plans[key.shard].phrases[k]
		return p.phrase && phrase != nil && phrase.Docs.Contains(key.doc)
	})
	if len(may) <= most {
		return
	}
	may = may[:min(len(may), phrasesPerTop*most)]
	// Neighbours in the store are read one after the other.
	slices.SortFunc(may, func(a, b TopDocument) int { return cmp.Or(a.Shard-b.Shard, int(a.Doc)-int(b.Doc)) })
	v := verify.New(h.pass, verify.Options{})
	defer func() { _ = v.Close() }() // an error of reading was reported when it was
	for _, at := range may {
		if ctx.Err() != nil {
			return
		}
		h.texts++
		holds, err := v.HoldsPhrase(ctx, h.task.Slot, h.plans[at.Shard].Plan, h.plans[at.Shard].phrases[k], k, at.Doc)
		if err != nil {
			h.fail(h.plans[at.Shard], err)
			continue
		}
		h.promise[documentKey{at.Shard, at.Doc}].phrase = holds
	}
}
