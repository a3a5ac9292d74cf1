// Package stream answers searches with server-sent events. An admitted request comes in;
// the events of one search go out, the last of which is done.
//
// A handler calls Admit, then Serve or Run, and the function that Admit
// returned. An Endpoint decodes the request and has a Searcher run it in the goroutine of
// the request: its sink encodes matches into a buffer of bounded size. The sender writes
// events from there, at once, by size or by time, in a second goroutine while the search
// runs. A slow client therefore slows its own search and no other: the search waits, and
// yields to others and goes on from a bookmark if that takes long. A failed write cancels
// the search.
//
// Memory has three bounds: limiter counts the streams, allowance the bytes that clients
// are behind, and eventPool keeps what events were written from for the next ones.
//
// Other forms of the same answer, such as a file, are an event.Output for Run. The package
// signs nobody in, and has no rule about searching.
package stream
