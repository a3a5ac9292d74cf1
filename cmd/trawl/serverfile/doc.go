// Package serverfile is how a command finds the server that has a data
// directory open. trawl serve writes where it listens and the token of its
// admin routes to a file in the directory; the other commands read it when the
// directory is locked; trawl serve removes it when it ends.
//
// The file means nothing once the lock is gone: the process with the lock
// removes the file of an earlier server.
package serverfile
