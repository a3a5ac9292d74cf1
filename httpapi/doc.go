// Package httpapi is the only door. A request comes in, its client is let in or
// refused, and a handler answers it: the stream of httpapi/stream, a package for each
// other part of the API, and the pages that stand here.
//
// The server listens, bounds what requests and answers hold, and logs each request.
// Searches are run by a Searcher. No rule about searching lives here: what matches, in
// which order and how many is decided below.
package httpapi
