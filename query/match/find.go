package match

import (
	"bytes"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/postings"
)

// Finder finds the matches of a pattern in documents for which the posting
// lists give the same guarantee: one of an anchor's literals begins in some
// block for each match. It is safe for concurrent use.
type Finder struct {
	m *Matcher
	// needles are the anchor's literals, nil if there is none or too many to
	// look for one after the other.
	needles needles
	// beginnings are needles one of which every match begins with, nil if there
	// are none; anchored says that they are those of the anchor.
	beginnings needles
	anchored   bool
	// longest is the most bytes that one of beginnings has.
	longest int
	// begin has a bit for each of beginnings with which the anchor's n-th
	// alternative begins. It is nil unless that is known.
	begin []uint8
}

// Finder returns a finder for an anchor, nil for none.
func (m *Matcher) Finder(anchor postings.Expr) *Finder {
	f := &Finder{m: m, needles: literalNeedles(anchor)}
	if m.beginnings != nil {
		f.beginnings = m.beginnings
		f.anchored = anchor != nil && anchor.String() == m.begins
		f.longest = f.beginnings.longest()
	}
	if f.anchored {
		f.begin = f.beginnings.of(literalTexts(anchor))
	}
	return f
}

// Find appends the spans of all non-empty matches in t, and reports whether
// there was any match, an empty one included.
func (f *Finder) Find(dst []Span, t *Text, in Blocks) ([]Span, bool, error) {
	m := f.m
	switch {
	case m.nullable:
		return m.findEverywhere(dst, t)
	case t.Len() == 0:
		return dst, false, nil
	case m.literal:
		n := len(dst)
		dst, err := m.findLiteral(dst, t, in)
		return dst, len(dst) > n, err
	case f.anchored:
		return f.findBeginnings(dst, t, in)
	case m.inLine && in.numbers != nil:
		return f.findInLines(dst, t, in)
	case f.beginnings != nil:
		return f.findBeginnings(dst, t, Blocks{})
	}
	return f.findAcross(dst, t, in)
}

// findLiteral looks for the literal where it may begin. Matches are found left
// to right and do not overlap, so the next begins no earlier than the last
// ended, in whichever window that was.
func (m *Matcher) findLiteral(dst []Span, t *Text, in Blocks) ([]Span, error) {
	n, end := len(dst), 0
	err := in.windows(t, func(lo, hi int) error {
		from := max(lo, end)
		if from >= hi || len(dst)-n > t.Budget.limit() {
			return nil
		}
		if t.Budget.spend(hi - from) {
			return ErrStopped
		}
		b, err := t.Bytes(from, min(hi+m.reach-1, t.Len()))
		if err != nil {
			return err
		}
		t.BytesRead += len(b)
		if m.wide && t.mayFoldWide(b) {
			for _, loc := range m.re().FindAllIndex(b, -1) {
				if from+loc[0] >= hi {
					break
				}
				end = from + loc[1]
				dst = append(dst, Span{uint32(from + loc[0]), uint32(end)})
			}
			return nil
		}
		size, c := len(m.needle.text), newCursor()
		for at := m.needle.next(b, 0, &c); at >= 0 && from+at < hi; at = m.needle.next(b, at+size, &c) {
			end = from + at + size
			dst = append(dst, Span{uint32(from + at), uint32(end)})
		}
		return nil
	})
	return t.Budget.cut(dst, n), err
}

// behindBytes is how far behind a candidate block a match that begins in it is
// usually over. Attempts at matches that read more than attemptShare times the
// document are worse than one search through all of it.
const (
	behindBytes  = 4 << 10
	attemptShare = 2
)

// findBeginnings runs the automaton where a needle stands, since a match begins
// nowhere else, and in a block only those needles that lists say may be there.
// Documents that it cannot decide there are left to a search through the whole
// text.
func (f *Finder) findBeginnings(dst []Span, t *Text, in Blocks) ([]Span, bool, error) {
	s := f.m.automaton.Searcher()
	defer s.Release()
	n, end, whole := len(dst), 0, false
	room := attemptShare * t.Len()
	err := in.windowsByAlternatives(t, func(lo, hi int, alternatives uint8) error {
		lo = max(lo, end)
		if whole || lo >= hi || len(dst)-n > t.Budget.limit() {
			return nil
		}
		if t.Budget.spend(hi - lo) {
			return ErrStopped
		}
		// Assertions ask for the byte before.
		from := max(lo-1, 0)
		b, err := t.Bytes(from, min(hi+behindBytes, t.Len()))
		if err != nil {
			return err
		}
		t.BytesRead += len(b)
		if whole = f.beginnings.wide() && t.mayFoldWide(b); whole {
			return nil
		}
		it := f.beginnings.iterator(b[:min(hi-from+f.longest-1, len(b))], lo-from)
		f.leaveOut(&it, alternatives)
		for at := it.next(); at >= 0 && from+at < hi; at = it.next() {
			stop, seen, ok, err := s.At(b, at)
			room -= seen - at
			if whole = err != nil || room < 0 || seen == len(b) && from+len(b) < t.Len() || !validUpTo(b[at:], seen-at); whole {
				return nil
			}
			if ok {
				dst = append(dst, Span{uint32(from + at), uint32(from + stop)})
				end, it.from = from+stop, stop
			}
		}
		return nil
	})
	if whole && err == nil {
		return f.m.findEverywhere(dst[:n], t)
	}
	return t.Budget.cut(dst, n), len(dst) > n, err
}

