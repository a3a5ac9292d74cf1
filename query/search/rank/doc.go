// Package rank chooses the documents that come first. A window of shards comes in,
// and is planned as far as needed; by lists and tables of symbols, before any text
// is read, the documents go out that define a name of the query, are called like
// it or hold its phrase. The others follow shard by shard. Which they are follows
// from the snapshot and the query alone.
package rank
