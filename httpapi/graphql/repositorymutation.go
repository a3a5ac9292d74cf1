package graphql

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/store"
)

// Repositories changes what is mirrored and known.
type Repositories interface {
	Remove(ctx context.Context, name string) error
	ChangeFacts(ctx context.Context, name string, c store.FactsChange) (*store.Repository, error)
	// Refresh has a repository synced soon, out of turn.
	Refresh(name string)
}

// The actions of this package in the audit log.
const (
	actionMetadata = "repository.metadata"
	actionRemove   = "repository.remove"
)

// repositoryMutation finds the repository of a mutation for site admins.
func (s *session) repositoryMutation(ctx context.Context, id graphql.ID) (*repository, error) {
	if err := mustAdminNow(ctx); err != nil {
		return nil, err
	}
	return s.knownRepository(id)
}

// knownRepository finds one that must be there.
func (s *session) knownRepository(id graphql.ID) (*repository, error) {
	r, err := s.repositoryOf(id)
	if err == nil && r == nil {
		err = refuse("repository not found")
	}
	return r, err
}

// audit writes what was done to a repository to the log.
func (s *session) audit(action, repository, detail string) error {
	return s.Registry.Log(s.actor.Author(), action, "repository:"+repository, detail)
}

// metadataArgs name a key and its value.
type metadataArgs struct {
	Repo  graphql.ID
	Key   string
	Value optString
}

// AddRepoMetadata adds a key that is not there.
func (*resolver) AddRepoMetadata(ctx context.Context, args metadataArgs) (*nothing, error) {
	return putMetadata(ctx, args, false)
}

// UpdateRepoMetadata changes a key that is there.
func (*resolver) UpdateRepoMetadata(ctx context.Context, args metadataArgs) (*nothing, error) {
	return putMetadata(ctx, args, true)
}

// AddRepoKeyValuePair is AddRepoMetadata under its older name.
func (r *resolver) AddRepoKeyValuePair(ctx context.Context, args metadataArgs) (*nothing, error) {
	return r.AddRepoMetadata(ctx, args)
}

// UpdateRepoKeyValuePair is UpdateRepoMetadata under its older name.
func (r *resolver) UpdateRepoKeyValuePair(ctx context.Context, args metadataArgs) (*nothing, error) {
	return r.UpdateRepoMetadata(ctx, args)
}

func putMetadata(ctx context.Context, args metadataArgs, there bool) (*nothing, error) {
	s := sessionOf(ctx)
	r, err := s.repositoryMutation(ctx, args.Repo)
	if err != nil {
		return nil, err
	}
	switch _, ok := r.rec.Metadata[args.Key]; {
	case args.Key == "":
		return nil, refuse("the key is empty")
	case ok && !there:
		return nil, refuse("the repository has the key %q already: update it", args.Key)
	case !ok && there:
		return nil, refuse("the repository has no key %q: add it", args.Key)
	}
	return s.changeFacts(ctx, r, store.FactsChange{Metadata: map[string]*string{args.Key: args.Value.value}}, args.Key)
}

// DeleteRepoMetadata takes a key away, whatever its value.
func (*resolver) DeleteRepoMetadata(ctx context.Context, args metadataArgs) (*nothing, error) {
	s := sessionOf(ctx)
	r, err := s.repositoryMutation(ctx, args.Repo)
	if err != nil {
		return nil, err
	}
	if _, ok := r.rec.Metadata[args.Key]; !ok {
		return nil, refuse("the repository has no key %q", args.Key)
	}
	return s.changeFacts(ctx, r, store.FactsChange{RemoveMetadata: []string{args.Key}}, args.Key)
}

// DeleteRepoKeyValuePair is DeleteRepoMetadata under its older name.
func (r *resolver) DeleteRepoKeyValuePair(ctx context.Context, args metadataArgs) (*nothing, error) {
	return r.DeleteRepoMetadata(ctx, args)
}

func (s *session) changeFacts(ctx context.Context, r *repository, c store.FactsChange, key string) (*nothing, error) {
	if _, err := s.Repositories.ChangeFacts(ctx, r.rec.Name, c); err != nil {
		return nil, told(err)
	}
	s.renew()
	return &nothing{}, s.audit(actionMetadata, r.rec.Name, key)
}

// DeleteRepository forgets a repository. One that an external service has comes
// back with its next sync, unless that has dropped it.
func (*resolver) DeleteRepository(ctx context.Context, args struct{ Repository graphql.ID }) (*nothing, error) {
	s := sessionOf(ctx)
	r, err := s.repositoryMutation(ctx, args.Repository)
	if err != nil {
		return nil, err
	}
	if err := s.Repositories.Remove(ctx, r.rec.Name); err != nil {
		return nil, told(err)
	}
	s.renew()
	return &nothing{}, s.audit(actionRemove, r.rec.Name, "")
}

// UpdateMirrorRepository is for everybody who may see the repository.
func (*resolver) UpdateMirrorRepository(ctx context.Context, args struct{ Repository graphql.ID }) (*nothing, error) {
	s := sessionOf(ctx)
	if err := s.mustSignIn(); err != nil {
		return nil, err
	}
	r, err := s.knownRepository(args.Repository)
	if err != nil {
		return nil, err
	}
	s.Repositories.Refresh(r.rec.Name)
	return &nothing{}, nil
}
