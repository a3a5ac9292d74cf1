package scope

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/query/search/commits"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
)

// readContributors finds the paths for the filters of all basic queries. A
// revision whose history cannot be read is taken from the targets: nothing true
// can be said of its documents.
func (r *Scope) readContributors(ctx context.Context) error {
	for _, b := range r.queries {
		if b.Commits != nil {
			continue // nothing that it finds is a file
		}
		b.Contributed = make([]map[target.Key]map[string]struct{}, len(b.Contributors))
		for n, f := range b.Contributors {
			b.Contributed[n] = map[target.Key]map[string]struct{}{}
			if err := r.readContributor(ctx, b, f, b.Contributed[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Scope) readContributor(ctx context.Context, b *target.Query, f compile.ContributorFilter, contributed map[target.Key]map[string]struct{}) (err error) {
	for t := range b.Repositories.All() {
		for _, rev := range slices.Clone(t.Revisions) {
			paths, ok, err := commits.AuthoredPaths(ctx, r.Task, t, rev, f.Commits())
			if err != nil {
				return err
			}
			contributed[t.Key(rev)] = paths
			if !ok {
				b.Repositories.KeepRevisions(func(_ *target.Repository, other *target.Revision) bool { return other != rev })
			}
		}
	}
	return nil
}
