package graphql_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// A local repository that is indexed for the first time is not being cloned, as in
// the stream. It is left out all the same, so there may be more results.
func TestIndexingIsNotCloning(t *testing.T) {
	w := newWorld(t)
	w.AddSource("lab/local=" + filepath.Join(w.Dir, "kiln"))
	for query, want := range map[string]string{
		"repo:lab/local glaze": `{"data":{"search":{"results":{"approximateResultCount":"0+","cloning":[],"missing":[],"timedout":[]}}}}`,
		"repo:lab/next glaze":  `{"data":{"search":{"results":{"approximateResultCount":"0+","cloning":[{"name":"lab/next"}],"missing":[],"timedout":[]}}}}`,
	} {
		got := w.ask(`query ($q: String!) { search(version: V3, query: $q) { results { approximateResultCount cloning { name } missing { name } timedout { name } } } }`, map[string]any{"q": query})
		if got = strings.Join(strings.Fields(got), ""); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}
