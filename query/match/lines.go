package match

import "bytes"

// FindLines appends all non-empty matches in text of which each line is looked
// at by itself, as if there were no other, and reports whether a line matched,
// empty matches included. Lines are separated by newlines: text that is empty
// is one empty line. The error is ErrStopped.
func (m *Matcher) FindLines(l *Budget, dst []Span, text []byte) ([]Span, bool, error) {
	if !m.inLine {
		return eachLine(l, dst, text, m.FindBytesWithin)
	}
	return m.FindBytesWithin(l, dst, text)
}

// BruteLines is FindLines by Go's engine, line by line.
func (m *Matcher) BruteLines(l *Budget, dst []Span, text []byte) ([]Span, bool, error) {
	return eachLine(l, dst, text, m.BruteWithin)
}

// FindBytes appends all non-empty matches in text that is at hand and reports
// whether there was any match, an empty one included.
func (m *Matcher) FindBytes(dst []Span, text []byte) ([]Span, bool) {
	dst, found, _ := m.FindBytesWithin(nil, dst, text) // nothing stops it
	return dst, found
}

// FindBytesWithin is FindBytes within a budget. The error is ErrStopped.
func (m *Matcher) FindBytesWithin(l *Budget, dst []Span, text []byte) ([]Span, bool, error) {
	if !m.literal || m.nullable || m.wide && hasWide(text) {
		e := m.engine(l)
		defer e.release()
		return e.find(dst, text)
	}
	n := len(dst)
	dst = l.cut(m.needle.appendAll(dst, text), n)
	return dst, len(dst) > n, nil
}

// eachLine calls find with every line.
func eachLine(l *Budget, dst []Span, text []byte, find func(*Budget, []Span, []byte) ([]Span, bool, error)) ([]Span, bool, error) {
	first, found := len(dst), false
	for at := 0; len(dst)-first <= l.limit(); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		n := len(dst)
		var some bool
		var err error
		dst, some, err = find(l, dst, text[at:end])
		shift(dst[n:], uint32(at))
		if found = found || some; err != nil {
			return dst, found, err
		}
		if end == len(text) {
			break
		}
		at = end + 1
	}
	return l.cut(dst, first), found, nil
}
