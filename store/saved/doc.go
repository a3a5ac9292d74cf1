// Package saved keeps what people leave on a server beside repositories and
// accounts: what they set, where repositories come from, searches to be run
// again and their monitors, sets of repositories to search in, and searches that run for
// long. Each comes in from a request and is committed as a record of the store; it goes
// out by its number or as a list. A Book has one part for each kind of record.
// httpapi/graphql calls it for requests, cmd for work in the background.
//
// It checks no rights and runs no search: callers do.
package saved
