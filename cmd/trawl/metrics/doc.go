// Package metrics counts what a server does, for Prometheus. Requests, searches,
// syncs and attempts to sign in come in as they end; a page of metrics goes out
// when it is asked for, with what the status of the server says at that moment.
//
// It has a registry of its own. Labels come from fixed lists: no name of a
// repository or user and no text of a query is ever one, whatever is asked of
// the server. The table of docs/metrics.md lists all of it, held by a test.
package metrics
