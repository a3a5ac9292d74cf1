package commits

import (
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
)

// scope is a search of commits with what it searches.
type scope struct {
	*target.Query
	*compile.Commits
}
