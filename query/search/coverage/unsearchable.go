package coverage

import (
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// ReportNoText reports documents whose content could have matched and cannot
// be searched. An answer with results leaves them to the trace; one without may
// not look as if all had been read. Binary files and submodules have no text, so
// they are news only to a query that selects them by their paths.
func (l *Ledger) ReportNoText() {
	var asking []*target.Query
	for _, b := range l.queries {
		if b.Documents && b.AskedPatterns() > 0 && (b.InContent || b.InSymbols) {
			asking = append(asking, b)
		}
	}
	counts := map[shard.Reason]int{}
	for _, v := range l.views { // what was not planned is reported
		if len(asking) == 0 || !mayLackText(v, asking) {
			continue
		}
		docs, err := v.Documents()
		if err != nil {
			continue
		}
		for _, i := range docs.Unsearchable() {
			for _, b := range asking {
				if b.ExpectsText(docs.Reason[i]) && b.PathsHold(docs.Path(int(i))) && b.Repositories.Get(docs.Repository[i]).DocumentsIn(v, nil).Holds(i) {
					counts[docs.Reason[i]]++
					break
				}
			}
		}
	}
	for _, byReason := range l.unsearchable {
		for reason, n := range byReason {
			if slices.ContainsFunc(asking, func(b *target.Query) bool { return b.ExpectsText(reason) }) {
				counts[reason] += n
			}
		}
	}
	l.task.Report.Skips().Add(report.NoText(counts))
}

// mayLackText reports whether a shard may have documents whose text one of some queries
// would have been looked for in. Its header says so, but for shards of older programs.
func mayLackText(v shard.View, asking []*target.Query) bool {
	if v.Header.Reasons == nil {
		return true
	}
	for reason, n := range v.Header.Reasons {
		why := shard.Reason(reason)
		if n > 0 && why != shard.Searchable && slices.ContainsFunc(asking, func(b *target.Query) bool { return b.ExpectsText(why) }) {
			return true
		}
	}
	return false
}
