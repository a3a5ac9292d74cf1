package gitobject

import (
	"context"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// TextSearchIndex tells what is searched.
func (r *Repository) TextSearchIndex() *textIndex { return &textIndex{r} }

// textIndex is the type RepositoryTextSearchIndex.
type textIndex struct{ repo *Repository }

func (t *textIndex) Repository() *Repository { return t.repo }
func (t *textIndex) Host() *indexHost        { return nil }

// Status is null before the repository was indexed.
func (t *textIndex) Status() *textIndexStatus {
	if !t.repo.rec.Indexed() {
		return nil
	}
	return &textIndexStatus{t.repo.s, t.repo.rec}
}

// Refs is the default branch.
func (t *textIndex) Refs() []*indexedRef {
	if main := t.repo.DefaultBranch(); main != nil {
		return []*indexedRef{{t.repo, main}}
	}
	return []*indexedRef{}
}

// textIndexStatus is the type RepositoryTextSearchIndexStatus.
type textIndexStatus struct {
	s   *Session
	rec *store.Repository
}

func (t *textIndexStatus) UpdatedAt() wire.DateTime                   { return wire.DateTime{Time: t.rec.LastIndexed} }
func (t *textIndexStatus) ContentByteSize() wire.BigInt               { return wire.BigInt(t.rec.TextBytes) }
func (t *textIndexStatus) ContentFilesCount() int32                   { return wire.Int32(t.rec.Documents) }
func (t *textIndexStatus) IndexShardsCount() int32                    { return wire.Int32(len(t.rec.Shards)) }
func (t *textIndexStatus) OtherBranchesNewLinesCount() int32          { return 0 }
func (t *textIndexStatus) DefaultBranchNewLinesCount() (int32, error) { return t.NewLinesCount() }

// IndexByteSize is that of the text: what the shards take on disk is known to
// the engine alone, and they hold other repositories too, which may be hidden.
func (t *textIndexStatus) IndexByteSize() wire.BigInt { return wire.BigInt(t.rec.TextBytes) }

// NewLinesCount counts the lines of all documents.
func (t *textIndexStatus) NewLinesCount() (int32, error) {
	n, err := t.s.CountLines(t.rec)
	return wire.Int32(n), err
}

// CountLines counts the lines of a repository's documents.
func (s *Session) CountLines(r *store.Repository) (int, error) {
	docs, err := s.documentsOf(r)
	if err != nil {
		return 0, err
	}
	n := 0
	docs.each(func(_ string, d document) { n += d.newlines() })
	return n, nil
}

// indexedRef is the type RepositoryTextSearchIndexedRef.
type indexedRef struct {
	repo *Repository
	ref  *Ref
}

func (r *indexedRef) Ref() *Ref              { return r.ref }
func (r *indexedRef) Indexed() bool          { return r.repo.rec.Indexed() }
func (r *indexedRef) IndexedCommit() *object { return r.ref.Target() }
func (r *indexedRef) SkippedIndexed() skippedFiles {
	return skippedFiles{Count: wire.BigInt(r.repo.rec.Skipped)}
}

// Current tells whether the branch is still at the commit that is indexed.
func (r *indexedRef) Current(ctx context.Context) (bool, error) {
	oid, err := r.repo.resolve(ctx, r.ref.name)
	return oid == r.ref.commit, err
}

// skippedFiles is the type SkippedFiles.
type skippedFiles struct {
	Count wire.BigInt
	Query string
}

// DiskSizeBytes is the size of the files, for site admins.
func (r *Repository) DiskSizeBytes() (*wire.BigInt, error) {
	if err := r.s.MustAdmin(); err != nil {
		return nil, err
	}
	n, err := r.s.FileBytes(r.rec)
	return &n, err
}

// contributor is the type RepositoryContributor.
type contributor struct {
	Person     account.Person
	Count      int32
	Repository *Repository
}

// contributorConnection is the type RepositoryContributorConnection.
type contributorConnection struct {
	Nodes      []*contributor
	TotalCount int32
	PageInfo   wire.Page
}

// maxContributors is how many a page may have.
const maxContributors = 1000

// Contributors lists who wrote it.
func (r *Repository) Contributors(ctx context.Context, args struct {
	First                          wire.Int
	RevisionRange, AfterDate, Path wire.String
}) (*contributorConnection, error) {
	at, err := r.commit(ctx, args.RevisionRange.Or(""))
	if err != nil {
		return nil, err
	}
	out := &contributorConnection{Nodes: []*contributor{}}
	if at == nil {
		if rev := args.RevisionRange.Or(""); rev != "" {
			return nil, errRevision(rev)
		}
		return out, nil
	}
	path, ok := code.CleanPath(args.Path.Or(""))
	if !ok {
		return nil, errPath(args.Path.Or(""))
	}
	if err := checkText(args.AfterDate.Or("")); err != nil {
		return nil, err
	}
	repo, err := r.command(ctx)
	if err != nil {
		return nil, err
	}
	people, err := repo.Contributors(ctx, at.oid, git.HistoryOptions{Path: path, After: args.AfterDate.Or("")})
	if err != nil {
		return nil, err
	}
	if out.PageInfo, err = wire.CutByIndex(len(people), maxContributors, wire.PageArgs{First: args.First}); err != nil {
		return nil, err
	}
	out.TotalCount = wire.Int32(len(people))
	for _, p := range people[out.PageInfo.From:out.PageInfo.To] {
		out.Nodes = append(out.Nodes, &contributor{account.Person{Name: p.Name, Email: p.Email}, wire.Int32(p.Commits), r})
	}
	return out, nil
}

// ExternalServices lists those that have the repository, for site admins.
func (r *Repository) ExternalServices(args struct{ First wire.Int }) (*account.ServiceConnection, error) {
	if err := r.s.MustAdmin(); err != nil {
		return nil, err
	}
	return r.s.ServicesOf(r.rec.ID, wire.ForwardArgs{First: args.First})
}
