package console

import (
	"encoding/json"
	"html/template"
	"net/url"
)

// example is a GraphQL request to begin with.
type example struct {
	Title            string
	Query, Variables string
}

// Fragment is how an address of the console says the request.
func (e example) Fragment() (template.URL, error) {
	state, err := json.Marshal(struct {
		Query     string `json:"query"`
		Variables string `json:"variables,omitempty"`
	}{e.Query, e.Variables})
	return template.URL("#" + url.PathEscape(string(state))), err
}

var examples = []example{
	{"Who am I?", `query WhoAmI {
  currentUser {
    username
  }
}
`, ""},
	{"Count matches", `query CountMatches($query: String!) {
  search(query: $query) {
    results {
      matchCount
      limitHit
      elapsedMilliseconds
    }
  }
}
`, `{
  "query": "TODO count:all"
}`},
	{"Find lines", `query FindLines($query: String!) {
  search(query: $query, version: V3, patternType: keyword) {
    results {
      matchCount
      results {
        __typename
        ... on FileMatch {
          repository { name }
          file { path url }
          lineMatches { lineNumber preview offsetAndLengths }
        }
      }
      alert { title description proposedQueries { query } }
    }
  }
}
`, `{
  "query": "type:file TODO count:5"
}`},
	{"Repositories", `query Repositories {
  repositories(first: 10) {
    nodes {
      name
      mirrorInfo { cloned lastError updatedAt }
      defaultBranch { displayName target { abbreviatedOID } }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`, ""},
	{"Version", `query Version {
  site {
    productVersion
  }
}
`, ""},
}
