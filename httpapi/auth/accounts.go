package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// accounts finds out whom a credential stands for.
type accounts struct {
	registry *identity.Registry
	bearers  Bearers // nil if no bearer token is good
}

// byText returns the actor of an access token or a bearer token. Clients that know one
// of the two schemes send both kinds by it.
func (in accounts) byText(ctx context.Context, cred credential) (*Actor, error) {
	if cred.as != "" {
		return in.byToken(cred)
	}
	a, err := in.byBearer(ctx, cred)
	if err == nil || cred.kind == bearerToken && !errors.Is(err, errInvalidBearer) {
		return a, err
	}
	a, tokenErr := in.byToken(cred)
	if cred.kind == bearerToken && errors.Is(tokenErr, errInvalidToken) {
		return nil, err
	}
	return a, tokenErr
}

func (in accounts) byToken(cred credential) (*Actor, error) {
	if in.registry.TokenPolicy().Allow == identity.TokensNone {
		return nil, errTokensOff
	}
	t, u, err := in.registry.CheckToken(cred.secret)
	if err != nil {
		return nil, denied(err, errInvalidToken)
	}
	a := &Actor{User: u, Token: t, Scopes: t.Scopes, until: t.Expires}
	if cred.as == "" {
		if !t.Has(identity.ScopeAll) && !t.Has(identity.ScopeMCP) {
			return nil, errInvalidToken
		}
		return a, in.complete(a)
	}
	switch {
	case !t.Has(identity.ScopeSudo):
		return nil, errInvalidToken
	case !u.SiteAdmin:
		return nil, errSudoAdmin
	}
	subject, err := in.registry.UserNamed(cred.as)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && subject.Locked:
		return nil, errSudoNobody
	case err != nil:
		return nil, errSudo(err)
	}
	a.User, a.Real = subject, u
	if err := in.registry.LogSudo(a.Author(), t.ID, subject.ID); err != nil {
		return nil, errSudo(err)
	}
	return a, in.complete(a)
}

func (in accounts) byBearer(ctx context.Context, cred credential) (*Actor, error) {
	if in.bearers == nil {
		return nil, errInvalidBearer
	}
	b, err := in.bearers.Bearer(ctx, cred.secret)
	if err != nil {
		return nil, denied(err, errInvalidBearer)
	}
	u, err := in.registry.User(b.User)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Locked {
		return nil, errInvalidBearer
	}
	if err != nil {
		return nil, errInternal(err)
	}
	a := &Actor{User: u, Client: b.Client, Scopes: b.Scopes, until: b.Expires}
	if a.Scopes == nil {
		a.Scopes = []string{}
	}
	return a, in.complete(a)
}

func (in accounts) bySession(cred credential) (*Actor, error) {
	session, u, err := in.registry.CheckSession(cred.secret)
	if errors.Is(err, identity.ErrNoCredential) {
		return &Actor{}, nil
	}
	if err != nil {
		return nil, errInternal(err)
	}
	a := &Actor{User: u, Session: true, until: in.registry.SessionEnds(session)}
	return a, in.complete(a)
}

// complete fills in the actor from the user's records, and notes the use.
func (in accounts) complete(a *Actor) error {
	var err error
	if a.Orgs, err = in.registry.OrgsOf(a.User.ID); err != nil {
		return errInternal(err)
	}
	seen, token := a.User.ID, uint32(0)
	if a.Real != nil {
		seen = a.Real.ID
	}
	if a.Token != nil {
		token = a.Token.ID
	}
	in.registry.NoteUse(seen, token)
	return nil
}

// byVouched returns the actor of a user whom a proxy has signed in, whose account it makes
// if there is none.
func (in accounts) byVouched(ctx context.Context, by identity.Author, cred credential) (*Actor, error) {
	u, err := in.registry.AdmitVouched(ctx, by, cred.secret)
	return in.vouchedActor(u, err)
}

// byKnownVouched is byVouched that makes no account.
func (in accounts) byKnownVouched(cred credential) (*Actor, error) {
	u, err := in.registry.VouchedUser(cred.secret)
	if errors.Is(err, store.ErrNotFound) {
		return &Actor{}, nil
	}
	return in.vouchedActor(u, err)
}

func (in accounts) vouchedActor(u *identity.User, err error) (*Actor, error) {
	var rule *identity.RuleError
	if errors.As(err, &rule) {
		return nil, &Denied{Status: http.StatusForbidden, Message: rule.Text}
	}
	if err != nil {
		return nil, errInternal(err)
	}
	a := &Actor{User: u, Session: true}
	return a, in.complete(a)
}

// denied makes an answer of an error about a credential.
func denied(err error, bad *Denied) error {
	if errors.Is(err, identity.ErrNoCredential) {
		return bad
	}
	return errInternal(err)
}
