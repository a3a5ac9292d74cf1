// Package migrations brings a store of an older format up to the newest. A
// store opened at its old version comes in and a newer one goes out, or the old
// one stays as it is. Each step leads from one format version to the next and
// may be interrupted anywhere and run again; the new version is recorded last.
//
// Steps change small records and take a moment; a store is served when all have
// been taken. A new layout of shards, which would take long, is no step: shards
// have versions of their own, old ones are searched as they are, and
// store/ingest rewrites them meanwhile.
package migrations
