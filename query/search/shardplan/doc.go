// Package shardplan plans one shard. A source of documents and queries of one
// shape come in; the posting lists are read, and a Plan goes out: the candidate
// documents, and the blocks in which each atom may match. Files that are in no
// shard are read through git and planned in memory. It reads no text of documents
// in shards and knows no order.
package shardplan
