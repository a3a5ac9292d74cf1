package openapi

import (
	_ "embed" // the document
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

// Path is where the document is.
const Path = "/.api/openapi.json"

//go:embed openapi.json
var document []byte

// Routes returns the route of the document. Anybody may read it: it says
// nothing of what is here.
func Routes() []httpapi.Route {
	return []httpapi.Route{{Method: "GET", Path: Path, Handler: serve, Access: auth.ForPublic, About: "this surface, as OpenAPI 3.1"}}
}

func serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	return httpapi.WriteBody(w, r, http.StatusOK, document)
}

// Document returns the document. It is not to be changed.
func Document() []byte { return document }

// Operations returns what the document describes, such as "GET /healthz", in
// order.
func Operations() []string {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		panic("openapi: embedded document: " + err.Error())
	}
	var all []string
	for path, item := range doc.Paths {
		for name := range item {
			if method := strings.ToUpper(name); method != "PARAMETERS" {
				all = append(all, method+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
}
