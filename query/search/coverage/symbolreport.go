package coverage

import (
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/shard"
)

// ReportSymbols reports what a search of symbols cannot look at: shards whose
// symbols have not been read, and documents that could not be parsed.
func ReportSymbols(t *task.Task, queries []*target.Query) {
	ofSymbols := slices.DeleteFunc(slices.Clone(queries), func(b *target.Query) bool { return !b.InSymbols })
	missing, failed := 0, 0
	for _, v := range target.Shards(t, ofSymbols) {
		switch {
		case t.Visible.IsShared(v.ID) && v.HasSymbols():
			// How many of the failures are of documents that the client may see is unknown.
		case v.HasSymbols():
			failed += v.Header.Symbols.Failed
		default:
			missing += documentsIn(t, v)
		}
	}
	missing += unparsed(ofSymbols)
	t.Report.Skips().Add(report.SymbolsMissing(missing))
	t.Report.Skips().Add(report.SymbolsFailed(failed))
}

// unparsed counts the files of revisions, whose symbols are not read.
func unparsed(queries []*target.Query) (n int) {
	seen := map[*target.Files]bool{}
	for _, b := range queries {
		if b.Repositories.IsLazy() {
			continue // none is searched at another revision than those indexed
		}
		for t := range b.Repositories.All() {
			for _, rev := range t.Revisions {
				if c := rev.Files; c != nil && !seen[c] {
					seen[c] = true
					n += len(c.Unindexed)
				}
			}
		}
	}
	return n
}

// documentsIn counts the documents of a shard that exist for the client.
func documentsIn(t *task.Task, v shard.View) int {
	if !t.Visible.IsShared(v.ID) {
		return v.Header.Documents
	}
	docs, err := v.Documents()
	if err != nil {
		t.FailShard(v.ID, err)
		return 0
	}
	n := 0
	for i := range docs.Len() {
		if t.Visible.Get(docs.Repository[i]) != nil {
			n++
		}
	}
	return n
}
