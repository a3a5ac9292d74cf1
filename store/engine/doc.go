// Package engine opens, guards and seals the database under a store, which is
// Pebble. The files of a database come in, and leave as an Engine that is sound, or
// are refused with the reason. Package store writes batches and runs through it
// and reads from its DB; no other package does.
//
// A manifest that lost records is damage (manifest.go); a seal distinguishes
// that from a crash (seal.go). The first write that the database cannot handle
// stops all writing, so that the disk is as after a crash and the process goes
// on (failstop.go). Then another Engine is opened over the same files, while
// readers keep the old one.
//
// The package knows no key, no record and no shard.
package engine
