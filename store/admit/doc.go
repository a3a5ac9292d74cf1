// Package admit decides which files can be searched. A blob from git comes in,
// and a document with its text in UTF-8 goes out, or a document with the reason
// why it has none. ingest calls it for what it indexes and query/search for
// what it reads of other revisions, so that both answer alike.
//
// It does no I/O and knows nothing of shards.
package admit
