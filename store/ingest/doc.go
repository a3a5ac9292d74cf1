// Package ingest brings repositories in: a source comes in, its commit's tree
// and blobs are read through store/git, store/admit decides what can be
// searched, and a committed generation comes out in store. Indexer
// does that for one repository and writes only what changed. Its parts: Mirrors
// fetches; Merger rewrites shards that are small or mostly dead; Symbols has
// store/ctags find the definitions in shards that are there already; Histories
// reads the commits of what was synced. cmd calls them, from one goroutine or many;
// one sync or merge works at a time, one reading of symbols and one of commits
// beside it, and a few mirrors are fetched meanwhile.
//
// The package knows nothing of queries, and it decides nothing about time: the
// caller decides when to sync and when to merge.
package ingest
