package target

import (
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// WhyNotIndexed returns why a repository is not indexed yet. Only one whose
// source is elsewhere is cloned first.
func WhyNotIndexed(r *store.Repository) string {
	switch {
	case store.MarkFailed.Of(r):
		return report.ReasonMissing
	case store.MarkUncloned.Of(r):
		return report.ReasonCloning
	}
	return report.ReasonIndexing
}

// NotIndexed returns those of some repositories that are not indexed yet, by the reason
// why: that of WhyNotIndexed.
func NotIndexed(sn *store.Snapshot, ids *store.IDs) map[string]*store.IDs {
	rest := ids.Clone()
	rest.Intersect(sn.MarkedIDs(store.MarkUnindexed))
	take := func(m store.Mark) *store.IDs {
		taken := rest.Clone()
		taken.Intersect(sn.MarkedIDs(m))
		rest.Subtract(taken)
		return taken
	}
	missing, cloning := take(store.MarkFailed), take(store.MarkUncloned)
	return map[string]*store.IDs{report.ReasonMissing: missing, report.ReasonCloning: cloning, report.ReasonIndexing: rest}
}
