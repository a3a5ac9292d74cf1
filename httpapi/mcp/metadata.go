package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// metadataPath stands before the path of a protected resource in the path of its
// metadata (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata tells a client where it gets a token for the endpoint.
type metadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
}

// serveMetadata tells of the resource whose path is in that of the request.
func (e *Endpoint) serveMetadata(w http.ResponseWriter, r *http.Request) error {
	base := auth.BaseURL(e.ExternalURL, r)
	text, err := json.Marshal(metadata{
		Resource: base + strings.TrimPrefix(r.URL.Path, metadataPath), AuthorizationServers: []string{base},
		Scopes: []string{identity.ScopeMCP}, BearerMethods: []string{"header"}, Name: "trawl code search",
	})
	if err != nil {
		return err
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // it holds nothing
	w.Header().Set("Content-Type", "application/json")
	return httpapi.WriteBody(w, r, http.StatusOK, text)
}
