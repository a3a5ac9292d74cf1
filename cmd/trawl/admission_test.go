package main

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// Why an answer is not admitted.
const (
	assets   = "a part of the program is sent"
	health   = "a busy server tells that it lives"
	short    = "the answer is short"
	redirect = "the answer is a redirect"
	operator = "it is for the operator of this machine"
)

// notAdmitted are the routes whose answers need no admission, or ask for it
// themselves, and why.
var notAdmitted = map[string]string{
	"GET /.api/search/stream":                                "admission.Queue admits searches",
	"GET /search/stream":                                     "admission.Queue admits searches",
	"GET /.api/search/export":                                "admission.Queue admits searches",
	"GET /.api/search/export/{file}":                         "it is sent as it is read",
	"GET /-/assets/{version}/{name}":                         assets,
	"GET /.api/openapi.json":                                 assets,
	"GET /.api/graphql/schema.graphql":                       assets,
	"GET /healthz":                                           health,
	"GET /readyz":                                            health,
	"GET /metrics":                                           health,
	"GET /__version":                                         short,
	"GET /.api/src-cli/version":                              short,
	"GET /.api/client-config":                                short,
	"GET /opensearch.xml":                                    short,
	"GET /robots.txt":                                        short,
	"GET /-/check-username-taken/{name}":                     short,
	"GET /.well-known/openid-configuration":                  short,
	"GET /.well-known/oauth-authorization-server":            short,
	"GET /.well-known/oauth-protected-resource/.api/mcp":     short,
	"GET /.well-known/oauth-protected-resource/.api/mcp/v1":  short,
	"GET /.well-known/oauth-protected-resource/.api/mcp/all": short,
	"GET /.auth/idp/oauth/userinfo":                          short,
	"GET /":                                                  redirect,
	"GET /sign-in/{provider}":                                redirect,
	"GET /sign-in/{provider}/callback":                       redirect,
	"GET /-/sign-out":                                        redirect,
	"GET /settings":                                          redirect,
	"GET /user/settings":                                     redirect,
	"GET /user/settings/tokens":                              redirect,
	"GET /user/settings/authorised-apps":                     redirect,
	"GET /user/searches":                                     redirect,
	"GET /user/jobs":                                         redirect,
	"GET /user/contexts":                                     redirect,
	"GET /organizations/{org}/searches/{id}":                 redirect,
	"GET /.api/src-cli/{file}":                               redirect,
	"GET /.api/trawl/repositories":                           operator,
	"GET /.api/trawl/repositories/skipped":                   operator,
	"GET /.api/trawl/repositories/readers":                   operator,
	"GET /.api/trawl/repositories/pins":                      operator,
	"GET /.api/trawl/users":                                  operator,
	"GET /.api/trawl/tokens":                                 operator,
	"GET /.api/trawl/organizations":                          operator,
	"GET /.api/trawl/audit":                                  operator,
	"GET /.api/trawl/oauth-apps":                             operator,
	"GET /.api/trawl/status":                                 operator,
}

// Every answer that is made in memory is admitted by its bytes.
func TestRoutesAreAdmitted(t *testing.T) {
	h := &host{set: config.Defaults(config.Machine{MemoryBytes: 1 << 30})}
	left := map[string]bool{}
	for route := range notAdmitted {
		left[route] = true
	}
	for _, r := range h.newServer().Routes() {
		route := r.Method + " " + r.Template()
		if r.Method != "GET" && route != "POST /.api/graphql" && !strings.HasPrefix(route, "POST /.api/mcp") {
			continue
		}
		delete(left, route)
		switch reason := notAdmitted[route]; {
		case r.Holds == 0 && reason == "":
			t.Errorf("%s says neither what it holds, in Route.Holds, nor in notAdmitted why it holds nothing", route)
		case r.Holds > 0 && reason != "":
			t.Errorf("%s holds %d bytes, and notAdmitted says %q", route, r.Holds, reason)
		}
	}
	for route := range left {
		t.Errorf("notAdmitted has %s, which is no route: %s", route, strings.ToLower(route))
	}
}
