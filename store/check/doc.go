// Package check verifies a store. A store comes in, open and perhaps in use;
// findings go out, each with the fault in words and its repair. Check reads
// first the engine's tables byte by byte, then the small records and their
// references. Then it reads, shard by shard, the text, its hashes and the
// posting lists made from it, and last, through a function of the caller,
// mirrors. Prepare takes damaged parts out of service and returns the
// repositories to index again. cmd/trawl calls it, for people and for a running
// server.
//
// One shard is in hand at a time, with what its writer held in memory. It knows
// nothing of git, so it does not find text that was indexed wrongly.
package check
