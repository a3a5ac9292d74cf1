// Package httpapi is the only door. A request comes in and is decoded to our
// types at the edge; a search is run by a Searcher; its matches leave as
// server-sent events, encoded at the edge.
//
// A stream has two goroutines. The search encodes what it confirms into an
// outbox of bounded size; the handler owns the response and writes events from
// the outbox, at once, by size or by time. A slow reader therefore slows its
// own search and no other, and a failed write cancels the search.
//
// No rule about searching lives here: what matches, in which order and how many
// is decided below.
package httpapi
