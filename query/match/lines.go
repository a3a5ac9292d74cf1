package match

import "bytes"

// FindLines appends all non-empty matches in text of which each line is looked
// at by itself, as if there were no other, and reports whether a line matched,
// empty matches included. Lines are separated by newlines: text that is empty
// is one empty line.
func (m *Matcher) FindLines(dst []Span, text []byte) ([]Span, bool) {
	if !m.inLine {
		return eachLine(dst, text, m.FindBytes)
	}
	return m.FindBytes(dst, text)
}

// BruteLines is FindLines by Go's engine, line by line.
func (m *Matcher) BruteLines(dst []Span, text []byte) ([]Span, bool) {
	return eachLine(dst, text, m.Brute)
}

// FindBytes appends all non-empty matches in text that is at hand and reports
// whether there was any match, an empty one included.
func (m *Matcher) FindBytes(dst []Span, text []byte) ([]Span, bool) {
	if !m.literal || m.nullable || m.wide && hasWide(text) {
		e := m.engine()
		defer e.release()
		return e.find(dst, text)
	}
	n := len(dst)
	dst = m.needle.appendAll(dst, text)
	return dst, len(dst) > n
}

// eachLine calls find with every line.
func eachLine(dst []Span, text []byte, find func([]Span, []byte) ([]Span, bool)) ([]Span, bool) {
	found := false
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		n, some := len(dst), false
		dst, some = find(dst, text[at:end])
		shift(dst[n:], uint32(at))
		found = found || some
		if end == len(text) {
			return dst, found
		}
		at = end + 1
	}
}
