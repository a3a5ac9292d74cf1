package graphql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// resolver is the types Query and Mutation. What a request needs is in its
// session.
type resolver struct{ e *Endpoint }

// node is the interface Node.
type node struct{ result any }

// ID is that of the entity.
func (n *node) ID() graphql.ID {
	return n.result.(interface{ ID() graphql.ID }).ID()
}

// ToRepository tells whether it is a repository; the others are alike.
func (n *node) ToRepository() (*repository, bool) { v, ok := n.result.(*repository); return v, ok }
func (n *node) ToGitCommit() (*commit, bool)      { v, ok := n.result.(*commit); return v, ok }
func (n *node) ToGitRef() (*ref, bool)            { v, ok := n.result.(*ref); return v, ok }
func (n *node) ToSite() (*site, bool)             { v, ok := n.result.(*site); return v, ok }
func (n *node) ToSearchContext() (*searchContext, bool) {
	v, ok := n.result.(*searchContext)
	return v, ok
}

func (n *node) ToUser() (*user, bool)               { v, ok := n.result.(*user); return v, ok }
func (n *node) ToOrg() (*org, bool)                 { v, ok := n.result.(*org); return v, ok }
func (n *node) ToAccessToken() (*accessToken, bool) { v, ok := n.result.(*accessToken); return v, ok }
func (n *node) ToDefaultSettings() (*defaults, bool) {
	v, ok := n.result.(*defaults)
	return v, ok
}

func (n *node) ToSavedSearch() (*savedSearch, bool) { v, ok := n.result.(*savedSearch); return v, ok }
func (n *node) ToExternalService() (*externalService, bool) {
	v, ok := n.result.(*externalService)
	return v, ok
}
func (n *node) ToSearchJob() (*searchJob, bool) { v, ok := n.result.(*searchJob); return v, ok }

// Node finds an entity by its global id. One that is not there, or may not be
// seen, is null.
func (*resolver) Node(ctx context.Context, args struct{ ID graphql.ID }) (*node, error) {
	s := sessionOf(ctx)
	find, ok := finders[wire.KindOf(args.ID)]
	if !ok {
		return nil, wire.ErrID
	}
	found, err := find(ctx, s, args.ID)
	if err != nil || found == nil {
		return nil, err
	}
	return &node{found}, nil
}

// finders find entities of the kinds of ids. They return nil for none.
var finders = map[string]func(ctx context.Context, s *session, id graphql.ID) (any, error){
	wire.KindRepository: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.repositoryOf(id))
	},
	wire.KindCommit: func(ctx context.Context, s *session, id graphql.ID) (any, error) {
		var key commitKey
		if err := wire.ReadID(id, wire.KindCommit, &key); err != nil {
			return nil, err
		}
		r, err := s.repositoryOf(key.Repository)
		if err != nil || r == nil {
			return nil, err
		}
		return orNone(r.commit(ctx, key.Commit))
	},
	wire.KindRef: func(ctx context.Context, s *session, id graphql.ID) (any, error) {
		var key refKey
		if err := wire.ReadID(id, wire.KindRef, &key); err != nil {
			return nil, err
		}
		r, err := s.repositoryOf(key.Repository)
		if err != nil || r == nil {
			return nil, err
		}
		oid, err := r.resolve(ctx, key.Ref)
		if err != nil || oid == "" {
			return nil, err
		}
		return &ref{repo: r, name: key.Ref, oid: oid, kind: "commit", commit: oid}, nil
	},
	wire.KindSite: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		var key string
		if err := wire.ReadID(id, wire.KindSite, &key); err != nil || key != siteKey {
			return nil, err
		}
		return &site{s}, nil
	},
	wire.KindUser: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.userOf(id))
	},
	wire.KindOrg: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.orgOf(id))
	},
	wire.KindToken: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.tokenOf(id))
	},
	wire.KindService: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.serviceOf(id))
	},
	wire.KindSavedSearch: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.savedSearchOf(id))
	},
	wire.KindSearchJob: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return orNone(s.jobOf(id))
	},
	wire.KindDefaultSettings: func(_ context.Context, s *session, _ graphql.ID) (any, error) {
		return &defaults{s}, nil
	},
	wire.KindContext: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		var key string
		if err := wire.ReadID(id, wire.KindContext, &key); err != nil || key != globalContext {
			return nil, err
		}
		return &searchContext{s}, nil
	},
}

