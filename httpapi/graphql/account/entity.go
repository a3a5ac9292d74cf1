package account

import (
	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// Entity is what a global id names.
type Entity = entity

type entity struct{ Result any }

// ID is that of the entity.
func (n *entity) ID() graphql.ID {
	return n.Result.(interface{ ID() graphql.ID }).ID()
}

func (n *entity) ToUser() (*user, bool)               { v, ok := n.Result.(*user); return v, ok }
func (n *entity) ToOrg() (*org, bool)                 { v, ok := n.Result.(*org); return v, ok }
func (n *entity) ToAccessToken() (*accessToken, bool) { v, ok := n.Result.(*accessToken); return v, ok }
func (n *entity) ToDefaultSettings() (*defaults, bool) {
	v, ok := n.Result.(*defaults)
	return v, ok
}

func (n *entity) ToSavedSearch() (*savedSearch, bool) { v, ok := n.Result.(*savedSearch); return v, ok }
func (n *entity) ToExternalService() (*externalService, bool) {
	v, ok := n.Result.(*externalService)
	return v, ok
}
func (n *entity) ToSite() (*site, bool) { v, ok := n.Result.(*site); return v, ok }

// Find finds what a global id names; nil is none.
func (s *Session) Find(id graphql.ID) (any, error) {
	switch wire.KindOf(id) {
	case wire.KindUser:
		return wire.OrNone(s.userOf(id))
	case wire.KindOrg:
		return wire.OrNone(s.orgOf(id))
	case wire.KindToken:
		return wire.OrNone(s.tokenOf(id))
	case wire.KindService:
		return wire.OrNone(s.serviceOf(id))
	case wire.KindSavedSearch:
		return wire.OrNone(s.savedSearchOf(id))
	case wire.KindDefaultSettings:
		return &defaults{s}, nil
	case wire.KindSite:
		var key string
		if err := wire.ReadID(id, wire.KindSite, &key); err != nil || key != siteKey {
			return nil, err
		}
		return &site{s: s}, nil
	}
	return nil, wire.ErrID
}
