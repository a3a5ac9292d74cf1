package bench

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	bigendian "encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
)

// objectID is the name of a git object.
type objectID [sha1.Size]byte

func (id objectID) String() string { return hex.EncodeToString(id[:]) }

// objectKind is the type of an object as a pack numbers it.
type objectKind byte

const (
	commitObject objectKind = 1
	treeObject   objectKind = 2
	blobObject   objectKind = 3
)

func (k objectKind) String() string {
	return [...]string{commitObject: "commit", treeObject: "tree", blobObject: "blob"}[k]
}

// packWriter collects the objects of one repository in memory and writes them
// as one pack with its index. Ten thousand repositories are made in a minute
// this way; a git process for each would take as long as all the rest.
//
// A pack is the bytes "PACK", its version 2 and the number of objects, both as
// 4 bytes, the objects, and the SHA-1 of all that. An object is its kind and
// its length in a number of 4 bits, then 7 bits a byte, and its bytes as zlib
// packs them. Objects are stored whole, none as the difference to another.
type packWriter struct {
	pack    bytes.Buffer
	entries []packEntry
	seen    map[objectID]bool
	zip     *zlib.Writer
}

// packEntry is where an object lies in the pack.
type packEntry struct {
	id     objectID
	offset uint32
	crc    uint32
}

const packHeaderBytes = 12

func newPackWriter() *packWriter {
	w := &packWriter{seen: map[objectID]bool{}}
	// The level is known to be valid.
	w.zip, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed)
	w.reset()
	return w
}

// reset forgets all objects and keeps the memory for those of another
// repository.
func (w *packWriter) reset() {
	w.pack.Reset()
	w.pack.Write(make([]byte, packHeaderBytes))
	w.entries = w.entries[:0]
	clear(w.seen)
}

// add puts an object into the pack, unless it is there, and returns its name.
func (w *packWriter) add(kind objectKind, content []byte) (objectID, error) {
	hash := sha1.New()
	fmt.Fprintf(hash, "%s %d\x00", kind, len(content))
	hash.Write(content)
	id := objectID(hash.Sum(nil))
	if w.seen[id] {
		return id, nil
	}
	w.seen[id] = true
	start := w.pack.Len()
	w.header(kind, len(content))
	w.zip.Reset(&w.pack)
	if _, err := w.zip.Write(content); err != nil {
		return id, err
	}
	if err := w.zip.Close(); err != nil {
		return id, err
	}
	w.entries = append(w.entries, packEntry{id, uint32(start), crc32.ChecksumIEEE(w.pack.Bytes()[start:])})
	return id, nil
}

// header writes the kind and the length of an object.
func (w *packWriter) header(kind objectKind, length int) {
	b := byte(kind)<<4 | byte(length&15)
	for length >>= 4; length > 0; length >>= 7 {
		w.pack.WriteByte(b | 0x80)
		b = byte(length & 0x7f)
	}
	w.pack.WriteByte(b)
}

// write puts the pack and its index into dir, which must exist.
func (w *packWriter) write(dir string) error {
	head := w.pack.Bytes()[:packHeaderBytes]
	copy(head, "PACK")
	bigendian.BigEndian.PutUint32(head[4:], 2)
	bigendian.BigEndian.PutUint32(head[8:], uint32(len(w.entries)))
	sum := sha1.Sum(w.pack.Bytes())
	w.pack.Write(sum[:])
	name := filepath.Join(dir, "pack-"+objectID(sum).String())
	if err := os.WriteFile(name+".pack", w.pack.Bytes(), 0o444); err != nil {
		return err
	}
	return os.WriteFile(name+".idx", w.index(sum), 0o444)
}

// index returns the index of version 2 of the pack: how many names begin with
// at most each byte, then the sorted names, their checksums, their offsets, and
// the checksums of the pack and of the index.
func (w *packWriter) index(pack objectID) []byte {
	slices.SortFunc(w.entries, func(a, b packEntry) int { return bytes.Compare(a.id[:], b.id[:]) })
	out := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	for first := range 256 {
		n, _ := slices.BinarySearchFunc(w.entries, first+1, func(e packEntry, byte0 int) int { return cmp.Compare(int(e.id[0]), byte0) })
		out = bigendian.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, e := range w.entries {
		out = append(out, e.id[:]...)
	}
	for _, e := range w.entries {
		out = bigendian.BigEndian.AppendUint32(out, e.crc)
	}
	for _, e := range w.entries {
		out = bigendian.BigEndian.AppendUint32(out, e.offset)
	}
	out = append(out, pack[:]...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
