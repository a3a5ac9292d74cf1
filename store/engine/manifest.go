package engine

import (
	"bytes"
	"io"

	"github.com/cockroachdb/pebble/v2/record"
)

// The engine's manifest is a log of records. The engine syncs each record before
// it writes the next one, so a crash leaves at most one record that is not whole,
// and no other behind it. A record behind one that is not whole is damage.
//
// The format of the log is the engine's, and so is all code that reads or
// writes it: package record. Two figures of its documentation are used here; a
// test compares them with the output of the package.
const (
	// manifestBlock is the size of the blocks of the log. A chunk, which is a
	// record or a part of one, does not cross from one block into the next.
	manifestBlock = 32 << 10
	// leastChunk is the size of the smallest chunk, that of an empty record.
	leastChunk = 7
)

// checkManifest fails with ErrDamagedLog when a record of a manifest is not whole
// although another one begins behind it.
func checkManifest(manifest []byte) error {
	at := wholeUpTo(manifest)
	if len(manifest)-at < leastChunk {
		return nil
	}
	f := newRecordFinder()
	for ; at < len(manifest); at++ {
		block := manifest[at:min(len(manifest), (at/manifestBlock+1)*manifestBlock)]
		if f.recordBegins(block, at%manifestBlock) {
			return ErrDamagedLog
		}
	}
	return nil
}

// wholeUpTo returns where the engine stops reading a manifest: behind its last
// record, at the first one that is not whole, or behind the first chunk of that.
func wholeUpTo(manifest []byte) int {
	r := record.NewReader(bytes.NewReader(manifest), 0)
	for {
		at := r.Offset()
		next, err := r.Next()
		if err == nil {
			at = r.Offset()
			_, err = io.Copy(io.Discard, next)
		}
		if err != nil {
			return int(at)
		}
	}
}

// recordFinder looks for records where the engine's reader does not get to. It
// takes the length of a chunk from the reader, and compares the chunk with what the
// engine's writer makes of the same payload. The reader alone would do, but over a
// checksum that is wrong it tries to flip each bit of the chunk, which takes up to
// a second for one of 32 KiB.
//
// Readers and writers are large and cannot be used again, so each one is made
// by copying an unused one.
type recordFinder struct {
	reader, newReader *record.Reader
	writer, newWriter *record.Writer
	written           bytes.Buffer
	// head is what reader has still to read, end its offset when it asked for more.
	head []byte
	end  int64
}

func newRecordFinder() *recordFinder {
	f := &recordFinder{reader: new(record.Reader), writer: new(record.Writer)}
	f.newReader = record.NewReader((*headReader)(f), 0)
	f.newWriter = record.NewWriter(&f.written)
	return f
}

// recordBegins reports whether the rest of a block, from offset at in the block, begins
// with a record or with the first chunk of one.
func (f *recordFinder) recordBegins(rest []byte, at int) bool {
	if len(rest) < leastChunk {
		return false
	}
	n := f.chunkLength(rest[:leastChunk])
	if n < leastChunk || n > len(rest) {
		return false
	}
	chunk, payload := rest[:n], rest[leastChunk:n]
	if bytes.Equal(chunk, f.write(0, payload, false)) {
		return true
	}
	// The record goes on in the next block.
	return at+n == manifestBlock && (at == 0 || at >= leastChunk) && bytes.HasPrefix(f.write(at, payload, true), chunk)
}

// chunkLength returns the length of the chunk that begins with head, 0 if none
// does.
func (f *recordFinder) chunkLength(head []byte) int {
	f.head, f.end = head, 0
	*f.reader = *f.newReader
	if _, err := f.reader.Next(); err == nil {
		return int(f.reader.Offset()) // an empty record
	}
	return int(f.end)
}

// headReader is the beginning of a log. A reader that asks for more is behind the
// chunk at hand.
type headReader recordFinder

// Read implements io.Reader.
func (h *headReader) Read(p []byte) (int, error) {
	if len(h.head) == 0 {
		h.end = h.reader.Offset()
		return 0, io.EOF
	}
	n := copy(p, h.head)
	h.head = h.head[n:]
	return n, nil
}

// write returns a record as the engine writes it at an offset in a block. The
// record is payload, and one byte more if it is to be continued.
func (f *recordFinder) write(at int, payload []byte, continued bool) []byte {
	f.written.Reset()
	*f.writer = *f.newWriter
	if at > 0 {
		_, _ = f.writer.WriteRecord(make([]byte, at-leastChunk)) // a buffer takes everything
	}
	if continued {
		payload = append(bytes.Clone(payload), 0)
	}
	_, _ = f.writer.WriteRecord(payload)
	return f.written.Bytes()[at:]
}
