package store

import (
	"encoding/binary"

	"github.com/trawlsearch/trawl/postings"
)

// Every key of the store. Numbers are big-endian, so that keys sort as their
// parts do.
//
//	'i' kind(1) id                    small record of a kind, see record.go
//	'm' name                          store-wide values: "nextrepo"
//	'r' repository(4)                 Repository record, JSON
//	'h' shard(4)                      shard header, JSON
//	'k' shard(4)                      dead documents, an encoded postings.Set
//	'b' shard(4) repository(4)        documents away from branches, see away.go
//	'a' repository(4)                 People of its commits
//	'd' shard(4)                      Aside, JSON: the shard is damaged
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
const (
	prefixRecord     = 'i'
	prefixMeta       = 'm'
	prefixRepository = 'r'
	prefixHeader     = 'h'
	prefixDead       = 'k'
	prefixAway       = 'b'
	prefixPeople     = 'a'
	prefixAside      = 'd'
	prefixShard      = 's'
)

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

var keyNextRepository = []byte{prefixMeta, 'n', 'e', 'x', 't', 'r', 'e', 'p', 'o'}

func keyID(prefix byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefix}, id)
}

func keyRecord(kind RecordKind, id []byte) []byte {
	return append([]byte{prefixRecord, byte(kind)}, id...)
}

func keyRepository(id uint32) []byte { return keyID(prefixRepository, id) }
func keyHeader(shard uint32) []byte  { return keyID(prefixHeader, shard) }
func keyDead(shard uint32) []byte    { return keyID(prefixDead, shard) }
func keyPeople(id uint32) []byte     { return keyID(prefixPeople, id) }
func keyAside(shard uint32) []byte   { return keyID(prefixAside, shard) }
func keyShard(shard uint32) []byte   { return keyID(prefixShard, shard) }

func keyAway(of ShardRepository) []byte {
	return binary.BigEndian.AppendUint32(keyID(prefixAway, of.Shard), of.Repository)
}

// keyAfter is the smallest key greater than every key that begins with p.
func keyAfter(p []byte) []byte {
	end := append([]byte(nil), p...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

func idOf(key []byte) uint32 { return binary.BigEndian.Uint32(key[1:5]) }

func appendShardPart(dst []byte, shard uint32, part byte) []byte {
	dst = append(dst, prefixShard)
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
	return appendShardPart(nil, shard, partSymbols), keyAfter(appendShardPart(nil, shard, partSymbolSpecial))
}

func keySpecial(shard uint32, kind byte) []byte {
	return append(appendShardPart(nil, shard, partSpecial), kind)
}
