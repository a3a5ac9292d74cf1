package scope

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/query/search/commits"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// readContributors finds the paths for the filters of all basic queries. A
// revision whose history cannot be read is removed from the targets: nothing true
// can be said of its documents.
func readContributors(ctx context.Context, t *task.Task, queries []*target.Query) error {
	for _, b := range queries {
		if b.Commits != nil {
			continue // nothing that it finds is a file
		}
		b.Contributed = make([]map[target.Key]map[string]struct{}, len(b.Contributors))
		for n, f := range b.Contributors {
			b.Contributed[n] = map[target.Key]map[string]struct{}{}
			if err := readContributor(ctx, t, b, f, b.Contributed[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

func readContributor(ctx context.Context, t *task.Task, b *target.Query, f compile.ContributorFilter, contributed map[target.Key]map[string]struct{}) error {
	for repo := range b.Repositories.All() {
		for _, rev := range slices.Clone(repo.Revisions) {
			paths, ok, err := commits.AuthoredPaths(ctx, t, repo, rev, f.Commits())
			if err != nil {
				return err
			}
			contributed[repo.Key(rev)] = paths
			if !ok {
				b.Repositories.KeepRevisions(func(_ *target.Repository, other *target.Revision) bool { return other != rev })
			}
		}
	}
	return nil
}
