package gitobject

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// Entity is what a global id names, git objects included.
type Entity struct{ account.Entity }

// ToRepository tells whether it is a repository; the others are alike.
func (n *Entity) ToRepository() (*Repository, bool) { v, ok := n.Result.(*Repository); return v, ok }
func (n *Entity) ToGitCommit() (*Commit, bool)      { v, ok := n.Result.(*Commit); return v, ok }
func (n *Entity) ToGitRef() (*Ref, bool)            { v, ok := n.Result.(*Ref); return v, ok }

// RepositoryOf finds a repository by its global id; nil is none.
func (s *Session) RepositoryOf(id graphql.ID) (*Repository, error) {
	n, err := wire.NumberOf(id, wire.KindRepository)
	if err != nil {
		return nil, err
	}
	if r := s.ByID(n); r != nil {
		return s.Repository(r), nil
	}
	return nil, nil
}

// FindObject finds what a global id names; nil is none.
func (s *Session) FindObject(ctx context.Context, id graphql.ID) (any, error) {
	switch wire.KindOf(id) {
	case wire.KindRepository:
		return wire.OrNone(s.RepositoryOf(id))
	case wire.KindCommit:
		var key commitKey
		if err := wire.ReadID(id, wire.KindCommit, &key); err != nil {
			return nil, err
		}
		r, err := s.RepositoryOf(key.Repository)
		if err != nil || r == nil {
			return nil, err
		}
		return wire.OrNone(r.commit(ctx, key.Commit))
	case wire.KindRef:
		var key refKey
		if err := wire.ReadID(id, wire.KindRef, &key); err != nil {
			return nil, err
		}
		r, err := s.RepositoryOf(key.Repository)
		if err != nil || r == nil {
			return nil, err
		}
		oid, err := r.resolve(ctx, key.Ref)
		if err != nil || oid == "" {
			return nil, err
		}
		return &Ref{repo: r, name: key.Ref, oid: oid, kind: "commit", commit: oid}, nil
	}
	return s.Find(id)
}
