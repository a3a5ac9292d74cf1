package graphql_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// A repository of a list that its editor may not see stays in it, and leaves no trace in
// what the editor is told.
func TestContextKeepsWhatItsEditorMayNotSee(t *testing.T) {
	w := newWorld(t)
	root := []string{"Authorization", "token " + w.Tokens["root"]}
	ann := []string{"Authorization", "token " + w.Tokens["ann"]}
	w.data(&struct{}{}, `mutation { createSearchContext(searchContext: {name: "list", description: "", public: true, namespace: "T3JnOjE="},
		repositories: [{repositoryID: "UmVwb3NpdG9yeTox", revisions: []}, {repositoryID: "UmVwb3NpdG9yeToy", revisions: ["main"]}]) { id } }`, nil, root...)
	if _, err := w.Registry.SetReaders(identity.Operator, "lab/glaze", []string{"user:root"}); err != nil {
		t.Fatal(err)
	}
	got := w.ask(`mutation { updateSearchContext(id: "`+globalID("SearchContext", `"@clay/list"`)+`", searchContext: {name: "list", description: "ours", public: true},
		repositories: [{repositoryID: "UmVwb3NpdG9yeTox", revisions: ["side"]}]) { repositories { repository { name } revisions } } }`, nil, ann...)
	if strings.Contains(got, "errors") || strings.Contains(got, "glaze") || !strings.Contains(got, "side") {
		t.Errorf("changed by ann: %s", got)
	}
	v, err := w.book.Contexts.Get(saved.Subject{Kind: saved.SubjectOrg, ID: 1}, "list")
	if err != nil || len(v.Repositories) != 2 || v.Repositories[1].ID != 2 || v.Description != "ours" {
		t.Errorf("kept: %+v, %v; want both repositories", v, err)
	}
	u, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	c := &manage.Contexts{Kept: &manage.Kept{Store: w.Store, Registry: w.Registry, Book: w.book}, Actor: &auth.Actor{User: u, Orgs: []uint32{1}}}
	filters, err := c.Resolve("@clay/list")
	if err != nil || len(filters) != 1 || filters[0][0].Value != "^(?:lab/kiln)$@side" {
		t.Errorf("for ann it stands for %+v, %v; want lab/kiln alone", filters, err)
	}
	// of what is hidden from her nothing is left: it matches nothing, not all
	if _, err := w.Registry.SetReaders(identity.Operator, "lab/kiln", []string{"user:root"}); err != nil {
		t.Fatal(err)
	}
	if got := w.ask(`{ search(version: V3, query: "context:@clay/list type:repo lab") { results { matchCount } } }`, nil, ann...); !strings.Contains(got, `"matchCount": 0`) {
		t.Errorf("a list of hidden repositories finds %s", got)
	}
}
