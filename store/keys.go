package store

import (
	"encoding/binary"
)

// Every key of the store. Numbers are big-endian, so that keys sort as their
// parts do.
//
//	'i' kind(1) id                    small record of a kind, see record.go
//	'm' name                          store-wide values: "nextrepo"; in a store that follows
//	                                  a log, "cluster", which names it, and "applied"; and in
//	                                  a log that is being filled from a directory, "importing",
//	                                  the path of that
//	'r' repository(4)                 Repository record, JSON
//	'h' shard(4)                      shard header, JSON
//	'k' shard(4)                      dead documents, an encoded postings.Set
//	'b' shard(4) repository(4)        documents away from branches, see away.go
//	'a' repository(4)                 People of its commits
//	'd' shard(4)                      Aside, JSON: the shard is damaged
//	's' shard(4) …                    what a shard was written with: keys.go of package
//	                                  shard
const (
	prefixRecord     = 'i'
	prefixMeta       = 'm'
	prefixRepository = 'r'
	prefixHeader     = 'h'
	prefixDead       = 'k'
	prefixAway       = 'b'
	prefixPeople     = 'a'
	prefixAside      = 'd'
)

var (
	keyNextRepository = []byte("mnextrepo")
	keyCluster        = []byte("mcluster")
	keyApplied        = []byte("mapplied")
	keyImporting      = []byte("mimporting")
)

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

func keyAway(of ShardRepository) []byte {
	return binary.BigEndian.AppendUint32(keyID(prefixAway, of.Shard), of.Repository)
}
