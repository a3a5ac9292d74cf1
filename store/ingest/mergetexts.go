package ingest

import (
	"slices"

	"github.com/trawlsearch/trawl/store/shard"
)

// openTexts bounds the readers of text that a merge has open. A merge reads up to
// some thousand shards, and a reader that is open holds chunks, an iterator, and a
// file with the blocks that it stands on. The documents of a repository follow each
// other, so few shards are read in turn.
type openTexts struct {
	// recent are the readers in use, the last one at the end.
	recent []*shard.Text
}

// mostTexts is how many readers are open: those of a repository that was synced
// often before its shards were joined. They hold up to 10 MB.
const mostTexts = 32

// slice is Text.Slice of one of the readers.
func (o *openTexts) slice(t *shard.Text, lo, hi uint32) ([]byte, error) {
	if err := o.use(t); err != nil {
		return nil, err
	}
	return t.Slice(lo, hi)
}

// use makes t the last one, and closes the first for it. The one before gives back the
// memory of its slice: a large text that was kept would have the next one wait for ever.
func (o *openTexts) use(t *shard.Text) error {
	n := len(o.recent)
	if n > 0 {
		if o.recent[n-1] == t {
			return nil
		}
		o.recent[n-1].Shrink()
	}
	if i := slices.Index(o.recent, t); i >= 0 {
		o.recent = append(slices.Delete(o.recent, i, i+1), t)
		return nil
	}
	var err error
	if n == mostTexts {
		err = o.recent[0].Close()
		o.recent = slices.Delete(o.recent, 0, 1)
	}
	o.recent = append(o.recent, t)
	return err
}

// close closes all readers.
func (o *openTexts) close() {
	for _, t := range o.recent {
		_ = t.Close() // what it read was whole
	}
	o.recent = nil
}
