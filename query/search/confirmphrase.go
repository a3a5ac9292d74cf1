package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// phrasesPerHead is how many documents are looked into for the phrase, for each
// that may go first: what lists say of a sentence of common words is true of few.
const phrasesPerHead = 4

// confirmPhrase looks for the phrase in the text of the most promising documents
// that may hold it, if more may than can go first, and takes the promise from
// those that do not.
func (h *header) confirmPhrase(ctx context.Context, k int, b *basic) {
	most := h.run.set.Heads
	if b.phraseMatcher == nil || len(h.promise) <= most {
		return
	}
	may := h.sorted(func(key headKey, p *promise) bool {
		phrase := h.plans[key.shard].basics[k].phrase
		return p.phrase && phrase != nil && phrase.Contains(key.doc)
	})
	if len(may) <= most {
		return
	}
	may = may[:min(len(may), phrasesPerHead*most)]
	// Neighbours in the store are read one after the other.
	slices.SortFunc(may, func(a, b head) int { return cmp.Or(a.shard-b.shard, int(a.doc)-int(b.doc)) })
	v := newVerifier(h.pass, h.run.o, false)
	defer func() { _ = v.close() }() // an error of reading was reported when it was
	for _, at := range may {
		if ctx.Err() != nil {
			return
		}
		h.texts++
		holds, err := v.holdsPhrase(ctx, h.run.slot, h.plans[at.shard], k, at.doc)
		if err != nil {
			h.fail(h.plans[at.shard], err)
			continue
		}
		h.promise[headKey{at.shard, at.doc}].phrase = holds
	}
}

// holdsPhrase reports whether the phrase of basic query k stands in document i of
// p. A panic over it is an error.
func (v *verifier) holdsPhrase(ctx context.Context, at *admission.Slot, p *shardPlan, k int, i uint16) (holds bool, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
		v.doc.Release()
	}()
	if err := v.use(ctx, p, at); err != nil {
		return false, err
	}
	v.goTo(i)
	candidates := &p.basics[k].phraseAt
	blocks := v.blocks.Of(candidates, int(p.docs.FirstBlock[i]), int(p.docs.FirstBlock[i+1]))
	v.spans, holds, err = v.pass[k].phraseMatcher.Finder(candidates.Anchor).Find(v.spans[:0], &v.doc, blocks)
	return holds, err
}
