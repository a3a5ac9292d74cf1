package oauth

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/ory/fosite"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// storage keeps for the library what it wants kept, in a book. The library
// thinks in sessions, one for each code and token; here they are all parts of
// one grant, whose ID is that of the library's requests.
type storage struct{ *Server }

// GetClient returns an app that may act, for the library.
func (s storage) GetClient(_ context.Context, id string) (fosite.Client, error) {
	a, err := s.app(id)
	if err != nil {
		return nil, err
	}
	return client{a}, nil
}

func (s storage) app(id string) (*kept.App, error) {
	a, err := s.Book().Apps.Get(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && (a.Disabled || s.Book().Apps.Over(a)) {
		return nil, fosite.ErrNotFound
	}
	return a, err
}

// errAssertion refuses signed assertions, which no app has a key for.
var errAssertion = errors.New("client assertions are not supported")

func (storage) ClientAssertionJWTValid(context.Context, string) error { return errAssertion }

func (storage) SetClientAssertionJWT(context.Context, string, time.Time) error { return errAssertion }

// exchange is what one request to the token endpoint is to change. The library
// says it piece by piece, and it is committed whole.
type exchange struct {
	// code and refresh are what is given back for the tokens, if it is.
	code, refresh *kept.Key
	tokens        kept.Tokens
	// revoke is the grant to end instead.
	revoke *kept.GrantID
}

type (
	exchangeKey struct{}
	narrowedKey struct{}
	whyKey      struct{}
)

// withNarrowed has the next access token have these scopes only.
func withNarrowed(ctx context.Context, scopes []string) context.Context {
	return context.WithValue(ctx, narrowedKey{}, scopes)
}

// withWhy sets the reason that the audit log records for a revoked grant.
func withWhy(ctx context.Context, why string) context.Context {
	return context.WithValue(ctx, whyKey{}, why)
}

// BeginTX begins an exchange.
func (storage) BeginTX(ctx context.Context) (context.Context, error) {
	return context.WithValue(ctx, exchangeKey{}, &exchange{}), nil
}

// Rollback forgets an exchange, nothing of which has been done.
func (storage) Rollback(context.Context) error { return nil }

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// Commit does what the exchange has come to.
func (s storage) Commit(ctx context.Context) error {
	switch x := exchangeOf(ctx); {
	case x.revoke != nil:
		return s.revoke(ctx, *x.revoke)
	case x.code != nil:
		return s.Book().Grants.Redeem(author(ctx), *x.code, x.tokens)
	case x.refresh != nil:
		return s.Book().Grants.Rotate(author(ctx), *x.refresh, x.tokens)
	}
	return nil
}

// author is the author of the request, for the audit log.
func author(ctx context.Context) identity.Author {
	by := auth.From(ctx).Author()
	if by.Via == "" {
		by.Via = "OAuth client"
	}
	return by
}

func (s storage) revoke(ctx context.Context, id kept.GrantID) error {
	why, _ := ctx.Value(whyKey{}).(string)
	return s.Book().Grants.Revoke(author(ctx), id, why)
}

// key reads a signature, which is "" for a text that is none.
func key(signature string) (kept.Key, error) {
	k, ok := kept.ParseKey(signature)
	if !ok {
		return k, fosite.ErrNotFound
	}
	return k, nil
}

// request makes of a grant the request that the library knows it by. An error
// about the grant becomes one of the library's, which wants the request with
// some of them.
func (s storage) request(g *kept.Grant, err, reused error) (fosite.Requester, error) {
	switch {
	case errors.Is(err, kept.ErrReused):
		err = reused
	case errors.Is(err, kept.ErrNoGrant):
		return nil, fosite.ErrNotFound
	case err != nil:
		return nil, err
	}
	a, appErr := s.app(g.App)
	if appErr != nil {
		return nil, appErr
	}
	r := fosite.NewRequest()
	r.ID, r.Client, r.RequestedAt = g.ID.String(), client{a}, g.Created
	r.RequestedScope, r.GrantedScope = g.Scopes, g.Scopes
	r.Session = &fosite.DefaultSession{Subject: strconv.FormatUint(uint64(g.ID.User()), 10)}
	r.Form = url.Values{}
	if c := g.Code; c != nil {
		set(r.Form, "redirect_uri", c.Redirect)
		set(r.Form, "code_challenge", c.Challenge)
		if c.Challenge != "" {
			r.Form.Set("code_challenge_method", "S256")
		}
	}
	return r, err
}

func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// CreateAuthorizeCodeSession begins the grant that a user has agreed to.
func (s storage) CreateAuthorizeCodeSession(ctx context.Context, signature string, r fosite.Requester) error {
	k, err := key(signature)
	if err != nil {
		return err
	}
	form := r.GetRequestForm()
	return s.Book().Grants.Agree(author(ctx), k, kept.Ask{
		App: r.GetClient().GetID(), Scopes: r.GetGrantedScopes(), Redirect: form.Get("redirect_uri"), Challenge: form.Get("code_challenge"),
	})
}

// GetAuthorizeCodeSession finds the grant that began with a code.
func (s storage) GetAuthorizeCodeSession(_ context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	k, err := key(signature)
	if err != nil {
		return nil, err
	}
	g, err := s.Book().Grants.ByCode(k)
	return s.request(g, err, fosite.ErrInvalidatedAuthorizeCode)
}

// InvalidateAuthorizeCodeSession has the exchange use up a code.
func (s storage) InvalidateAuthorizeCodeSession(ctx context.Context, signature string) error {
	k, err := key(signature)
	if err == nil {
		exchangeOf(ctx).code = &k
	}
	return err
}

// CreatePKCERequestSession does nothing: the challenge is kept with the code.
func (storage) CreatePKCERequestSession(context.Context, string, fosite.Requester) error { return nil }

// GetPKCERequestSession finds the challenge of a code; one without is not
// found.
func (s storage) GetPKCERequestSession(ctx context.Context, signature string, session fosite.Session) (fosite.Requester, error) {
	r, err := s.GetAuthorizeCodeSession(ctx, signature, session)
	if err == nil && r.GetRequestForm().Get("code_challenge") == "" {
		return nil, fosite.ErrNotFound
	}
	return r, err
}

// DeletePKCERequestSession does nothing: a wrong verifier must not rid a code of
// its challenge.
func (storage) DeletePKCERequestSession(context.Context, string) error { return nil }

// CreateAccessTokenSession has the exchange give out an access token. Only the
// grant of a service account needs no exchange for it.
func (s storage) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	k, err := key(signature)
	if err != nil {
		return err
	}
	t := kept.Tokens{Access: k, Scopes: r.GetGrantedScopes()}
	if narrowed, ok := ctx.Value(narrowedKey{}).([]string); ok {
		t.Scopes = narrowed
	}
	if x := exchangeOf(ctx); x != nil {
		x.tokens = t
		return nil
	}
	return s.Book().Grants.GiveService(author(ctx), r.GetClient().GetID(), t)
}

