// Package stream answers searches with server-sent events. The request of a client that
// was let in comes in; the events of one search go out, the last of which is done.
//
// An Endpoint decodes the request and has a Searcher run it. The sink of the search
// encodes matches into a buffer of bounded size, and the sender writes events from it, at
// once, by size or by time. A slow client therefore slows its own search and no other: the
// search waits, and yields to others and goes on from a bookmark if that takes long. A
// failed write cancels the search.
//
// Other forms of the same answer, such as a file, are an event.Output for Run. The package
// knows no sessions of users, pages or GraphQL, and no rule about searching.
package stream
