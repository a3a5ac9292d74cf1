// Package runs keeps the runs of shards as objects that all nodes of a cluster share.
// A run comes in and is stored under the name of its content; the runs that a node
// lacks come back, side by side, each compared with what its name says. What nothing
// names any more is swept.
//
// # Layout
//
//	shards/NUMBER-PART-SHA256   a run: of the shard, its text or its symbols
//	shards/clock-RANDOM         the time by the clock of the store, while it is swept
//	shards/unnamed              since when runs are named by no record, JSON
//	cluster                     whose runs these are: the number of the cluster, hex
//	asked/NUMBER-PART-SHA256    a node has found that run missing or damaged
//
// An object is whole or absent, and never changed. Which runs there are is said by the
// records of the cluster, which this package does not know.
package runs