// GetAccessTokenSession finds the grant of an access token.
func (s storage) GetAccessTokenSession(_ context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	k, err := key(signature)
	if err != nil {
		return nil, err
	}
	g, _, err := s.Book().Grants.ByAccess(k)
	return s.request(g, err, fosite.ErrInactiveToken)
}

// DeleteAccessTokenSession does nothing: what ends a token ends its grant.
func (storage) DeleteAccessTokenSession(context.Context, string) error { return nil }

// CreateRefreshTokenSession has the exchange give out a refresh token.
func (s storage) CreateRefreshTokenSession(ctx context.Context, signature, _ string, _ fosite.Requester) error {
	k, err := key(signature)
	if err == nil {
		exchangeOf(ctx).tokens.Refresh = &k
	}
	return err
}

// GetRefreshTokenSession finds the grant of a refresh token.
func (s storage) GetRefreshTokenSession(_ context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	k, err := key(signature)
	if err != nil {
		return nil, err
	}
	g, err := s.Book().Grants.ByRefresh(k)
	return s.request(g, err, fosite.ErrInactiveToken)
}

// DeleteRefreshTokenSession does nothing: what ends a token ends its grant.
func (storage) DeleteRefreshTokenSession(context.Context, string) error { return nil }

// RotateRefreshToken has the exchange use up a refresh token.
func (s storage) RotateRefreshToken(ctx context.Context, _, signature string) error {
	k, err := key(signature)
	if err == nil {
		exchangeOf(ctx).refresh = &k
	}
	return err
}

// RevokeRefreshToken ends a grant.
func (s storage) RevokeRefreshToken(ctx context.Context, grant string) error {
	id, ok := kept.ParseGrantID(grant)
	if !ok {
		return fosite.ErrNotFound
	}
	if x := exchangeOf(ctx); x != nil {
		x.revoke = &id
		return nil
	}
	return s.revoke(ctx, id)
}

// RevokeAccessToken ends a grant.
func (s storage) RevokeAccessToken(ctx context.Context, grant string) error {
	return s.RevokeRefreshToken(ctx, grant)
}