// leaveOut has it not look for needles with which none of some alternatives
// begins.
func (f *Finder) leaveOut(it *needleIterator, alternatives uint8) {
	if f.begin == nil {
		return
	}
	var wanted uint8
	for i, needles := range f.begin {
		if alternatives&(1<<i) != 0 {
			wanted |= needles
		}
	}
	for i := range it.needles {
		if wanted&(1<<i) == 0 {
			it.places[i] = len(it.text)
		}
	}
}

// validUpTo reports whether the automaton was right to stop at the byte at end
// of b: a byte that is not UTF-8 stops it at once or on one of the next three,
// and Go's engine reads it as U+FFFD.
func validUpTo(b []byte, end int) bool {
	ascii := true
	for _, c := range b[max(end-utf8.UTFMax, 0):min(end+1, len(b))] {
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return true
	}
	for end++; end < len(b) && !utf8.RuneStart(b[end]); end++ {
	}
	return utf8.Valid(b[:min(end, len(b))])
}

// findInLines runs the regexp on the lines that have a needle in a candidate
// block, or without needles on all lines that begin in one or reach into it.
func (f *Finder) findInLines(dst []Span, t *Text, in Blocks) ([]Span, bool, error) {
	e := f.m.engine(t.Budget)
	defer e.release()
	n, done := len(dst), 0
	err := in.windows(t, func(lo, hi int) error {
		if len(dst)-n > t.Budget.limit() {
			return nil
		}
		lo, b, err := wholeLines(t, max(lo, done), hi)
		if err != nil || b == nil {
			return err
		}
		t.BytesRead += len(b)
		done = lo + len(b) + 1
		if f.needles == nil || f.needles.wide() && t.mayFoldWide(b) {
			first := len(dst)
			dst, _, err = e.find(dst, b)
			shift(dst[first:], uint32(lo))
			return err
		}
		it := f.needles.iterator(b, 0)
		for at := it.next(); at >= 0; at = it.next() {
			start := bytes.LastIndexByte(b[:at], '\n') + 1
			end := len(b)
			if j := bytes.IndexByte(b[at:], '\n'); j >= 0 {
				end = at + j
			}
			first := len(dst)
			if dst, _, err = e.find(dst, b[start:end]); err != nil {
				return err
			}
			shift(dst[first:], uint32(lo+start))
			it.from = max(end, at+1)
		}
		return nil
	})
	return t.Budget.cut(dst, n), len(dst) > n, err
}

// shift moves spans by some bytes.
func shift(spans []Span, by uint32) {
	for i := range spans {
		spans[i].Start += by
		spans[i].End += by
	}
}

// findEverywhere runs the regexp on the whole text, or, if lines can be matched
// alone, on a few lines at a time. The engine's list of all matches in a large
// document may be many times its size.
func (m *Matcher) findEverywhere(dst []Span, t *Text) ([]Span, bool, error) {
	e := m.engine(t.Budget)
	defer e.release()
	if !m.inLine || t.Len() <= wholeBytes {
		all, err := t.All()
		if err != nil {
			return dst, false, err
		}
		return e.find(dst, all)
	}
	n, found := len(dst), false
	// The last line is the one behind the last newline, empty or not.
	for lo := 0; lo <= t.Len() && len(dst)-n <= t.Budget.limit(); {
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
		if dst, some, err = e.find(dst, b); err != nil {
			return dst, found, err
		}
		shift(dst[first:], uint32(lo))
		found = found || some
		lo = hi + 1
	}
	return t.Budget.cut(dst, n), found, nil
}

// findAcross runs the regexp on the whole text, if a needle is there at all.
func (f *Finder) findAcross(dst []Span, t *Text, in Blocks) ([]Span, bool, error) {
	if f.needles != nil && in.numbers != nil {
		there := false
		err := in.windows(t, func(lo, hi int) error {
			if there {
				return nil
			}
			b, err := t.Bytes(lo, min(hi+wideReach, t.Len()))
			if err != nil {
				return err
			}
			t.BytesRead += len(b)
			it := f.needles.iterator(b, 0)
			there = f.needles.wide() && t.mayFoldWide(b) || it.next() >= 0
			return nil
		})
		if err != nil || !there {
			return dst, false, err
		}
	}
	return f.m.findEverywhere(dst, t)
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
