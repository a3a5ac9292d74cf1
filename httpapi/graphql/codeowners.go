package graphql

import (
	"context"
	"errors"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
)

// ownersInput is the type CodeownersFileInput. A repository is named by its ID or its
// name.
type ownersInput struct {
	FileContents string
	RepoID       *graphql.ID
	RepoName     wire.String
}

// name returns the name of the repository that the input is about.
func (in *ownersInput) name(s *session) (string, error) {
	if in.RepoID == nil {
		return in.RepoName.Or(""), nil
	}
	r, err := s.knownRepository(*in.RepoID)
	if err != nil {
		return "", err
	}
	return r.Record().Name, nil
}

// onOwners makes a change of the file of a repository, for site admins.
func onOwners(ctx context.Context, in ownersInput, change func(files *manage.OwnersFiles, s *session, name string) error) (name string, err error) {
	s := sessionOf(ctx)
	if err := s.MustAdminNow(); err != nil {
		return "", err
	}
	if name, err = in.name(s); err != nil {
		return "", err
	}
	err = change(&manage.OwnersFiles{Store: s.Store, Registry: s.Registry, Now: s.Now}, s, name)
	s.Renew()
	return name, account.Told(err)
}

// ownersOf returns the file of a repository after a change.
func ownersOf(ctx context.Context, name string, err error) (*gitobject.OwnersFile, error) {
	if err != nil {
		return nil, err
	}
	r := sessionOf(ctx).repositoryNamed(name)
	if r == nil {
		return nil, errors.New("the repository is gone")
	}
	f, err := r.IngestedCodeowners()
	if err == nil && f == nil {
		err = errors.New("the file is gone")
	}
	return f, err
}

// AddCodeownersFile keeps a file for a repository that has none.
func (*resolver) AddCodeownersFile(ctx context.Context, args struct{ Input ownersInput }) (*gitobject.OwnersFile, error) {
	name, err := onOwners(ctx, args.Input, func(files *manage.OwnersFiles, s *session, name string) error {
		return files.Add(s.Actor, name, args.Input.FileContents)
	})
	return ownersOf(ctx, name, err)
}

// UpdateCodeownersFile puts another file in the place of the one that is there.
func (*resolver) UpdateCodeownersFile(ctx context.Context, args struct{ Input ownersInput }) (*gitobject.OwnersFile, error) {
	name, err := onOwners(ctx, args.Input, func(files *manage.OwnersFiles, s *session, name string) error {
		return files.Update(s.Actor, name, args.Input.FileContents)
	})
	return ownersOf(ctx, name, err)
}

// DeleteCodeownersFiles takes files away, up to the first that there is not.
func (*resolver) DeleteCodeownersFiles(ctx context.Context, args struct {
	Repositories []struct {
		RepoID   *graphql.ID
		RepoName wire.String
	}
}) (*wire.Empty, error) {
	for _, of := range args.Repositories {
		_, err := onOwners(ctx, ownersInput{RepoID: of.RepoID, RepoName: of.RepoName}, func(files *manage.OwnersFiles, s *session, name string) error {
			return files.Remove(s.Actor, name)
		})
		if err != nil {
			return nil, err
		}
	}
	return &wire.Empty{}, nil
}

// ownersConnection is the type CodeownersIngestedFileConnection.
type ownersConnection struct {
	Nodes      []*gitobject.OwnersFile
	TotalCount int32
	PageInfo   wire.Page
}

// CodeownersIngestedFiles lists the files of the repositories that can be seen.
func (*resolver) CodeownersIngestedFiles(ctx context.Context, args wire.PageArgs) (*ownersConnection, error) {
	s := sessionOf(ctx)
	all, err := s.OwnersFiles()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Repository().Name()
	}
	p, err := wire.CutByName(names, maxRepositories, args)
	if err != nil {
		return nil, err
	}
	return &ownersConnection{Nodes: all[p.From:p.To], TotalCount: wire.Int32(len(all)), PageInfo: p}, nil
}
