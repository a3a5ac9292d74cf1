package text

import "encoding/binary"

// controlSampleBytes is how much of a file's start is looked at for control
// characters.
const controlSampleBytes = 64 << 10

// How many control characters text may hold, as one in so many bytes. Random
// bytes hold one in nine, so that 8-bit content without any structure, which
// could pass for a legacy encoding, must be purer than UTF-8.
const (
	maxControls     = 10
	maxControls8Bit = 20
)

// tooManyControls reports that more than one in limit bytes is a control
// character that text has no use for.
func tooManyControls(data []byte, limit int) bool {
	data = data[:min(len(data), controlSampleBytes)]
	if !hasLowControl(data) {
		return false
	}
	controls := 0
	for _, c := range data {
		if isControl(c) {
			controls++
		}
	}
	return controls*limit > len(data)
}

// isControl leaves out what text files do contain: white space, backspace of
// formatted manuals, form feed, escape of terminal colours, the separators of
// Info files.
func isControl(c byte) bool {
	switch {
	case c == '\b', '\t' <= c && c <= '\r', c == 0x1b, c == 0x1f:
		return false
	}
	return c < ' ' || c == 0x7f
}

// hasLowControl reports whether a byte below backspace is in data. It tests
// eight bytes at a time: (x-n)&^x has the high bit of each byte below n set
// (and perhaps that of a byte above such a one, which does no harm). Content
// with many control characters of any kind has some of these.
func hasLowControl(data []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(data) >= 8 {
		x := binary.LittleEndian.Uint64(data)
		if (x-'\b'*ones)&^x&highs != 0 {
			return true
		}
		data = data[8:]
	}
	for _, c := range data {
		if c < '\b' {
			return true
		}
	}
	return false
}
