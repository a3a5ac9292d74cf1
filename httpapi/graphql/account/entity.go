package account

import (
	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// Entity is what a global id names.
type Entity struct{ Result any }

// ID is that of the entity.
func (n *Entity) ID() graphql.ID {
	return n.Result.(interface{ ID() graphql.ID }).ID()
}

func (n *Entity) ToUser() (*User, bool)               { v, ok := n.Result.(*User); return v, ok }
func (n *Entity) ToOrg() (*Org, bool)                 { v, ok := n.Result.(*Org); return v, ok }
func (n *Entity) ToAccessToken() (*accessToken, bool) { v, ok := n.Result.(*accessToken); return v, ok }
func (n *Entity) ToDefaultSettings() (*defaults, bool) {
	v, ok := n.Result.(*defaults)
	return v, ok
}

func (n *Entity) ToSavedSearch() (*savedSearch, bool) { v, ok := n.Result.(*savedSearch); return v, ok }
func (n *Entity) ToExternalService() (*externalService, bool) {
	v, ok := n.Result.(*externalService)
	return v, ok
}
func (n *Entity) ToSite() (*site, bool) { v, ok := n.Result.(*site); return v, ok }

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
