// Package loopback carries HTTP requests to a handler of the same process. A
// request comes in as from any http.Client, the handler answers it, and the
// answer goes out as it is written, so that streams stay streams. The commands
// of trawl use it to ask a data directory the same way as a running server.
//
// It opens no port and knows nothing of what it carries.
package loopback
