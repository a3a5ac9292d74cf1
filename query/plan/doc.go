// Package plan decides what the posting lists can say about a pattern. A
// parsed regexp comes in and a trigram expression leaves: And and Or over
// literals, true for at least every text that the regexp matches. query/match
// asks for it when it compiles a pattern, query/search evaluates it.
//
// The package reads no posting lists and knows no documents.
package plan
