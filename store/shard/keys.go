package shard

import (
	"encoding/binary"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// Prefix begins every key of what a shard was written with; nothing sorts behind
// them. Numbers are big-endian, so that keys sort as their parts do.
//
//	's' shard(4) 1 chunk(4)           text chunk
//	's' shard(4) 2 page(2)            page of the document table
//	's' shard(4) 3                    newlines per block
//	's' shard(4) 4 field(1) trigram(3)  posting list; see Field
//	's' shard(4) 5 kind(1)            special block sets
//	's' shard(4) 6 block(2)           some symbols of a block's document
//	's' shard(4) 7 field(1) trigram(3)  posting list of symbol names
//	's' shard(4) 8 kind(1)            special block sets of symbol names
//	's' shard(4) 9 page(2)            page of the commit table of a history shard
//
// All that a shard was written with stands under 's' shard, in the order in
// which it is written, so the shard is one sorted run and one range deletion.
// Symbols come later, in a second run behind the first: the parts of one run
// never lie among those of the other, so the engine need not rewrite either. A
// history shard has no symbols.
const Prefix = 's'

const (
	partChunk    = 1
	partDocument = 2
	partNewlines = 3
	partPosting  = 4
	partSpecial  = 5

	partSymbols       = 6
	partSymbolPosting = 7
	partSymbolSpecial = 8

	partCommit = 9
)

// Field says what text a posting list indexes.
type Field byte

// The fields. FieldExact is the content with trigrams that have an upper-case
// letter; its lists are written when those of the content are known, before
// them.
const (
	FieldExact   Field = 0
	FieldContent Field = 1
	FieldPath    Field = 2
	FieldSymbol  Field = 3
)

// Kinds of special block sets.
const (
	specialWideFold   = 1
	specialScanAlways = 2
	specialWidePath   = 3
)

// Keys bounds all that a shard was written with.
func Keys(shard uint32) (lower, upper []byte) {
	lower = keyShard(shard)
	return lower, engine.After(lower)
}

// First and Last return the first and last shard that a table with this bound may
// hold; the interval is empty for a table without shards.
func First(smallest []byte) uint32 {
	switch {
	case len(smallest) == 0 || smallest[0] < Prefix:
		return 1
	case smallest[0] > Prefix || len(smallest) < 5:
		return 1<<32 - 1
	}
	return max(idOf(smallest), 1)
}

// Last is about the largest key of a table, as First is about the smallest.
func Last(largest []byte) uint32 {
	if len(largest) < 5 || largest[0] != Prefix {
		return 0 // nothing sorts behind the shards, so there are none
	}
	return idOf(largest)
}

func idOf(key []byte) uint32 { return binary.BigEndian.Uint32(key[1:5]) }

func keyShard(shard uint32) []byte { return binary.BigEndian.AppendUint32([]byte{Prefix}, shard) }

func appendShardPart(dst []byte, shard uint32, part byte) []byte {
	dst = append(dst, Prefix)
	dst = binary.BigEndian.AppendUint32(dst, shard)
	return append(dst, part)
}

func appendKeyChunk(dst []byte, shard, chunk uint32) []byte {
	return binary.BigEndian.AppendUint32(appendShardPart(dst, shard, partChunk), chunk)
}

func keyDocumentPage(shard uint32, page int) []byte {
	return binary.BigEndian.AppendUint16(appendShardPart(nil, shard, partDocument), uint16(page))
}

func keyCommitPage(shard uint32, page int) []byte {
	return binary.BigEndian.AppendUint16(appendShardPart(nil, shard, partCommit), uint16(page))
}

func keyNewlines(shard uint32) []byte { return appendShardPart(nil, shard, partNewlines) }

func appendKeyPosting(dst []byte, shard uint32, f Field, t postings.Trigram) []byte {
	b := t.Bytes()
	return append(appendKeyField(dst, shard, f), b[:]...)
}

// appendKeyField is what the keys of all posting lists of a field begin with.
func appendKeyField(dst []byte, shard uint32, f Field) []byte {
	if f == FieldSymbol {
		return append(appendShardPart(dst, shard, partSymbolPosting), byte(f))
	}
	return append(appendShardPart(dst, shard, partPosting), byte(f))
}

func appendKeySymbols(dst []byte, shard uint32, block uint16) []byte {
	return binary.BigEndian.AppendUint16(appendShardPart(dst, shard, partSymbols), block)
}

func keySymbolSpecial(shard uint32, kind byte) []byte {
	return append(appendShardPart(nil, shard, partSymbolSpecial), kind)
}

// symbolKeys bounds the keys of a shard's symbols.
func symbolKeys(shard uint32) (lower, upper []byte) {
	return appendShardPart(nil, shard, partSymbols), engine.After(appendShardPart(nil, shard, partSymbolSpecial))
}

func keySpecial(shard uint32, kind byte) []byte {
	return append(appendShardPart(nil, shard, partSpecial), kind)
}
