package graphql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// resolver is the types Query and Mutation. What a request needs is in its
// session.
type resolver struct {
	account.Root
	e *Endpoint
}

// node is the interface Node.
type node struct{ gitobject.Entity }

func (n *node) ToSearchContext() (*searchContext, bool) {
	v, ok := n.Result.(*searchContext)
	return v, ok
}

func (n *node) ToSearchJob() (*searchJob, bool) { v, ok := n.Result.(*searchJob); return v, ok }

// Node finds an entity by its global id. One that is not there, or may not be
// seen, is null.
func (*resolver) Node(ctx context.Context, args struct{ ID graphql.ID }) (*node, error) {
	s := sessionOf(ctx)
	find, ok := finders[wire.KindOf(args.ID)]
	if !ok {
		find = func(ctx context.Context, s *session, id graphql.ID) (any, error) { return s.FindObject(ctx, id) }
	}
	found, err := find(ctx, s, args.ID)
	if err != nil || found == nil {
		return nil, err
	}
	return &node{gitobject.Entity{Entity: account.Entity{Result: found}}}, nil
}

// finders find entities of the kinds of ids. They return nil for none.
var finders = map[string]func(ctx context.Context, s *session, id graphql.ID) (any, error){
	wire.KindSearchJob: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		return wire.OrNone(s.jobOf(id))
	},
	wire.KindContext: func(_ context.Context, s *session, id graphql.ID) (any, error) {
		spec, err := specOf(id)
		if err != nil {
			return nil, err
		}
		return wire.OrNone(s.contextOf(spec))
	},
}

// Repository finds one by its name or by where it comes from.
func (*resolver) Repository(ctx context.Context, args struct{ Name, CloneURL, URI wire.String }) (*gitobject.Repository, error) {
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
	var found *gitobject.Repository
	var err error
	if hashed := args.HashedName.Or(""); hashed != "" && args.Name.Or("") == "" && args.CloneURL.Or("") == "" {
		for _, rec := range s.VisibleRepositories() {
			if sum := sha256.Sum256([]byte(rec.Name)); hex.EncodeToString(sum[:]) == hashed {
				found = s.Repository(rec)
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
type redirect struct{ repo *gitobject.Repository }

func (r *redirect) ToRepository() (*gitobject.Repository, bool) { return r.repo, true }
func (r *redirect) ToRedirect() (*struct{ URL string }, bool)   { return nil, false }

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
