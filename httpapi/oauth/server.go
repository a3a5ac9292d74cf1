package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/handler/pkce"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// Where the endpoints are, below the server's URL.
const (
	AuthorizePath     = "/.auth/idp/oauth/authorize"
	TokenPath         = "/.auth/idp/oauth/token"
	DeviceCodePath    = "/.auth/idp/oauth/device/code"
	RevokePath        = "/.auth/idp/oauth/revoke"
	IntrospectPath    = "/.auth/idp/oauth/introspect"
	UserInfoPath      = "/.auth/idp/oauth/userinfo"
	RegisterPath      = "/.auth/idp/oauth/register"
	DevicePath        = "/device"
	OpenIDPath        = "/.well-known/openid-configuration"
	AuthorizationPath = "/.well-known/oauth-authorization-server"
)

// Server is the OAuth 2 server. Its fields are set before the first request and
// not changed afterwards.
type Server struct {
	// Book returns the apps and grants, nil while they cannot be looked up yet.
	Book func() *kept.Book
	// Site is the server that it is part of. It has a registry.
	Site *httpapi.Server
	// Registers reports whether apps may register themselves; nil lets none.
	Registers func() bool
	// Resources are the paths of what a token may be for alone (RFC 8707).
	Resources []string
	// Now is the clock for limits; nil is time.Now.
	Now func() time.Time

	prepareOnce sync.Once
	provider    *fosite.Fosite
	polls       polls
	// registrations are those of addresses.
	registrations *auth.Limiter
}

func (s *Server) prepare() {
	s.prepareOnce.Do(func() {
		if s.Now == nil {
			s.Now = time.Now
		}
		s.provider = s.newProvider()
		s.registrations = auth.NewLimiter(registrationsPerMinute, s.Site.Gate.Nodes)
	})
}

// newProvider puts the library's parts together.
func (s *Server) newProvider() *fosite.Fosite {
	st, texts := storage{s}, strategy{s}
	c := &fosite.Config{
		AccessTokenLifespan: kept.AccessLasts, AuthorizeCodeLifespan: kept.CodeLasts,
		RefreshTokenScopes:          []string{kept.ScopeOffline},
		ScopeStrategy:               fosite.ExactScopeStrategy,
		EnforcePKCEForPublicClients: true,
		ClientSecretsHasher:         hasher{},
		// How good a state is, is the client's own affair.
		MinParameterEntropy: 1,
		SanitationWhiteList: []string{"redirect_uri", "code_challenge", "code_challenge_method"},
	}
	code := &oauth2.AuthorizeExplicitGrantHandler{
		AccessTokenStrategy: texts, RefreshTokenStrategy: texts, AuthorizeCodeStrategy: texts,
		CoreStorage: st, TokenRevocationStorage: st, Config: c,
	}
	proof := &pkce.Handler{AuthorizeCodeStrategy: texts, Storage: st, Config: c}
	refresh := &oauth2.RefreshTokenGrantHandler{
		AccessTokenStrategy: texts, RefreshTokenStrategy: texts, TokenRevocationStorage: st, Config: c,
	}
	service := &oauth2.ClientCredentialsGrantHandler{
		HandleHelper: &oauth2.HandleHelper{AccessTokenStrategy: texts, AccessTokenStorage: st, Config: c}, Config: c,
	}
	c.AuthorizeEndpointHandlers.Append(code)
	c.AuthorizeEndpointHandlers.Append(proof)
	for _, h := range []fosite.TokenEndpointHandler{code, proof, refresh, service, deviceGrant{s}} {
		c.TokenEndpointHandlers.Append(h)
	}
	c.RevocationHandlers.Append(&oauth2.TokenRevocationHandler{
		TokenRevocationStorage: st, RefreshTokenStrategy: texts, AccessTokenStrategy: texts,
	})
	return fosite.NewOAuth2Provider(st, c)
}

// Routes returns the endpoints and pages.
func (s *Server) Routes() []httpapi.Route {
	s.prepare()
	routes := []httpapi.Route{
		{Method: "GET", Path: OpenIDPath, Handler: s.serveMetadata, Access: auth.ForClients, About: "where the OAuth endpoints are"},
		{Method: "GET", Path: AuthorizationPath, Handler: s.serveMetadata, Access: auth.ForClients},
		{Method: "GET", Path: AuthorizePath, Handler: s.serveAuthorize, Holds: httpapi.PageHolds, Access: auth.ForAnyone},
		{Method: "POST", Path: AuthorizePath, Handler: s.decideAuthorize, Access: auth.ForAnyone},
		{Method: "GET", Path: DevicePath, Handler: s.serveDevice, Holds: httpapi.PageHolds, Access: auth.ForAnyone, About: "let a program in that shows a code"},
		{Method: "POST", Path: DevicePath, Handler: s.decideDevice, Access: auth.ForAnyone},
		{Method: "POST", Path: TokenPath, Handler: openly(s.endpoint(s.serveToken)), Access: auth.ForClients},
		{Method: "POST", Path: DeviceCodePath, Handler: s.endpoint(s.serveDeviceCode), Access: auth.ForClients},
		{Method: "POST", Path: RevokePath, Handler: s.endpoint(s.serveRevoke), Access: auth.ForClients},
		{Method: "POST", Path: RegisterPath, Handler: openly(s.serveRegister), Access: auth.ForClients, About: "lets an agent become an app that users can let in"},
		{Method: "POST", Path: IntrospectPath, Handler: s.endpoint(s.serveIntrospect), Access: auth.ForClients},
		{Method: "GET", Path: UserInfoPath, Handler: s.serveUserInfo, Access: auth.ForAnyone},
		{Method: "POST", Path: UserInfoPath, Handler: s.serveUserInfo, Access: auth.ForAnyone},
	}
	for _, path := range []string{TokenPath, RegisterPath} {
		routes = append(routes, httpapi.Route{Method: "OPTIONS", Path: path, Handler: servePreflight, Access: auth.ForClients})
	}
	for i := range routes {
		routes[i].Handler = s.opened(routes[i].Handler)
	}
	return routes
}

var errOpening = &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}

// opened refuses requests until the store is open, and while it is not known what other
// nodes have changed: a code may have been made on one of them, or used there.
func (s *Server) opened(h httpapi.Handler) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.Book() == nil {
			w.Header().Set("Retry-After", "1")
			return errOpening
		}
		if err := s.Book().CatchUp(r.Context()); err != nil {
			return err
		}
		return h(w, r)
	}
}

// Bearer implements auth.Bearers.
func (s *Server) Bearer(_ context.Context, token string) (auth.Bearer, error) {
	book := s.Book()
	k, ok := kept.ParseText(kept.AccessText, token)
	if book == nil || !ok {
		return auth.Bearer{}, identity.ErrNoCredential
	}
	g, a, err := book.Grants.ByAccess(k)
	if errors.Is(err, kept.ErrNoGrant) {
		err = identity.ErrNoCredential
	}
	if err != nil {
		return auth.Bearer{}, err
	}
	return auth.Bearer{User: g.ID.User(), Client: g.App, Scopes: a.Scopes, Expires: a.Expires}, nil
}