// orNone makes a nil pointer nothing at all.
func orNone[T any](v *T, err error) (any, error) {
	if err != nil || v == nil {
		return nil, err
	}
	return v, nil
}

// repositoryOf finds a repository by its global id; nil is none.
func (s *session) repositoryOf(id graphql.ID) (*repository, error) {
	n, err := wire.NumberOf(id, wire.KindRepository)
	if err != nil {
		return nil, err
	}
	if r := s.byID(n); r != nil {
		return s.repository(r), nil
	}
	return nil, nil
}

// Repository finds one by its name or by where it comes from.
func (*resolver) Repository(ctx context.Context, args struct{ Name, CloneURL, URI wire.String }) (*repository, error) {
	s := sessionOf(ctx)
	name := args.Name.Or(args.URI.Or(""))
	switch {
	case name != "":
		return s.repositoryNamed(name), nil
	case args.CloneURL.Or("") != "":
		return s.repositoryFrom(*args.CloneURL.Value), nil
	}
	return nil, wire.Refuse("neither name nor cloneURL given")
}

// RepositoryRedirect is never a redirect.
func (r *resolver) RepositoryRedirect(ctx context.Context, args struct{ Name, CloneURL, HashedName wire.String }) (*redirect, error) {
	s := sessionOf(ctx)
	var found *repository
	var err error
	if hashed := args.HashedName.Or(""); hashed != "" && args.Name.Or("") == "" && args.CloneURL.Or("") == "" {
		for _, rec := range s.repositories() {
			if sum := sha256.Sum256([]byte(rec.Name)); hex.EncodeToString(sum[:]) == hashed {
				found = s.repository(rec)
			}
		}
	} else {
		found, err = r.Repository(ctx, struct{ Name, CloneURL, URI wire.String }{args.Name, args.CloneURL, wire.String{}})
	}
	if err != nil || found == nil {
		return nil, err
	}
	return &redirect{found}, nil
}

// redirect is the union RepositoryRedirect.
type redirect struct{ repo *repository }

func (r *redirect) ToRepository() (*repository, bool)         { return r.repo, true }
func (r *redirect) ToRedirect() (*struct{ URL string }, bool) { return nil, false }

// flag is the type EvaluatedFeatureFlag.
type flag struct {
	Name  string
	Value bool
}

// EvaluateFeatureFlag is null: there are no flags.
func (*resolver) EvaluateFeatureFlag(struct{ FlagName string }) *bool { return nil }

// EvaluateFeatureFlags is empty.
func (*resolver) EvaluateFeatureFlags(struct{ FlagNames []string }) []flag { return []flag{} }

// EvaluatedFeatureFlags is empty.
func (*resolver) EvaluatedFeatureFlags() []flag { return []flag{} }

// eventArgs are the members of an event. All are dropped.
type eventArgs struct {
	Event, UserCookieID, URL, Source string
	Argument, PublicArgument         wire.String
	CohortID, Referrer, DeviceID     wire.String
	EventID                          wire.Int
	Client                           wire.String
}

// LogEvent drops what it is told.
func (*resolver) LogEvent(struct {
	eventArgs
	BillingProductCategory, BillingEventID wire.String
	ConnectedSiteID, HashedLicenseKey      wire.String
}) *wire.Empty {
	return &wire.Empty{}
}

// LogEvents drops what it is told.
func (*resolver) LogEvents(struct{ Events *[]eventArgs }) *wire.Empty { return &wire.Empty{} }

// Telemetry is where measurements go.
func (*resolver) Telemetry() telemetry { return telemetry{} }

type telemetry struct{}

// RecordEvents drops what it is told.
func (telemetry) RecordEvents(struct{ Events []wire.AnyJSON }) wire.Empty { return wire.Empty{} }
