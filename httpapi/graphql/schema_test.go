package graphql_test

import (
	"testing"

	"github.com/trawlsearch/trawl/httpapi/graphql"
)

func TestSchema(t *testing.T) {
	e := &graphql.Endpoint{Data: func() *graphql.Data { return nil }}
	e.Routes()
}
