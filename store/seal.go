package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The engine reads its manifest, the log of its tables, up to the first record
// that is not whole, and takes that for the place where a crash cut it off. A
// flipped bit there would silently take away what was written behind. So would
// one in the log of what is not in tables yet. Therefore a store that is closed
// in good order has all in tables, and beside the engine's files a seal:
//
//	MANIFEST-000007 4096 0123456789abcdef\n
//	0123456789abcdef\n
//
// the name of the manifest, its length, its XXH64; and the XXH64 of that line. A
// store without a seal was not closed in good order: its manifest may be cut
// off, but nothing whole may stand behind the cut.
const sealFile = "SEAL"

// ErrDamagedLog says that the engine's manifest is damaged.
var ErrDamagedLog = fmt.Errorf("the log of its tables is %w", ErrCorrupt)

func sealOf(name string, manifest []byte) []byte {
	line := fmt.Sprintf("%s %d %016x\n", name, len(manifest), xxhash.Sum64(manifest))
	return fmt.Appendf(nil, "%s%016x\n", line, xxhash.Sum64String(line))
}

// judgeManifest compares the manifest with the seal, if there is a good one,
// and looks for damage in it otherwise. Over files without a manifest the engine
// would make a new store, and delete their tables: a store of format v, 0 if
// that is not known, has one.
func judgeManifest(fs vfs.FS, index string, v FormatVersion) error {
	name, manifest, err := readManifest(fs, index)
	if err != nil {
		return err
	}
	if name == "" {
		return bornWithout(fs, index, v)
	}
	if v == 0 {
		return nil // a crash may have left anything, see openEngine
	}
	seal, err := readAll(fs, fs.PathJoin(index, sealFile))
	if err != nil && !isNotExist(err) {
		return err
	}
	sealed, length, sum, ok := parseSeal(seal)
	switch {
	case ok && sealed == name && length <= len(manifest):
		if xxhash.Sum64(manifest[:length]) != sum {
			return ErrDamagedLog
		}
	case ok && sealed == name:
		return fmt.Errorf("%w: %d bytes are missing", ErrDamagedLog, length-len(manifest))
	}
	return checkManifest(manifest)
}

// bornWithout fails if there is a store, but no manifest.
func bornWithout(fs vfs.FS, index string, v FormatVersion) error {
	if v == 0 {
		names, err := fs.List(index)
		if err != nil || !slices.ContainsFunc(names, isTable) {
			return err
		}
	}
	return fmt.Errorf("the log of its tables is not there: %w", ErrCorrupt)
}

// readManifest returns the engine's manifest, and no name if there is none.
func readManifest(fs vfs.FS, index string) (name string, manifest []byte, err error) {
	if _, err := fs.Stat(index); isNotExist(err) {
		return "", nil, nil
	}
	about, err := pebble.Peek(index, fs)
	if err != nil || !about.Exists {
		return "", nil, err
	}
	name = fs.PathBase(about.ManifestFilename)
	manifest, err = readAll(fs, fs.PathJoin(index, name))
	if isNotExist(err) {
		return "", nil, nil // the engine knows what to say
	}
	return name, manifest, err
}

func readAll(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

func parseSeal(seal []byte) (name string, length int, sum uint64, ok bool) {
	var own uint64
	if n, err := fmt.Sscanf(string(seal), "%s %d %x\n%x\n", &name, &length, &sum, &own); n != 4 || err != nil || length < 0 {
		return "", 0, 0, false
	}
	line, _, _ := bytes.Cut(seal, []byte("\n"))
	return name, length, sum, own == xxhash.Sum64(append(line, '\n'))
}

// A manifest is records in chunks, none of which crosses a multiple of 32 KiB;
// what is left there is zeros. The header of a chunk, little-endian: u32
// checksum of all behind the length, u16 length, u8 kind: 1 is a whole record, 2,
// 3 and 4 the first, a middle and the last chunk of one.
const (
	manifestBlock  = 32 << 10
	manifestHeader = 7
	chunkFirst     = 2
	chunkLast      = 4
)

// checkManifest fails when a chunk of a manifest is not whole although a record
// begins behind it. The engine syncs each record before it writes the next, so
// no crash leaves that.
func checkManifest(manifest []byte) error {
	at := 0
	for at < len(manifest) {
		left := manifest[at:min(len(manifest), (at/manifestBlock+1)*manifestBlock)]
		_, n := wholeChunk(left)
		switch {
		case n > 0:
			at += n
		case len(bytes.Trim(left, "\x00")) == 0:
			at += len(left)
		default:
			if recordBeginsIn(manifest[at+1:]) {
				return ErrDamagedLog
			}
			return nil // cut off by a crash
		}
	}
	return nil
}

// wholeChunk returns the kind and length of the chunk that data begins with, a
// length of 0 if its checksum denies that there is one.
func wholeChunk(data []byte) (kind byte, length int) {
	if len(data) <= manifestHeader {
		return 0, 0
	}
	kind, length = data[6], manifestHeader+int(binary.LittleEndian.Uint16(data[4:]))
	if kind == 0 || kind > chunkLast || length == manifestHeader || length > len(data) {
		return 0, 0
	}
	sum := crc32.Checksum(data[6:length], castagnoli)
	if (sum>>15|sum<<17)+0xa282ead8 != binary.LittleEndian.Uint32(data) {
		return 0, 0
	}
	return kind, length
}

// recordBeginsIn reports whether the first chunk of a record stands anywhere in
// data.
func recordBeginsIn(data []byte) bool {
	for ; len(data) > manifestHeader; data = data[1:] {
		if kind, n := wholeChunk(data); n > 0 && kind <= chunkFirst {
			return true
		}
	}
	return false
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// breakSeal removes the seal, durably, before anything is changed.
func (s *Store) breakSeal(index string) error {
	err := s.fs.Remove(s.fs.PathJoin(index, sealFile))
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(s.fs, index)
}

// settle puts all that was committed into tables. It reports false when the
// engine cannot.
func (s *Store) settle() bool {
	if s.options.ReadOnly {
		return false
	}
	e, err := s.allow()
	if err != nil {
		return false
	}
	defer s.leave(e)
	select {
	case <-s.stuck: // of long ago
	default:
	}
	done := false
	err = e.do(func() error {
		flushed, err := e.db.AsyncFlush()
		if err != nil {
			return err
		}
		select {
		case <-flushed:
			done = true
		case <-s.stuck:
		}
		return nil
	})
	return err == nil && done
}

// seal seals the manifest of an engine that is closed.
func (s *Store) seal() error {
	index := s.fs.PathJoin(s.dir, "index")
	name, manifest, err := readManifest(s.fs, index)
	if err != nil || name == "" {
		return err
	}
	path := s.fs.PathJoin(index, sealFile)
	if err := writeDurably(s.fs, path, sealOf(name, manifest)); err != nil {
		return fmt.Errorf("seal store: %w", err)
	}
	return nil
}
