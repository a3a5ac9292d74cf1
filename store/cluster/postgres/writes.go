package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/decode"
)

// The column writes of an entry is, for each write in its order:
//
//	uvarint length, key
//	uvarint length + 1, value; or 0 to delete the record
func encodeWrites(writes []cluster.Write) []byte {
	size := 0
	for _, w := range writes {
		size += len(w.Key) + len(w.Value) + 2*binary.MaxVarintLen32
	}
	out := make([]byte, 0, size)
	for _, w := range writes {
		out = append(binary.AppendUvarint(out, uint64(len(w.Key))), w.Key...)
		if w.Value == nil {
			out = append(out, 0)
			continue
		}
		out = append(binary.AppendUvarint(out, uint64(len(w.Value))+1), w.Value...)
	}
	return out
}

var errDamaged = errors.New("entry of the log is damaged")

// decodeWrites returns the writes of an entry, whose slices are those of text.
func decodeWrites(text []byte) ([]cluster.Write, error) {
	var writes []cluster.Write
	r := decode.Reader{Rest: text}
	for len(r.Rest) > 0 {
		w := cluster.Write{Key: take(&r, r.Uvarint())}
		if n := r.Uvarint(); n > 0 {
			w.Value = take(&r, n-1)
		}
		if r.Bad {
			return nil, errDamaged
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// take reads n bytes, which are not nil.
func take(r *decode.Reader, n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Bad, r.Rest = true, nil
		return nil
	}
	return slices.Clip(r.Bytes(int(n)))
}

// columns returns keys and values of the records that writes leave, in the order of
// the keys. The last write to a key counts.
func columns(writes []cluster.Write) (keys, values [][]byte) {
	sorted := slices.Clone(writes)
	slices.SortStableFunc(sorted, func(a, b cluster.Write) int { return bytes.Compare(a.Key, b.Key) })
	keys, values = make([][]byte, 0, len(sorted)), make([][]byte, 0, len(sorted))
	for i, w := range sorted {
		if i+1 < len(sorted) && bytes.Equal(w.Key, sorted[i+1].Key) {
			continue
		}
		keys, values = append(keys, w.Key), append(values, w.Value)
	}
	return keys, values
}
