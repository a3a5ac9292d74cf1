package main

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/openapi"
)

// Each route is described, and nothing else is.
func TestOpenAPI(t *testing.T) {
	h := &host{set: config.Defaults(config.Machine{MemoryBytes: 1 << 30})}
	described := openapi.Operations()
	var routes []string
	for _, r := range h.newServer().Routes() {
		route := r.Method + " " + r.Template()
		routes = append(routes, route)
		if !slices.Contains(described, route) {
			t.Errorf("%s is in no description: add it to httpapi/openapi/openapi.json", route)
		}
	}
	for _, d := range described {
		if !slices.Contains(routes, d) {
			t.Errorf("httpapi/openapi/openapi.json describes %s, which is no route", d)
		}
	}
}
