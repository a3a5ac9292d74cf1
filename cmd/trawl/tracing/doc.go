// Package tracing sends traces of OpenTelemetry: requests, searches with their
// steps, syncs and git's children come in, spans go out to the collector that the
// usual environment variables name. Without one Open returns nil, and nothing is
// traced.
//
// The text of a query, and names of repositories and users, are no attributes.
// The pages of traces that answers link to are another thing, which this leaves as
// it is: trawl.query_id is the name of the one in the other.
package tracing
