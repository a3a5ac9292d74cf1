// Package search runs queries. A parsed query comes in and is simplified
// against a snapshot (which repositories, which shards); the plan of each
// shard reads posting lists and leaves candidate documents; workers verify
// those, segment by segment; and one goroutine puts the answers in order,
// counts them against the limits and sends them to the Sink. httpapi and cmd
// call it.
//
// Revisions. A repository is searched at one or more revisions, each a set of
// documents of every source. An indexed branch has such sets in the store. Any
// other commit is resolved and listed through git: its sets are the documents
// that are the same files, and what no shard has is read and searched in
// batches in memory.
//
// Order. Documents that define a name of the query, are called like it or hold
// its phrase, as lists and tables tell, come first (heads.go); score.go says
// what a document is worth. Segments are cut by size, gathered into groups, and
// each group is sorted by score before it leaves, so a snapshot and a query
// always give the same order, however many workers there are and however fast
// they run.
//
// Commits. A search of messages or diffs has its own plans, of history shards,
// and its own order, that of git's log, repository by repository. What the
// index does not have is read through git behind what it has.
//
// Damage. A document or shard that cannot be read is left out and told; the
// others are searched.
//
// The package knows no HTTP. A limit, a timeout or a cancelled context ends a
// search early and is not an error: the report counts what was left out.
package search
