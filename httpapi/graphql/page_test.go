package graphql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

// connection is a list that is told page by page.
type connection struct {
	// field is what the schema calls it, document asks for it with … in the place
	// of its arguments and of what stands in its selection.
	field, document string
	// node is what tells entries apart.
	node string
	// after is the argument for a cursor, "" where only the first page is told.
	after string
	// back says that there are pages before a cursor too.
	back bool
	// untold says that nobody is told how many entries there are in all.
	untold bool
	// least is how many entries the world has.
	least int
}

func connections() []connection {
	kiln := func(selection string) string { return `{ repository(name: "lab/kiln") { ` + selection + ` } }` }
	at := func(selection string) string { return kiln(`commit(rev: "") { ` + selection + ` }`) }
	const (
		id, oid, name = "id", "oid", "name"
		list          = "(…) { … }"
	)
	return []connection{
		// people and what is theirs
		{"Query.users", "{ users" + list + " }", id, "after", false, false, 8},
		{"Org.members", `{ organization(name: "clay") { members` + list + " } }", id, "after", true, false, 5},
		{"User.accessTokens", "{ currentUser { accessTokens" + list + " } }", id, "", false, false, 1},
		{"Site.accessTokens", "{ site { accessTokens" + list + " } }", id, "", false, false, 3},
		{"User.externalAccounts", "{ currentUser { externalAccounts" + list + " } }", id, "", false, false, 0},
		{"Site.externalAccounts", "{ site { externalAccounts" + list + " } }", id, "", false, false, 0},

		// what is kept beside repositories
		{"Query.savedSearches", "{ savedSearches" + list + " }", id, "after", true, false, 3},
		{"Query.searchJobs", "{ searchJobs" + list + " }", id, "after", true, false, 3},
		{"Query.externalServices", "{ externalServices" + list + " }", id, "after", false, false, 1},
		{"Repository.externalServices", `{ repository(name: "lab/next") { externalServices` + list + " } }", id, "", false, false, 1},
		{"Query.searchContexts", "{ searchContexts" + list + " }", id, "after", false, false, 2},
		{"Query.codeownersIngestedFiles", "{ codeownersIngestedFiles" + list + " }", "repository { name }", "after", true, false, 3},
		{"RepoMeta.keys", "{ repoMeta { keys" + list + " } }", "", "after", true, false, 3},
		{"RepoMetadataKey.values", `{ repoMeta { key(key: "team") { values` + list + " } } }", "", "after", true, false, 2},

		// repositories
		{"Query.repositories", "{ repositories" + list + " }", id, "after", true, false, 5},
		{"Repository.branches", kiln("branches" + list), name, "", false, false, 2},
		{"Repository.tags", kiln("tags" + list), name, "", false, false, 1},
		{"Repository.gitRefs", kiln("gitRefs" + list), name, "", false, false, 3},
		{"Repository.contributors", kiln("contributors" + list), "person { email }", "", false, false, 1},

		// commits
		{"GitCommit.ancestors", at("ancestors" + list), oid, "afterCursor", false, true, 3},
		{"GitTree.history", at("tree { history" + list + " }"), oid, "after", false, true, 3},
		{"GitBlob.history", at(`blob(path: "main.go") { history` + list + " }"), oid, "after", false, true, 3},
		{"TreeEntry.history", at(`tree { entries(first: 1) { history` + list + " } }"), oid, "after", false, true, 1},
		{"GitCommit.symbols", at("symbols" + list), name, "", false, true, 0},
		{"GitTree.symbols", at("tree { symbols" + list + " }"), name, "", false, true, 0},
		{"GitBlob.symbols", at(`blob(path: "main.go") { symbols` + list + " }"), name, "", false, true, 0},
		{"TreeEntry.symbols", at(`tree { entries(first: 1) { symbols` + list + " } }"), name, "", false, true, 0},
		{"RepositoryComparison.commits", kiln(`comparison(base: "v1.0", head: "main") { commits` + list + " }"), oid, "", false, true, 1},
		{"RepositoryComparison.fileDiffs", kiln(`comparison(base: "v1.0", head: "main") { fileDiffs` + list + " }"), "internalID", "after", false, false, 2},
	}
}

// TestPages: every list tells the same page by page as at once, forward and,
// where it goes both ways, back.
func TestPages(t *testing.T) {
	known := map[string]bool{}
	for _, c := range connections() {
		known[c.field] = true
	}
	schema := loadSchema(t)
	for _, def := range schema.Types {
		for _, field := range def.Fields {
			of := schema.Types[field.Type.Name()]
			if of != nil && of.Fields.ForName("pageInfo") != nil && field.Arguments.ForName("first") != nil && !known[def.Name+"."+field.Name] {
				t.Errorf("%s.%s is told page by page and not tested", def.Name, field.Name)
			}
		}
	}
	w := newWorld(t)
	w.findSymbols()
	w.organizations(4)
	w.shelves()
	for _, c := range connections() {
		t.Run(c.field, func(t *testing.T) { c.check(t, w) })
	}
}

