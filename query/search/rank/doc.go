// Package rank chooses the documents that come first. A window of shards comes in;
// by posting lists, paths and tables of symbols, before documents are verified, those
// go out that define a name of the query, are called like it or hold its phrase. Only
// a phrase that many may hold is looked for in the text of some. The others follow
// shard by shard, as people look at the first results of an answer. Which they are follows from the snapshot and the query alone, whatever
// the workers do. The package does not say whether a document matches.
//
// A Window plans shards as they are needed (window.go), and asks the others by
// their lists whether they may have such a document (promising.go). Its method Top
// has a ranker gather what is known of each candidate: definitions, paths, the
// phrase and in how many blocks words stand, a file for each.
package rank
