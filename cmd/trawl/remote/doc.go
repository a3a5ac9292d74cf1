// Package remote calls the admin routes. A command's wish comes in as a method
// call, becomes a request to the process that has the data directory open, and
// the answer comes out decoded. The commands of trawl use it for a running
// server and, over package loopback, for a directory they opened themselves.
package remote
