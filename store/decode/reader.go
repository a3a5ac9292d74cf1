package decode

import "encoding/binary"

// Reader takes values off a byte slice. After a fault it yields zeros and Bad is
// set.
type Reader struct {
	// Rest are the bytes that were not read yet.
	Rest []byte
	Bad  bool
}

// Uvarint reads an unsigned varint.
func (r *Reader) Uvarint() uint64 {
	if len(r.Rest) > 0 && r.Rest[0] < 0x80 { // as most are
		v := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Bad, r.Rest = true, nil
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// U32 reads an unsigned varint of 32 bits.
func (r *Reader) U32() uint32 {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.Bad = true
	}
	return uint32(v)
}

// Count reads a number that cannot exceed what is left to read by much; the
// bound keeps a broken page from asking for memory.
func (r *Reader) Count() int {
	v := r.Uvarint()
	if v > 1<<24 {
		r.Bad, r.Rest = true, nil
		return 0
	}
	return int(v)
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.Rest) == 0 {
		r.Bad = true
		return 0
	}
	c := r.Rest[0]
	r.Rest = r.Rest[1:]
	return c
}

// Bytes reads n bytes, borrowed.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.Rest) {
		r.Bad, r.Rest = true, nil
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Varint reads a signed varint.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Bad, r.Rest = true, nil
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}
