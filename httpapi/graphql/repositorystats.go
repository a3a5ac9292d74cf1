package graphql

import (
	"context"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// repositoryStats is the type RepositoryStats.
type repositoryStats struct {
	s *session
	account.Counts
}

// RepositoryStats counts what can be seen.
func (*resolver) RepositoryStats(ctx context.Context) *repositoryStats {
	s := sessionOf(ctx)
	return &repositoryStats{s, s.CountRepositories()}
}

// GitDirBytes sums the sizes of the files.
func (r *repositoryStats) GitDirBytes() (wire.BigInt, error) {
	var sum wire.BigInt
	for _, rec := range r.s.VisibleRepositories() {
		n, err := r.s.FileBytes(rec)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// IndexedLinesCount sums the lines of the documents.
func (r *repositoryStats) IndexedLinesCount() (wire.BigInt, error) {
	var sum wire.BigInt
	for _, rec := range r.s.VisibleRepositories() {
		n, err := r.s.CountLines(rec)
		if err != nil {
			return 0, err
		}
		sum += wire.BigInt(n)
	}
	return sum, nil
}
