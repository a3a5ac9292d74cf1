// Package client is the other end of httpapi's stream: parameters go in, a
// request is sent, and the events of its answer come out one by one, as they
// arrive. The command line and the benchmarks use it.
//
// It reads any server that speaks the streaming search API, and is lenient
// with framing: comments, other line ends and event names it does not know
// are passed over. It knows nothing of searching and shares no type with the
// server, so that each can be checked against the other.
package client
