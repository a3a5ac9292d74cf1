// Package store holds everything that survives a restart: the records, and the
// catalogue that says which shards are searched. Writers fill a shard.Writer,
// which becomes one sorted run, and change records in a transaction, a Tx, which
// is committed whole or run again when another one overtook it; readers take a
// Snapshot and see one version. Package engine opens and guards the database
// underneath, package shard is the format of shards. keys.go lists the key of
// every record, and shard/keys.go every key of a shard; nothing else in the
// program builds one.
//
// A shard is written once and never changed. Only small records change, in one
// atomic batch: repository records, shard headers, and the sets of documents
// that are dead or excluded from a branch. A run that was ingested but whose
// header was never committed is an orphan, and Open removes it.
//
// Caveats. Slices borrowed from a Snapshot are valid as their method says, at
// most until the snapshot is closed. A data directory is open in at most one
// process at a time. The package does not log: Options.Event receives the
// events of the engine.
package store
