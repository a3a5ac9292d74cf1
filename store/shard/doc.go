// Package shard is the format of shards: what stands in one, and how it is written,
// read and verified. Documents, commits and symbols come in through a Writer and
// leave as one sorted run, which a Destination ingests. A View of a shard gives back
// tables, posting lists and text through the caches of a Budget; Verify compares all
// of it with the text. keys.go lists every key of a shard and nothing else builds
// one.
//
// Package store owns the headers and sets that change, and says which shards a
// snapshot has; package query searches views. This package knows no record, no
// repository but its number, and not how the engine is opened.
//
// Caveats. Slices borrowed from a View are valid as their method says, at most until
// its snapshot is closed.
package shard
