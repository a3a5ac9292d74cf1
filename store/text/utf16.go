package text

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeMarked converts content that begins with the byte order mark of UTF-16
// or UTF-32. ok is false if there is none, or what follows is not text.
func decodeMarked(data []byte) (decoded []byte, encoding string, ok bool) {
	switch {
	// The mark of UTF-32 begins with that of UTF-16, and comes first.
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")):
		decoded, ok = fromUTF32(data[4:], binary.LittleEndian)
		return decoded, UTF32LE, ok
	case bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		decoded, ok = fromUTF32(data[4:], binary.BigEndian)
		return decoded, UTF32BE, ok
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		decoded, ok = fromUTF16(data[2:], binary.LittleEndian)
		return decoded, UTF16LE, ok
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		decoded, ok = fromUTF16(data[2:], binary.BigEndian)
		return decoded, UTF16BE, ok
	}
	return nil, "", false
}

// utf16SampleBytes is how much of a file's start decides whether it is UTF-16.
const utf16SampleBytes = 64 << 10

// decodeUnmarkedUTF16 converts UTF-16 that says so by its NULs alone: ASCII
// characters, of which any text has some, put one into every other place; few
// characters, such as U+4E00, put one into the other half.
func decodeUnmarkedUTF16(data []byte) (Text, string) {
	if len(data)%2 != 0 {
		return Text{}, ReasonBinary
	}
	var nuls [2]int
	sample := data[:min(len(data), utf16SampleBytes)]
	for i, c := range sample {
		if c == 0 {
			nuls[i%2]++
		}
	}
	encoding, order := UTF16LE, binary.ByteOrder(binary.LittleEndian)
	if nuls[0] > nuls[1] {
		encoding, order = UTF16BE, binary.BigEndian
		nuls[0], nuls[1] = nuls[1], nuls[0]
	}
	if nuls[0]*10 > nuls[1] && nuls[0] > 1 || nuls[1]*20 < len(sample) { // one character in ten is ASCII
		return Text{}, ReasonBinary
	}
	decoded, ok := fromUTF16(data, order)
	if !ok || !plausible(decoded) {
		return Text{}, ReasonBinary
	}
	return admit(decoded, encoding)
}

// plausible reports that nearly all characters of a text are assigned ones.
// Tables of small numbers have the NULs of UTF-16, but not this.
func plausible(decoded []byte) bool {
	characters, odd := 0, 0
	for _, r := range string(decoded[:min(len(decoded), utf16SampleBytes)]) {
		characters++
		if r >= utf8.RuneSelf && !unicode.IsGraphic(r) || r < utf8.RuneSelf && isControl(byte(r)) {
			odd++
		}
	}
	return odd*50 <= characters
}

// fromUTF16 converts UTF-16 without a mark. ok is false if that yields a NUL
// or more than a few broken characters.
func fromUTF16(data []byte, order binary.ByteOrder) (decoded []byte, ok bool) {
	out := make([]byte, 0, len(data)/2+len(data)/8)
	broken := len(data) % 2
	for i := 0; i+1 < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(data) {
				low = rune(order.Uint16(data[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				broken++
			} else {
				i += 2
			}
		}
		if r == 0 {
			return nil, false
		}
		out = utf8.AppendRune(out, r)
	}
	return out, broken*100 <= len(data)/2+100
}

// fromUTF32 converts UTF-32 without a mark. ok is false if that yields a NUL
// or more than one broken character in a hundred.
func fromUTF32(data []byte, order binary.ByteOrder) (decoded []byte, ok bool) {
	out := make([]byte, 0, len(data)/4+len(data)/8)
	characters, broken := len(data)/4, 0
	for ; len(data) >= 4; data = data[4:] {
		u := order.Uint32(data)
		if u == 0 {
			return nil, false
		}
		r := utf8.RuneError
		if u <= unicode.MaxRune && utf8.ValidRune(rune(u)) {
			r = rune(u)
		} else {
			broken++
		}
		out = utf8.AppendRune(out, r)
	}
	return out, broken*100 <= characters
}
