// Package graphql is the debug API. The body of a POST comes in; its document
// is counted (package cost), validated against the schema in the folder schema,
// and answered by resolvers, one type of them per type of the schema; one JSON
// object goes out. Those of git are in package gitobject, those of people and the
// site in package account. A request sees one snapshot of the store, and mutations
// the one after them.
//
// Searches are those of the stream: the same searcher, the same order, the same
// counts. Files of indexed commits are read from the store, everything else
// about git from the repositories through store/git.
//
// What goes wrong is told in the answer if it is the client's to know: a
// *wire.Refusal. Every other error is logged, and the client learns only that there
// was one.
package graphql
