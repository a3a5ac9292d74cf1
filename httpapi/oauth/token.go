package oauth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ory/fosite"

	kept "github.com/trawlsearch/trawl/store/oauth"
)

const usedTwice = "a code or refresh token was used a second time"

// serveToken gives tokens for a code, a device code, a refresh token, or the
// secret of a service account's app.
func (s *Server) serveToken(r *http.Request) (any, error) {
	kind := r.PostForm.Get("grant_type")
	if kind == "" {
		return nil, fosite.ErrInvalidRequest.WithHint("The parameter grant_type is missing.")
	}
	if !slices.Contains(grantTypes, kind) {
		return nil, fosite.ErrUnsupportedGrantType
	}
	ctx := withWhy(r.Context(), usedTwice)
	ask, err := s.provider.NewAccessRequest(ctx, r, &fosite.DefaultSession{})
	if err != nil {
		return nil, err
	}
	scopes, err := s.scopes(ask, kind)
	if err != nil {
		return nil, err
	}
	resource := r.PostForm.Get("resource")
	if scopes, err = s.narrow(r, resource, scopes); err != nil {
		return nil, err
	}
	if kind == grantRefresh || resource != "" {
		ctx = withNarrowed(ctx, scopes)
	}
	resp, err := s.provider.NewAccessResponse(ctx, ask)
	if err != nil {
		return nil, err
	}
	resp.SetTokenType("Bearer")
	resp.SetExpiresIn(kept.AccessLasts)
	resp.SetScopes(scopes)
	return resp.ToMap(), nil
}

// scopes returns those of the access token, and gives the request of a service
// account its grant.
func (s *Server) scopes(ask fosite.AccessRequester, kind string) (fosite.Arguments, error) {
	if kind == grantService {
		return s.serviceScopes(ask)
	}
	granted := ask.GetGrantedScopes()
	if kind == grantCode {
		granted = ask.GetRequestedScopes() // as the user saw them
	}
	wanted := strings.Fields(ask.GetRequestForm().Get("scope"))
	if kind != grantRefresh || len(wanted) == 0 {
		return granted, nil
	}
	for _, w := range wanted {
		if !granted.Has(w) {
			return nil, fosite.ErrInvalidScope.WithHint("A refresh token cannot get more than its user agreed to.")
		}
	}
	return wanted, nil
}

func (s *Server) serviceScopes(ask fosite.AccessRequester) (fosite.Arguments, error) {
	c, ok := ask.GetClient().(client)
	if !ok || c.app.Kind != kept.Service {
		return nil, fosite.ErrUnauthorizedClient.WithHint("Only the app of a service account gets tokens without a user.")
	}
	if len(ask.GetRequestedScopes()) == 0 {
		ask.SetRequestedScopes(c.GetScopes())
	}
	for _, scope := range ask.GetRequestedScopes() {
		ask.GrantScope(scope)
	}
	id, err := s.Book().Grants.NewID(c.app.Account)
	ask.SetID(id.String())
	return ask.GetGrantedScopes(), err
}

// serveRevoke ends a token with all others of its grant (RFC 7009). One that is
// not good is no error.
func (s *Server) serveRevoke(r *http.Request) (any, error) {
	if r.PostForm.Get("token") == "" {
		return nil, fosite.ErrInvalidRequest.WithHint("The parameter token is missing.")
	}
	return nil, s.provider.NewRevocationRequest(withWhy(r.Context(), "the app asked"), r)
}

// introspection describes a token (RFC 7662).
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Username  string `json:"username,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
	Issued    int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Issuer    string `json:"iss,omitempty"`
}

// serveIntrospect describes the tokens of a confidential app to that app.
// Tokens of others are reported as inactive.
func (s *Server) serveIntrospect(r *http.Request) (any, error) {
	c, err := s.provider.AuthenticateClient(r.Context(), r, r.PostForm)
	if err != nil {
		return nil, err
	}
	if c.IsPublic() {
		return nil, fosite.ErrInvalidClient.WithHint("Only an app with a secret may ask about tokens.")
	}
	if r.PostForm.Get("token") == "" {
		return nil, fosite.ErrInvalidRequest.WithHint("The parameter token is missing.")
	}
	out, err := s.introspect(r.PostForm.Get("token"), c.GetID())
	if out.Active {
		out.Issuer = s.base(r)
	}
	return out, err
}

func (s *Server) introspect(text, app string) (out introspection, err error) {
	g := &kept.Grant{}
	if k, ok := kept.ParseText(kept.AccessText, text); ok {
		var a *kept.Access
		if g, a, err = s.Book().Grants.ByAccess(k); err == nil {
			out = introspection{Scope: strings.Join(a.Scopes, " "), TokenType: "Bearer", Expires: a.Expires.Unix(), Issued: a.Created.Unix()}
		}
	} else if k, ok := kept.ParseText(kept.RefreshText, text); ok {
		if g, err = s.Book().Grants.ByRefresh(k); err == nil {
			out = introspection{Scope: strings.Join(g.Scopes, " "), Expires: g.Refresh.Expires.Unix(), Issued: g.Used.Unix()}
		}
	} else {
		return out, nil
	}
	if err != nil || g.App != app {
		return introspection{}, unlessGone(err)
	}
	u, err := s.Site.Gate.Registry().User(g.ID.User())
	if err != nil {
		return introspection{}, unlessGone(err)
	}
	out.Active, out.ClientID, out.Username, out.Subject = true, g.App, u.Name, subject(u)
	return out, nil
}
