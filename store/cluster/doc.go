// Package cluster is what several nodes share besides their shards: the log of all
// changes to small records, who is there, and who does what. A list of writes comes
// in and becomes the next version for all nodes; the entries that other nodes made
// come out, in the same order everywhere. Nodes and leases are rows that expire.
//
// The package has types and interfaces only. It knows no database, no record of the
// store and no shard. Package postgres implements it.
package cluster
