package ingest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// SkippedDocument is a file whose content cannot be searched; its path can.
type SkippedDocument struct {
	Path string
	// Reason is "binary", "too-large", "submodule", "missing-object" or
	// "corrupt-object".
	Reason string
	// Bytes is the size of the file, 0 if unknown.
	Bytes int64
}

// Skipped yields the documents of r's generation whose content is not searched,
// by path. Versions of a file on several branches that are reported alike come
// once.
func Skipped(sn *store.Snapshot, r *store.Repository, f func(SkippedDocument) error) error {
	var all []SkippedDocument
	for _, id := range r.Shards {
		v, ok := sn.Shard(id)
		if !ok {
			continue
		}
		docs, err := v.Documents()
		if err != nil {
			return err
		}
		for i := range docs.Len() {
			if docs.Repository[i] != r.ID || docs.Reason[i] == shard.Searchable || v.Dead != nil && v.Dead.Contains(uint16(i)) {
				continue
			}
			all = append(all, SkippedDocument{docs.Path(i), docs.Reason[i].String(), int64(docs.FileBytes[i])})
		}
	}
	slices.SortFunc(all, func(a, b SkippedDocument) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason), cmp.Compare(a.Bytes, b.Bytes))
	})
	for _, d := range slices.Compact(all) {
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}
