package auth

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// Actor is the identity that a request acts as. Its zero value is the anonymous
// one. It does not change once it is in a context.
type Actor struct {
	// User is the user it acts as, nil for an anonymous request and for the
	// operator.
	User *identity.User
	// Real is the site admin whose token acts as User, nil if User is real.
	Real *identity.User
	// Orgs are the IDs of User's organisations, ascending.
	Orgs []uint32
	// Token is the access token, nil without one. Client is the OAuth client
	// of a bearer token, "" without one.
	Token  *identity.Token
	Client string
	// Session says that a session cookie stands for it, or a proxy that has signed the
	// user in: what a browser sends.
	Session bool
	// Scopes are those of the token or bearer token; nil is all.
	Scopes []string
	// Address is where the request came from.
	Address string

	// until is when the credential ends by itself, zero for never.
	until    time.Time
	operator bool
	// alone says that there has never been a user, and the request was made on
	// this machine.
	alone bool
}

type actorKey struct{}

// WithActor returns a context with an actor, for tests and for calls that no
// request made.
func WithActor(ctx context.Context, a *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// From returns the actor of a context; the anonymous one if there is none.
func From(ctx context.Context) *Actor {
	if a, ok := ctx.Value(actorKey{}).(*Actor); ok {
		return a
	}
	return &Actor{}
}

// OperatorActor is the actor with access to the data directory.
func OperatorActor() *Actor { return &Actor{operator: true} }

// Anonymous reports whether the actor is neither a user nor the operator.
func (a *Actor) Anonymous() bool { return a.User == nil && !a.operator }

// Operator reports whether the actor has the data directory itself.
func (a *Actor) Operator() bool { return a.operator }

// Is reports whether the actor is the user with this ID, not the operator.
func (a *Actor) Is(user uint32) bool { return a.User != nil && a.User.ID == user }

// UserID is the ID of the user, 0 for an anonymous request and for the
// operator.
func (a *Actor) UserID() uint32 {
	if a.User == nil {
		return 0
	}
	return a.User.ID
}

// IsOrAdministers reports whether the actor is the user with this ID or may
// administer the site.
func (a *Actor) IsOrAdministers(user uint32) bool { return a.SiteAdmin() || a.Is(user) }

// SiteAdmin reports whether the actor may administer the site.
func (a *Actor) SiteAdmin() bool { return a.operator || a.User != nil && a.User.SiteAdmin }

// Has reports whether the actor's credential has a scope.
func (a *Actor) Has(scope string) bool { return a.Scopes == nil || slices.Contains(a.Scopes, scope) }

// SeesAll reports whether no repository is hidden from the actor.
func (a *Actor) SeesAll() bool { return a.SiteAdmin() || a.alone }

// CanSee reports whether the actor may know that a repository exists, and all
// that is in it.
func (a *Actor) CanSee(r *store.Repository) bool {
	switch {
	case a.SeesAll():
		return true
	case r.IsGone():
		return false
	case r.Readers == nil:
		return true
	case a.User == nil:
		return false
	}
	return r.Readers.Allow(a.User.ID, a.Orgs)
}

// Visible is CanSee for the options of a search, nil if the actor sees all.
func (a *Actor) Visible() func(*store.Repository) bool {
	if a.SeesAll() {
		return nil
	}
	return a.CanSee
}

// Key names the actor where things belong to one: traces, limits.
func (a *Actor) Key() string {
	switch {
	case a.operator:
		return "operator"
	case a.User != nil:
		return fmt.Sprintf("user:%d", a.User.ID)
	}
	return "anonymous"
}

// Payer names the user whose allowance a request takes from. It is the same for
// all credentials of a user, so that another token brings no more; a token that
// acts as others takes from its own user. Without a user it is the address.
func (a *Actor) Payer() string {
	switch {
	case a.Real != nil:
		return (&Actor{User: a.Real}).Key()
	case a.Anonymous():
		return a.Key() + " " + identity.AddressKey(a.Address)
	}
	return a.Key()
}

// ClientKey names the client of a request where something is divided among
// clients: the account, or the address of a client that has none.
func (a *Actor) ClientKey() string {
	if a.User == nil {
		return a.Key() + " " + identity.AddressKey(a.Address)
	}
	return a.Key()
}

// Author is the actor as the audit log records it.
func (a *Actor) Author() identity.Author {
	out := identity.Author{Operator: a.operator, Via: a.via(), Address: a.Address, App: a.Client != ""}
	if a.User != nil {
		out.UserID, out.User = a.User.ID, a.User.Name
	}
	if a.Real != nil {
		out.RealID, out.Real = a.Real.ID, a.Real.Name
	}
	return out
}

func (a *Actor) via() string {
	switch {
	case a.operator:
		return "command line"
	case a.Token != nil:
		return fmt.Sprintf("token %d", a.Token.ID)
	case a.Client != "":
		return "client " + a.Client
	case a.Session:
		return "session"
	}
	return ""
}
