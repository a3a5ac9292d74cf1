package graphql

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
)

// onRepository makes a change of a repository, for site admins.
func onRepository(ctx context.Context, id graphql.ID, change func(m *manage.Operations, r *store.Repository) error) (*wire.Empty, error) {
	s := sessionOf(ctx)
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	r, err := s.knownRepository(id)
	if err != nil {
		return nil, err
	}
	if err := change(s.Manage(), r.Record()); err != nil {
		return nil, account.Told(err)
	}
	s.Renew()
	return &wire.Empty{}, nil
}

// knownRepository finds one that must be there.
func (s *session) knownRepository(id graphql.ID) (*gitobject.Repository, error) {
	r, err := s.RepositoryOf(id)
	if err == nil && r == nil {
		err = wire.Refuse("repository not found")
	}
	return r, err
}

// metadataArgs name a key and its value.
type metadataArgs struct {
	Repo  graphql.ID
	Key   string
	Value wire.String
}

// AddRepoMetadata adds a key that is not there.
func (*resolver) AddRepoMetadata(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return putMetadata(ctx, args, false)
}

// UpdateRepoMetadata changes a key that is there.
func (*resolver) UpdateRepoMetadata(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return putMetadata(ctx, args, true)
}

// AddRepoKeyValuePair is AddRepoMetadata under its older name.
func (r *resolver) AddRepoKeyValuePair(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return r.AddRepoMetadata(ctx, args)
}

// UpdateRepoKeyValuePair is UpdateRepoMetadata under its older name.
func (r *resolver) UpdateRepoKeyValuePair(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return r.UpdateRepoMetadata(ctx, args)
}

func putMetadata(ctx context.Context, args metadataArgs, there bool) (*wire.Empty, error) {
	return onRepository(ctx, args.Repo, func(m *manage.Operations, r *store.Repository) error {
		return m.PutMetadata(ctx, r, args.Key, args.Value.Value, there)
	})
}

// DeleteRepoMetadata takes a key away, whatever its value.
func (*resolver) DeleteRepoMetadata(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return onRepository(ctx, args.Repo, func(m *manage.Operations, r *store.Repository) error { return m.RemoveMetadata(ctx, r, args.Key) })
}

// DeleteRepoKeyValuePair is DeleteRepoMetadata under its older name.
func (r *resolver) DeleteRepoKeyValuePair(ctx context.Context, args metadataArgs) (*wire.Empty, error) {
	return r.DeleteRepoMetadata(ctx, args)
}

// DeleteRepository forgets a repository.
func (*resolver) DeleteRepository(ctx context.Context, args struct{ Repository graphql.ID }) (*wire.Empty, error) {
	return onRepository(ctx, args.Repository, func(m *manage.Operations, r *store.Repository) error { return m.RemoveRepository(ctx, r.Name) })
}

// ReindexRepository has all of a repository read again.
func (*resolver) ReindexRepository(ctx context.Context, args struct{ Repository graphql.ID }) (*wire.Empty, error) {
	return onRepository(ctx, args.Repository, func(m *manage.Operations, r *store.Repository) error { return m.ReindexRepository(r.Name) })
}

// UpdateMirrorRepository is for everybody who may see the repository.
func (*resolver) UpdateMirrorRepository(ctx context.Context, args struct{ Repository graphql.ID }) (*wire.Empty, error) {
	s := sessionOf(ctx)
	if err := s.MustSignIn(); err != nil {
		return nil, err
	}
	r, err := s.knownRepository(args.Repository)
	if err != nil {
		return nil, err
	}
	s.Repositories.Refresh(r.Record().Name)
	return &wire.Empty{}, nil
}
