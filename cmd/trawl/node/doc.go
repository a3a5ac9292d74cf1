// Package node makes a process a node of a cluster: settings come in, the log and the
// runs that its store shares with other nodes come out, and then what falls to this
// node of the work of all. It knows no store, which follows the log, and does no work.
package node
