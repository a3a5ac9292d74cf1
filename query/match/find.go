package match

import (
	"bytes"
	"slices"

	"github.com/trawlsearch/trawl/postings"
)

// Hint is where in a document a match may be, as the posting lists tell it.
type Hint struct {
	// Blocks are candidate blocks, counted from the document's first: one of
	// Anchor's literals begins in them for each match. nil is everywhere.
	Blocks []uint16
	Anchor postings.Expr
}

// Find appends the spans of all non-empty matches in t, and reports whether
// there was any match, an empty one included.
func (m *Matcher) Find(dst []Span, t *Text, h Hint) ([]Span, bool, error) {
	if m.nullable {
		return m.findEverywhere(dst, t)
	}
	if t.Len() == 0 {
		return dst, false, nil
	}
	switch {
	case m.literal:
		n := len(dst)
		dst, err := m.findLiteral(dst, t, h)
		return dst, len(dst) > n, err
	case m.inLine:
		return m.findInLines(dst, t, h)
	}
	return m.findAcross(dst, t, h)
}

// windowBlocks is the most blocks looked at in one go, so that what a large
// document costs in memory is the length of its lines and not its own.
const windowBlocks = 64

// windows calls f for runs of neighbouring candidate blocks, ascending, with
// the interval of bytes they cover; nil blocks are all of t.
func windows(t *Text, blocks []uint16, f func(lo, hi int) error) error {
	if blocks == nil {
		const size = windowBlocks * postings.BlockBytes
		for lo := 0; lo < t.Len(); lo += size {
			if err := f(lo, min(lo+size, t.Len())); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i < len(blocks); {
		j := i + 1
		for j < len(blocks) && j-i < windowBlocks && blocks[j] == blocks[j-1]+1 {
			j++
		}
		lo := int(blocks[i]) * postings.BlockBytes
		if err := f(lo, min(int(blocks[j-1]+1)*postings.BlockBytes, t.Len())); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// findLiteral looks for the literal where it may begin. Matches are found left
// to right and do not overlap, so the next begins no earlier than the last
// ended, in whichever window that was.
func (m *Matcher) findLiteral(dst []Span, t *Text, h Hint) ([]Span, error) {
	end := 0
	err := windows(t, h.Blocks, func(lo, hi int) error {
		from := max(lo, end)
		if from >= hi {
			return nil
		}
		b, err := t.Bytes(from, min(hi+m.reach-1, t.Len()))
		if err != nil {
			return err
		}
		t.BytesRead += len(b)
		if m.wide && hasWide(b) {
			for _, loc := range m.re.FindAllIndex(b, -1) {
				if from+loc[0] >= hi {
					break
				}
				end = from + loc[1]
				dst = append(dst, Span{uint32(from + loc[0]), uint32(end)})
			}
			return nil
		}
		size := len(m.needle.text)
		m.needle.each(b, func(at int) int {
			if from+at >= hi {
				return -1
			}
			end = from + at + size
			dst = append(dst, Span{uint32(from + at), uint32(end)})
			return at + size
		})
		return nil
	})
	return dst, err
}

// findInLines runs the regexp on the lines that have a literal of the anchor
// in a candidate block, or on all lines of the text when there is no anchor.
func (m *Matcher) findInLines(dst []Span, t *Text, h Hint) ([]Span, bool, error) {
	needles := anchorNeedles(h.Anchor)
	if h.Blocks == nil || needles == nil {
		return m.findEverywhere(dst, t)
	}
	e := m.engine()
	defer e.release()
	n, done := len(dst), 0
	err := windows(t, h.Blocks, func(lo, hi int) error {
		lo, b, err := wholeLines(t, max(lo, done), hi)
		if err != nil || b == nil {
			return err
		}
		t.BytesRead += len(b)
		done = lo + len(b) + 1
		for _, line := range needleLines(needles, b) {
			first := len(dst)
			dst, _ = e.find(dst, b[line.Start:line.End])
			shift(dst[first:], uint32(lo)+line.Start)
		}
		return nil
	})
	return dst, len(dst) > n, err
}

// shift moves spans by some bytes.
func shift(spans []Span, by uint32) {
	for i := range spans {
		spans[i].Start += by
		spans[i].End += by
	}
}

// findEverywhere runs the regexp on the whole text, or if lines can be looked
// at alone, on some lines after the other: the engine's list of all matches in
// a large document may be many times the size of that.
func (m *Matcher) findEverywhere(dst []Span, t *Text) ([]Span, bool, error) {
	e := m.engine()
	defer e.release()
	if !m.inLine || t.Len() <= wholeBytes {
		all, err := t.All()
		if err != nil {
			return dst, false, err
		}
		dst, found := e.find(dst, all)
		return dst, found, nil
	}
	found := false
	// The last line is the one behind the last newline, empty or not.
	for lo := 0; lo <= t.Len(); {
		hi, err := lineEnd(t, min(lo+windowBlocks*postings.BlockBytes, t.Len()))
		if err != nil {
			return dst, false, err
		}
		b, err := t.Bytes(lo, hi)
		if err != nil {
			return dst, false, err
		}
		t.BytesRead += len(b)
		first, some := len(dst), false
		dst, some = e.find(dst, b)
		shift(dst[first:], uint32(lo))
		found = found || some
		lo = hi + 1
	}
	return dst, found, nil
}

// wideReach is the most bytes that a literal of an anchor, spelled with wide
// runes, may have.
const wideReach = 3 * postings.MaxLiteralBytes

// findAcross runs the regexp on the whole text, if a literal of the anchor is
// there at all.
func (m *Matcher) findAcross(dst []Span, t *Text, h Hint) ([]Span, bool, error) {
	if needles := anchorNeedles(h.Anchor); h.Blocks != nil && needles != nil {
		there := false
		err := windows(t, h.Blocks, func(lo, hi int) error {
			if there {
				return nil
			}
			b, err := t.Bytes(lo, min(hi+wideReach, t.Len()))
			t.BytesRead += len(b)
			there = err == nil && len(needleLines(needles, b)) > 0
			return err
		})
		if err != nil || !there {
			return dst, false, err
		}
	}
	return m.findEverywhere(dst, t)
}

// wholeLines extends the interval to whole lines, without the last newline,
// and returns where it begins and its bytes; nil bytes when nothing is left.
func wholeLines(t *Text, lo, hi int) (int, []byte, error) {
	if lo >= hi {
		return lo, nil, nil
	}
	start, err := lineStart(t, lo)
	if err != nil {
		return 0, nil, err
	}
	end, err := lineEnd(t, hi)
	if err != nil {
		return 0, nil, err
	}
	b, err := t.Bytes(start, end)
	return start, b, err
}

// step is how far lineStart and lineEnd look at a time.
const step = 1024

// lineStart returns where the line that holds offset at begins.
func lineStart(t *Text, at int) (int, error) {
	for at > 0 {
		lo := max(0, at-step)
		b, err := t.Bytes(lo, at)
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return lo + i + 1, nil
		}
		at = lo
	}
	return 0, nil
}

// lineEnd returns where the line that holds offset at ends, which is where its
// newline stands or the end of the text.
func lineEnd(t *Text, at int) (int, error) {
	for at < t.Len() {
		hi := min(at+step, t.Len())
		b, err := t.Bytes(at, hi)
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return at + i, nil
		}
		at = hi
	}
	return t.Len(), nil
}

// finder is one literal of an anchor.
type finder struct {
	needle
	// wide says that wide runes may stand for letters of the needle.
	wide bool
}

// anchorNeedles returns finders such that every match has one of them, or nil
// when the anchor gives none.
func anchorNeedles(anchor postings.Expr) []finder {
	var lits []postings.Expr
	switch a := anchor.(type) {
	case *postings.Literal:
		lits = []postings.Expr{a}
	case *postings.Or:
		lits = a.Exprs
	}
	var out []finder
	for _, e := range lits {
		l, ok := e.(*postings.Literal)
		if !ok {
			return nil
		}
		run := slices.MaxFunc(l.Runs, func(a, b string) int { return len(a) - len(b) })
		if l.Exact != "" {
			out = append(out, finder{needle: newNeedle(l.Exact, false)})
		} else {
			out = append(out, finder{newNeedle(run, true), l.WideFold})
		}
	}
	return out
}

// needleLines returns the lines of b that hold a needle, ascending. When a
// needle may be spelled with wide runes and b has some, that is all of b.
func needleLines(needles []finder, b []byte) []Span {
	var lines []Span
	for i := range needles {
		n := &needles[i]
		if n.wide && hasWide(b) {
			return []Span{{0, uint32(len(b))}}
		}
		first := len(lines)
		n.each(b, func(at int) int {
			start := bytes.LastIndexByte(b[:at], '\n') + 1
			end := len(b)
			if j := bytes.IndexByte(b[at:], '\n'); j >= 0 {
				end = at + j
			}
			lines = append(lines, Span{uint32(start), uint32(end)})
			return max(end, at+1)
		})
		if i > 0 && first > 0 && len(lines) > first {
			slices.SortFunc(lines, compareSpans)
			lines = slices.Compact(lines)
		}
	}
	return lines
}
