// Package metrics counts what a server does, for Prometheus. Requests,
// searches, syncs and attempts to sign in come in as they end; a page of
// metrics goes out on request, with the status of the server at that time.
//
// It has a registry of its own. Labels come from fixed lists: no name of a
// repository or user and no text of a query is ever one, whatever the requests
// hold. The table of docs/metrics.md lists all metrics; a test compares the
// two.
package metrics
