package match

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// Brute appends all non-empty matches in text as Go's engine finds them, and
// reports whether there was any match, an empty one included. It is the slow
// truth.
func (m *Matcher) Brute(dst []Span, text []byte) ([]Span, bool) {
	dst, found, _ := m.BruteWithin(nil, dst, text) // nothing stops it
	return dst, found
}

// quickWork is how many steps of Go's engine are taken without looking at the
// budget: about a second.
const quickWork = 1 << 27

// BruteWithin is Brute within a budget. The error is ErrStopped.
func (m *Matcher) BruteWithin(l *Budget, dst []Span, text []byte) ([]Span, bool, error) {
	// Each of its matches may cost Go's engine a look at all the rest of the
	// text, by all the threads that the program has.
	if n := len(text); l == nil || n*n <= quickWork/m.size {
		return m.bruteQuickly(l, dst, text)
	}
	b := bruteSearch{m: m, text: text, budget: l, cost: 1 + m.size/16}
	n, found := len(dst), false
	for at := 0; at <= len(text); {
		start, end, ok := b.next(at)
		if b.stopped || l.spend(1+end-at) {
			return dst, found, ErrStopped
		}
		if !ok {
			break
		}
		found = true
		if start == end {
			// The next begins behind the next rune.
			_, width := utf8.DecodeRune(text[end:])
			at = end + max(width, 1)
			continue
		}
		if l.full(len(dst) - n) {
			break
		}
		dst = append(dst, Span{uint32(start), uint32(end)})
		at = end
	}
	return dst, found, nil
}

func (m *Matcher) bruteQuickly(l *Budget, dst []Span, text []byte) ([]Span, bool, error) {
	n, found := len(dst), false
	for _, loc := range m.re().FindAllIndex(text, -1) {
		found = true
		if loc[0] == loc[1] {
			continue
		}
		if l.full(len(dst) - n) {
			break
		}
		dst = append(dst, Span{uint32(loc[0]), uint32(loc[1])})
	}
	return dst, found, nil
}

// bruteSearch has Go's engine look for one match after the other, in text that
// it reads rune by rune, which is where it can be stopped.
type bruteSearch struct {
	m       *Matcher
	text    []byte
	budget  *Budget
	cost    int // of a rune
	at      int // what is read next
	stopped bool
}

// next returns the first match that begins at from or behind. Assertions see the
// rune before.
func (b *bruteSearch) next(from int) (start, end int, ok bool) {
	if b.at = 0; from == 0 {
		loc := b.m.re().FindReaderIndex(b)
		if loc == nil {
			return 0, 0, false
		}
		return loc[0], loc[1], true
	}
	_, width := utf8.DecodeLastRune(b.text[:from])
	base := from - width
	b.at = base
	loc := b.m.behind().FindReaderSubmatchIndex(b)
	if loc == nil {
		return 0, 0, false
	}
	return base + loc[2], base + loc[3], true
}

// ReadRune implements io.RuneReader for Go's engine.
func (b *bruteSearch) ReadRune() (rune, int, error) {
	if b.stopped = b.stopped || b.budget.spend(b.cost); b.stopped || b.at == len(b.text) {
		return 0, 0, io.EOF
	}
	r, width := utf8.DecodeRune(b.text[b.at:])
	b.at += width
	return r, width, nil
}

// compileBehind returns the regexp whose only group of interest, the first, is
// the first match of re behind one rune.
func compileBehind(re string) *regexp.Regexp {
	const before = `\A(?s:.)(?s:.*?)(`
	out, err := regexp.Compile(before + re + ")")
	if err != nil {
		// It ends in a quotation that goes on to the end of the pattern.
		out = regexp.MustCompile(before + re + `\E)`)
	}
	return out
}
