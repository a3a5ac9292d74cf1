// Package console is the pages by which people try the API: a GraphQL editor
// with the documentation of the schema, and a page that shows the raw events of
// a search. Both ask with the session of their user and may do no
// more than they may. All that they need is in the binary.
package console
