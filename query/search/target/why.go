package target

import (
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// WhyNotIndexed returns why a repository is not indexed yet. Only one whose
// source is elsewhere is cloned first.
func WhyNotIndexed(r *store.Repository) string {
	switch {
	case r.LastError != "":
		return report.ReasonMissing
	case r.Mirror && r.Fetched().IsZero():
		return report.ReasonCloning
	}
	return report.ReasonIndexing
}
