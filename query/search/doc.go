// Package search runs queries. A parsed query comes in, its matches go out to a
// Sink, and the account of what was and was not searched goes into a Report. httpapi
// and cmd call it. Each step is a package below this one; documents drives
// shardplan, rank and verify, and scope drives documents for its predicates:
//
//	compile    a parsed query -> queries ready to run
//	scope      queries and a snapshot -> repositories, revisions and their files
//	shardplan  queries and a shard -> candidates
//	rank       planned shards -> the documents that come first
//	verify     candidates -> matches with scores
//	documents  queries of one shape -> matches in order, on workers
//	commits    the same for messages and diffs
//	answer     matches -> what select: asks for, within the limits, to the Sink
//	coverage   plans and matches -> what was looked at, by repository
//
// Revisions. A repository is searched at one or more revisions, each a set of
// documents of every source. An indexed branch has such sets in the store. Any
// other commit is resolved and listed through git: its sets are the documents
// that are the same files, and files that no shard has are read and searched in
// batches in memory.
//
// Shapes. Basic queries with one limit and one selection have one shape. Their documents
// are confirmed and answered together. Those of several shapes are searched one after the
// other, and a result of two of them is sent once.
//
// Order. Documents that define a name of the query, are called like it or hold
// its phrase come first (rank); score says what a document is worth. Segments are
// cut by size, gathered into groups, and each group is sorted by score before it
// leaves, so a snapshot and a query always give the same order, however many
// workers there are and however fast they run.
//
// Commits. A search of messages or diffs has its own plans, of history shards,
// and its own order, that of git's log, repository by repository. Commits that the
// index does not have are read through git, behind all that it has.
//
// Damage. A document or shard that cannot be read is left out and reported; the
// others are searched.
//
// The package knows no HTTP. A limit, a timeout or a cancelled context ends a
// search early and is not an error: the report counts what was left out.
package search
