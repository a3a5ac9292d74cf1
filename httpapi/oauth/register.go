package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// registrationsPerMinute are those of one address.
const registrationsPerMinute = 30

// registration is what an app says of itself (RFC 7591, section 2), as far as it counts
// here. The same is the answer, with what the server made of it.
type registration struct {
	Redirects     []string `json:"redirect_uris"`
	Auth          string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Name          string   `json:"client_name"`
	Scope         string   `json:"scope"`
}

// registered is the answer to an app that registered itself.
type registered struct {
	ID            string `json:"client_id"`
	Issued        int64  `json:"client_id_issued_at"`
	Secret        string `json:"client_secret,omitempty"`
	SecretExpires *int64 `json:"client_secret_expires_at,omitempty"`
	registration
}

// The errors of a registration (RFC 7591, section 3.2.2).
const (
	badRedirect = "invalid_redirect_uri"
	badMetadata = "invalid_client_metadata"
)

// authMethods are how an app may show who it is; "" is the first.
var authMethods = []string{"client_secret_basic", "client_secret_post", "none"}

// serveRegister lets an app register itself.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) error {
	if s.Registers == nil || !s.Registers() {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "no route"}
	}
	if wait := s.registrations.Wait(identity.AddressKey(auth.From(r.Context()).Address), s.Now()); wait > 0 {
		return auth.TooMany(wait)
	}
	ask, err := readRegistration(w, r)
	if err != nil {
		return serveJSON(w, http.StatusBadRequest, refusal{Code: badMetadata, Description: err.Error()})
	}
	n := kept.NewApp{Name: ask.Name, Kind: kept.Public, Redirects: ask.Redirects}
	if ask.Auth != "none" {
		n.Kind = kept.Confidential
	}
	by := auth.From(r.Context()).Author()
	by.Via = "client registration"
	secret, app, err := s.Book().Apps.Register(by, n)
	var rule *identity.RuleError
	switch {
	case errors.As(err, &rule):
		return serveJSON(w, http.StatusBadRequest, refusal{Code: codeOf(rule), Description: printable(rule.Text)})
	case errors.Is(err, kept.ErrFull):
		return answerError(w, r, err)
	case err != nil:
		return err
	}
	ask.Scope, ask.ResponseTypes = strings.Join(app.Scopes, " "), []string{"code"}
	ask.GrantTypes = []string{grantCode, grantRefresh}
	out := registered{ID: app.ID, Issued: app.Created.Unix(), Secret: secret, registration: ask}
	if secret != "" {
		out.SecretExpires = new(int64) // never by itself
	}
	return serveJSON(w, http.StatusCreated, out)
}

func codeOf(rule *identity.RuleError) string {
	if strings.Contains(rule.Text, "redirect URI") {
		return badRedirect
	}
	return badMetadata
}

var (
	errNoJSON     = errors.New("the body must be a JSON object of at most 16 KiB")
	errAuthMethod = errors.New("token_endpoint_auth_method must be none, client_secret_basic or client_secret_post")
	errGrantType  = errors.New("grant_types must have authorization_code, and response_types code")
)

// readRegistration decodes a registration and fills in the defaults. Members that do not
// count here are left out of the answer, as the RFC allows.
func readRegistration(w http.ResponseWriter, r *http.Request) (ask registration, err error) {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxFormBytes)).Decode(&ask); err != nil {
		return ask, errNoJSON
	}
	if ask.Auth == "" {
		ask.Auth = authMethods[0]
	}
	switch {
	case !slices.Contains(authMethods, ask.Auth):
		return ask, errAuthMethod
	case len(ask.GrantTypes) > 0 && !slices.Contains(ask.GrantTypes, grantCode),
		len(ask.ResponseTypes) > 0 && !slices.Contains(ask.ResponseTypes, "code"):
		return ask, errGrantType
	}
	if strings.TrimSpace(ask.Name) == "" {
		ask.Name = "A program without a name"
	}
	return ask, nil
}

// errTarget refuses a resource that is none of this server's (RFC 8707, section 2).
var errTarget = &fosite.RFC6749Error{
	ErrorField: "invalid_target", DescriptionField: "The requested resource is none of this server.", CodeField: http.StatusBadRequest,
}

// narrow judges the resource that an app wants a token for, "" for all of the server, and
// returns what is left of the scopes there. All resources are for agents: whether a token
// is good at one is seen by its scopes.
func (s *Server) narrow(r *http.Request, resource string, scopes []string) ([]string, error) {
	base := s.base(r)
	resource = strings.TrimSuffix(resource, "/")
	if resource == "" || resource == base {
		return scopes, nil
	}
	if path, ok := strings.CutPrefix(resource, base); ok && slices.Contains(s.Resources, path) {
		return forAgents(scopes), nil
	}
	return nil, errTarget
}

// forAgents are the scopes of a token of agents.
func forAgents(scopes []string) []string {
	out := []string{}
	for _, s := range scopes {
		switch s {
		case identity.ScopeAll, identity.ScopeMCP:
			if !slices.Contains(out, identity.ScopeMCP) {
				out = append(out, identity.ScopeMCP)
			}
		default:
			out = append(out, s)
		}
	}
	return out
}

// openly answers pages of all origins, too, since what they ask takes no credential that
// a browser adds.
func openly(h httpapi.Handler) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		return h(w, r)
	}
}

// servePreflight answers the question of a browser whether a page may ask.
func servePreflight(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	h.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
