// Package help serves the pages that errors and other pages link to: the query
// language, the stream and GraphQL. The limits in them come from the settings
// of the server; a test checks that every filter and event they describe
// exists.
package help
