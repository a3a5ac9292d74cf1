package graphql_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func globalID(kind, key string) string {
	return base64.StdEncoding.EncodeToString([]byte(kind + ":" + key))
}

// TestHiddenIsMissing: to who may not see something, it is as if it were not
// there, whatever they ask and however they name it.
func TestHiddenIsMissing(t *testing.T) {
	w := newWorld(t)
	w.shelves()                 // saved searches, search jobs of root
	glaze := w.git("elsewhere") // its commit is that of lab/glaze
	glaze.Write("a.c", "int glaze;\n")
	glaze.commit("Mix it", 1)
	oid := glaze.Git("rev-parse", "HEAD")
	commit := func(repo int) string {
		return globalID("GitCommit", fmt.Sprintf(`{"r":%q,"c":%q}`, globalID("Repository", fmt.Sprint(repo)), oid))
	}
	ref := func(repo int) string {
		return globalID("GitRef", fmt.Sprintf(`{"r":%q,"v":"refs/heads/main"}`, globalID("Repository", fmt.Sprint(repo))))
	}
	repository := func(n int) string { return globalID("Repository", fmt.Sprint(n)) }
	node := `query ($x: ID!) { node(id: $x) { __typename id } }`
	for _, c := range []struct {
		document, hidden, missing string
	}{
		// a repository, by its name
		{`query ($x: String!) { repository(name: $x) { id } }`, "lab/glaze", "lab/nope!"},
		{`query ($x: String!) { repository(uri: $x) { id } }`, "lab/glaze", "lab/nope!"},
		{`query ($x: String!) { repositoryRedirect(name: $x) { __typename } }`, "lab/glaze", "lab/nope!"},
		{`query ($x: String!) { repositories(names: [$x]) { totalCount nodes { id } pageInfo { hasNextPage } } }`, "lab/glaze", "lab/nope!"},
		{`query ($x: String!) { repositories(query: $x) { totalCount nodes { id } } }`, "glaze", "nope!"},
		{`query ($x: String!) { search(version: V3, query: $x) { results { matchCount repositoriesCount alert { title description } dynamicFilters { value } results { __typename } missing { id } cloning { id } timedout { id } } } }`,
			"repo:^lab/glaze$ x", "repo:^lab/nope!$ x"},
		{`query ($x: String!) { search(version: V3, query: $x) { results { matchCount alert { title description proposedQueries { query } } } } }`,
			"repo:^lab/glaze$@main fork:yes x", "repo:^lab/nope!$@main fork:yes x"},
		{`query ($x: String!) { search(version: V3, query: $x) { results { matchCount results { __typename } } } }`, "type:repo fork:only archived:yes glaze", "type:repo fork:only archived:yes nope!"},
		{`query ($x: String!) { repoMeta { key(key: $x) { values(first: 1) { totalCount } } } }`, "old", "nope!"},

		// by its id, and by those of what is in it
		{node, repository(2), repository(99)}, {node, commit(2), commit(99)}, {node, ref(2), ref(99)},
		{`mutation ($x: ID!) { updateMirrorRepository(repository: $x) { alwaysNil } }`, repository(2), repository(99)},
		{`mutation ($x: ID!) { reindexRepository(repository: $x) { alwaysNil } }`, repository(2), repository(99)},
		{`mutation ($x: ID!) { deleteRepository(repository: $x) { alwaysNil } }`, repository(2), repository(99)},
		{`mutation ($x: ID!) { addRepoMetadata(repo: $x, key: "a") { alwaysNil } }`, repository(2), repository(99)},

		// what others have
		{node, globalID("SavedSearch", "1"), globalID("SavedSearch", "99")}, {node, globalID("SearchJob", "1"), globalID("SearchJob", "99")},
		{node, globalID("AccessToken", "1"), globalID("AccessToken", "99")}, {node, globalID("ExternalService", "1"), globalID("ExternalService", "99")},
		{`mutation ($x: ID!) { deleteAccessToken(byID: $x) { alwaysNil } }`, globalID("AccessToken", "1"), globalID("AccessToken", "99")},
		{`mutation ($x: ID!) { deleteSavedSearch(id: $x) { alwaysNil } }`, globalID("SavedSearch", "1"), globalID("SavedSearch", "99")},
		{`mutation ($x: ID!) { updateSavedSearch(id: $x, input: {description: "x", query: "x"}) { id } }`, globalID("SavedSearch", "1"), globalID("SavedSearch", "99")},
		{`mutation ($x: ID!) { cancelSearchJob(id: $x) { alwaysNil } }`, globalID("SearchJob", "1"), globalID("SearchJob", "99")},
		{`mutation ($x: ID!) { deleteSearchJob(id: $x) { alwaysNil } }`, globalID("SearchJob", "1"), globalID("SearchJob", "99")},
		{`mutation ($x: ID!) { deleteExternalService(externalService: $x) { alwaysNil } }`, globalID("ExternalService", "1"), globalID("ExternalService", "99")},
		{node, globalID("SearchContext", `"@root/own"`), globalID("SearchContext", `"@root/not"`)},
		{`query ($x: String!) { searchContextBySpec(spec: $x) { spec } isSearchContextAvailable(spec: $x) }`, "@root/own", "@root/not"},
		{`query ($x: String!) { search(version: V3, query: $x) { results { matchCount alert { title } } } }`, "context:@root/own glaze", "context:@root/not glaze"},
		{`mutation ($x: ID!) { deleteSearchContext(id: $x) { alwaysNil } }`, globalID("SearchContext", `"@root/own"`), globalID("SearchContext", `"@root/not"`)},
		{`query ($x: String!) { user(email: $x) { id } }`, "ada@example.org", "nope!@example.org"},
	} {
		if strings.HasPrefix(c.document, "query") {
			root := []string{"Authorization", "token " + w.Tokens["root"]}
			if w.ask(c.document, map[string]any{"x": c.hidden}, root...) == w.ask(c.document, map[string]any{"x": c.missing}, root...) {
				t.Errorf("%s: %s is missing to a site admin as well", c.document, c.hidden)
			}
		}
		for _, who := range []string{"bob", ""} {
			var header []string
			if who != "" {
				header = []string{"Authorization", "token " + w.Tokens[who]}
			}
			hidden := w.ask(c.document, map[string]any{"x": c.hidden}, header...)
			missing := w.ask(c.document, map[string]any{"x": c.missing}, header...)
			same := strings.ReplaceAll(missing, c.missing, c.hidden)
			if hidden != same {
				t.Errorf("%s as %q\nof what is hidden, %s: %s\nof what is missing, %s: %s", c.document, who, c.hidden, hidden, c.missing, missing)
			}
		}
	}
}
