package oauth

import (
	"net/http"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// base is how the client of a request reaches the server.
func (s *Server) base(r *http.Request) string { return auth.BaseURL(s.Site.ExternalURL, r) }

// metadata is the discovery document (RFC 8414, and the same of OpenID
// Connect).
type metadata struct {
	Issuer            string   `json:"issuer"`
	Authorization     string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Device            string   `json:"device_authorization_endpoint"`
	Revocation        string   `json:"revocation_endpoint"`
	Introspection     string   `json:"introspection_endpoint"`
	UserInfo          string   `json:"userinfo_endpoint"`
	Registration      string   `json:"registration_endpoint,omitempty"`
	Scopes            []string `json:"scopes_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	ResponseModes     []string `json:"response_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	ChallengeMethods  []string `json:"code_challenge_methods_supported"`
	TokenAuth         []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth    []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuth []string `json:"introspection_endpoint_auth_methods_supported"`
	Subjects          []string `json:"subject_types_supported"`
	Claims            []string `json:"claims_supported"`
	IssuerInRedirect  bool     `json:"authorization_response_iss_parameter_supported"`
	RequestParameter  bool     `json:"request_parameter_supported"`
	RequestURI        bool     `json:"request_uri_parameter_supported"`
}

func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) error {
	base := s.base(r)
	secrets := []string{"client_secret_basic", "client_secret_post"}
	registration := ""
	if s.Registers != nil && s.Registers() {
		registration = base + RegisterPath
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // it holds nothing
	return serveJSON(w, http.StatusOK, metadata{
		Issuer: base, Authorization: base + AuthorizePath, Token: base + TokenPath, Device: base + DeviceCodePath,
		Revocation: base + RevokePath, Introspection: base + IntrospectPath, UserInfo: base + UserInfoPath, Registration: registration,
		Scopes: kept.Scopes(), ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, GrantTypes: grantTypes,
		ChallengeMethods: []string{"S256"}, TokenAuth: append(secrets, "none"), RevocationAuth: append(secrets, "none"),
		IntrospectionAuth: secrets, Subjects: []string{"public"}, IssuerInRedirect: true,
		Claims: strings.Fields("sub name preferred_username email email_verified"),
	})
}
