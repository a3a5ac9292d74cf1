// Package postings turns bytes into trigrams and posting lists into candidate
// lists. Text comes in block by block and leaves as one encoded posting list
// per trigram (Builder). Encoded lists come back in and leave intersected, or
// joined (Set). A trigram expression comes in and one candidate set leaves
// (Expr). store writes and reads the lists, query/plan makes the expressions.
//
// The package does no I/O, reads no clock and knows neither repositories nor
// regular expressions.
//
// # Blocks
//
// Posting lists name blocks, not documents. A document's text is cut into
// blocks of BlockBytes; a shard numbers the blocks of its documents
// consecutively from 0 and holds at most MaxBlocks of them, so a block number
// fits 16 bits. Every document owns at least one block, even an empty one, so
// documents of a shard are fewer than 65,536 too, and one Set type serves both.
//
// The trigrams of a block are those that begin in the block or in the
// OverlapBytes behind it. Text that begins in a block and is at most
// MaxLiteralBytes long therefore has all its trigrams in that block's lists:
// intersecting them never loses an occurrence.
//
// Bytes are folded before they become trigrams: A-Z to a-z, nothing else.
// Trigrams with an upper-case letter also have lists as written. Both kinds
// share one table, since no folded trigram has such a letter. Behind the last
// byte of a document stand two imaginary zero bytes, so that each of its last
// bytes begins a trigram too and a one- or two-byte literal is a prefix of some
// trigram wherever it stands.
package postings
