package scope

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
)

// selectRepositories sets the repositories of b. Repositories come in listing order.
func selectRepositories(b *target.Query, repos []*store.Repository, shown func(*store.Repository) *query.Repository, sel *selection) {
	f := b.Query.RepositoryFilter
	var chosen, leftOut []*target.Repository
	for _, r := range repos {
		if !f.Matches(r) {
			continue
		}
		t := &target.Repository{Stored: r, Shown: shown(r)}
		if fork, archived := f.LeftOut(r); fork || archived {
			if fork {
				sel.forks[r.ID] = true
			}
			if archived {
				sel.archived[r.ID] = true
			}
			leftOut = append(leftOut, t)
			continue
		}
		if len(b.Revisions) == 0 {
			sel.lacking.add(r.Name, f.Typed()...)
			continue
		}
		if !r.Indexed() {
			switch target.WhyNotIndexed(r) {
			case report.ReasonMissing:
				sel.missing = append(sel.missing, r)
			case report.ReasonCloning:
				sel.cloning = append(sel.cloning, r)
			default:
				sel.indexing = append(sel.indexing, r)
			}
		}
		chosen = append(chosen, t)
	}
	b.Repositories, b.LeftOut = target.NewSet(chosen...), target.NewSet(leftOut...)
}

// branchOf returns the number of the indexed branch that rev names, by its name
// or the beginning of its commit, or -1.
func branchOf(r *store.Repository, rev string) int {
	if rev == "HEAD" || rev == "" {
		return 0
	}
	name := strings.TrimPrefix(rev, "refs/heads/")
	if n := slices.IndexFunc(r.Branches, func(b store.Branch) bool { return b.Name == name }); n >= 0 && name != "" {
		return n
	}
	if len(rev) < shortestHash {
		return -1
	}
	rev = strings.ToLower(rev)
	return slices.IndexFunc(r.Branches, func(b store.Branch) bool { return strings.HasPrefix(b.Commit, rev) })
}

// shortestHash is how long the beginning of a commit's id must be.
const shortestHash = 4

// commitOf returns the commit of an indexed branch, "" if there is none.
func commitOf(r *store.Repository, branch int) string {
	if branch >= len(r.Branches) {
		return ""
	}
	return r.Branches[branch].Commit
}

// showRepository returns what matches carry of a repository.
func showRepository(r *store.Repository) *query.Repository {
	return &query.Repository{
		ID: r.ID, Name: r.Name, Stars: r.Stars, LastFetched: r.LastFetched, Description: r.Description,
		Fork: r.Fork, Archived: r.Archived, Private: r.Private, Topics: r.Topics, Metadata: r.Metadata,
	}
}