// shelves makes some of what the world has none of.
func (w *world) shelves() {
	cups := "cups"
	for _, name := range []string{"lab/kiln", "lab/glaze", "lab/next"} {
		w.data(&struct{}{}, `mutation ($r: String!) { addCodeownersFile(input: {repoName: $r, fileContents: "* @ann"}) { contents } }`,
			map[string]any{"r": name}, "Authorization", "token "+w.Tokens["root"])
	}
	w.Facts("lab/glaze", store.FactsChange{Metadata: map[string]*string{"team": &cups, "old": nil}})
	for i := range 3 {
		w.data(&struct{}{}, `mutation ($d: String!) { createSavedSearch(input: {owner: "VXNlcjox", description: $d, query: "glaze"}) { id } }`,
			map[string]any{"d": fmt.Sprint("search ", i)}, "Authorization", "token "+w.Tokens["root"])
		w.data(&struct{}{}, `mutation ($q: String!) { createSearchJob(query: $q) { id } }`,
			map[string]any{"q": fmt.Sprint("glaze", i)}, "Authorization", "token "+w.Tokens["root"])
	}
	w.data(&struct{}{}, `mutation { createSearchContext(searchContext: {name: "own", description: "", public: false, namespace: "VXNlcjox", query: "repo:lab"}, repositories: []) { id } }`,
		nil, "Authorization", "token "+w.Tokens["root"])
}

// part is one page of a list.
type part struct {
	nodes                        []string
	total                        int
	StartCursor, EndCursor       string
	HasNextPage, HasPreviousPage bool
}

func (c connection) check(t *testing.T, w *world) {
	w.TB = t
	all := c.page(w, "first: 100")
	if len(all.nodes) < c.least || all.HasNextPage || all.HasPreviousPage || !c.untold && all.total != len(all.nodes) {
		t.Fatalf("all at once: got %+v, want %d or more, all of them", all, c.least)
	}
	if got := c.page(w, "first: 0"); !slices.Equal(got.nodes, all.nodes) {
		t.Errorf("first: 0: got %q, want all of %q", got.nodes, all.nodes)
	}
	for _, bad := range []string{"first: -1", c.after + `: "nonsense", first: 1`} {
		if c.least == 0 || strings.HasPrefix(bad, ":") {
			continue // of nothing, or without cursors
		}
		if answer := c.ask(w, bad); !strings.Contains(answer, `"errors"`) {
			t.Errorf("%s: got %s, want an error", bad, answer)
		}
	}
	if len(all.nodes) > 1 {
		if got := c.page(w, "first: 1"); !slices.Equal(got.nodes, all.nodes[:1]) || !got.HasNextPage || got.total != all.total && !c.untold {
			t.Errorf("first: 1: got %+v, want %q and more", got, all.nodes[:1])
		}
	}
	if c.after != "" {
		c.walk(t, w, all, "first: 1, "+c.after, func(p part) (string, bool) { return p.EndCursor, p.HasNextPage }, false)
	}
	if c.back {
		c.walk(t, w, all, "last: 1, before", func(p part) (string, bool) { return p.StartCursor, p.HasPreviousPage }, true)
	}
}

// walk goes through a list in steps of one.
func (c connection) walk(t *testing.T, w *world, all part, args string, next func(part) (string, bool), back bool) {
	t.Helper()
	var got []string
	for cursor, more := "", true; more; {
		p := c.page(w, args+": "+fmt.Sprintf("%q", cursor))
		if !c.untold && p.total != all.total {
			t.Fatalf("%s %q: %d in all, want %d", args, cursor, p.total, all.total)
		}
		got = append(got, p.nodes...)
		if cursor, more = next(p); more && (cursor == "" || len(p.nodes) != 1) || len(got) > len(all.nodes) {
			t.Fatalf("%s: got %+v behind %q", args, p, got)
		}
	}
	if back {
		slices.Reverse(got)
	}
	if !slices.Equal(got, all.nodes) {
		t.Errorf("%s, one by one: got %q, want %q", args, got, all.nodes)
	}
}

func (c connection) ask(w *world, args string) string {
	w.Helper()
	selection := "nodes { " + c.node + " }"
	if c.node == "" {
		selection = "nodes"
	}
	if !c.untold {
		selection += " totalCount"
	}
	selection += " pageInfo { endCursor hasNextPage"
	if c.back {
		selection += " startCursor hasPreviousPage"
	}
	document := strings.Replace(c.document, "…", args, 1)
	return w.ask(strings.Replace(document, "…", selection+" }", 1), nil, "Authorization", "token "+w.Tokens["root"])
}

func (c connection) page(w *world, args string) part {
	w.Helper()
	answer := c.ask(w, args)
	var found struct {
		Errors []any
		Data   any
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil || found.Errors != nil {
		w.Fatalf("%s: %v %s", args, err, answer)
	}
	list := listIn(found.Data)
	if list == nil {
		w.Fatalf("%s: no list in %s", args, answer)
	}
	var out part
	raw, err := json.Marshal(list["pageInfo"])
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		w.Fatal(err)
	}
	if total, ok := list["totalCount"].(float64); ok {
		out.total = int(total)
	}
	for _, n := range list["nodes"].([]any) {
		out.nodes = append(out.nodes, fmt.Sprint(n))
	}
	return out
}

// listIn finds the first list in an answer.
func listIn(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if v["pageInfo"] != nil {
			return v
		}
		for _, inner := range v {
			if found := listIn(inner); found != nil {
				return found
			}
		}
	case []any:
		for _, inner := range v {
			if found := listIn(inner); found != nil {
				return found
			}
		}
	}
	return nil
}
