package finder

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// The room that the matcher works in: a path and a term whose lengths have a larger
// product are compared greedily, in one pass.
const (
	slabScores = 100 << 10
	slabRunes  = 2 << 10
)

// forPaths makes the matcher rank parts of paths.
var forPaths = sync.OnceFunc(func() { algo.Init("path") })

// pattern is what someone looks for: terms that must all be in a path, in any order,
// each with its letters in order. Case and accents do not matter. It belongs to one
// goroutine.
type pattern struct {
	terms []term
	// most is the score of a path in which each term stands behind a slash.
	most int
	slab *util.Slab
	// text is a path, and lower the same in lower case.
	text, lower []byte
	// prefix is what the last path stood behind, and plain whether it is ASCII.
	prefix string
	plain  bool
}

// term is a part of what someone looks for, also as bytes.
type term struct {
	runes []rune
	bytes []byte
	// rest is what the prefix leaves of the bytes, in order.
	rest []byte
}

// newPattern divides a text at its spaces.
func newPattern(text string) *pattern {
	forPaths()
	p := &pattern{slab: util.MakeSlab(slabScores, slabRunes), plain: true}
	for _, field := range strings.Fields(strings.ToLower(text)) {
		runes := algo.NormalizeRunes([]rune(field))
		text := []byte(string(runes))
		p.terms = append(p.terms, term{runes, text, text})
		// No other text of that many characters has a higher score.
		letters := []rune(strings.Repeat("a", len(runes)))
		chars := util.RunesToChars(letters)
		r, _ := algo.FuzzyMatchV2(false, true, true, &chars, letters, false, p.slab)
		p.most += r.Score
	}
	return p
}

// gapScore is what the matcher takes for the first character between two of a term.
const gapScore = 3

// reaches says whether the text may have a score. A term of which the text has the
// characters, but not side by side, has a gap.
func (p *pattern) reaches(score int) bool {
	if p.most < score {
		return false
	}
	if score <= p.most-gapScore*len(p.terms) {
		return true
	}
	p.lower = append(p.lower[:0], p.text...)
	for i, c := range p.lower {
		if c >= utf8.RuneSelf {
			return true // it may have characters that count as others
		}
		if c-'A' <= 'Z'-'A' {
			p.lower[i] = c | 0x20
		}
	}
	most := p.most
	for _, t := range p.terms {
		if !bytes.Contains(p.lower, t.bytes) {
			most -= gapScore
		}
	}
	return score <= most
}

// found is how well a path matches.
type found struct {
	score int
	// named says that the name of the file matches without its directories.
	named bool
}

// mayMatch reports whether the path behind a prefix, as of find, may match: whether it has
// the characters of each term in order, or some that may count as others. Most paths do
// not, and need no matcher.
func (p *pattern) mayMatch(prefix, path string) bool {
	if prefix != p.prefix {
		p.behind(prefix)
	}
	for i := range p.terms {
		if rest, plain := leaves(p.terms[i].rest, path); len(rest) > 0 {
			return !plain || !p.plain
		}
	}
	return true
}

// behind remembers what the next paths stand behind.
func (p *pattern) behind(prefix string) {
	p.prefix, p.plain = prefix, true
	for i := range p.terms {
		t := &p.terms[i]
		var plain bool
		t.rest, plain = leaves(t.bytes, prefix)
		p.plain = p.plain && plain
	}
}

// mayName is mayMatch of the last part of a path.
func (p *pattern) mayName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := range p.terms {
		if rest, plain := leaves(p.terms[i].bytes, name); len(rest) > 0 && plain {
			return false
		}
	}
	return true
}

// leaves returns what a text leaves of characters that it should have in order, in any
// case, and whether what was read of it is ASCII, which is all if some are left.
func leaves(chars []byte, text string) (rest []byte, plain bool) {
	var all byte
	for i := 0; i < len(text) && len(chars) > 0; i++ {
		c := text[i]
		all |= c
		if c == chars[0] || c-'A' <= 'Z'-'A' && c|0x20 == chars[0] {
			chars = chars[1:]
		}
	}
	return chars, all < utf8.RuneSelf
}

// find matches the path behind a prefix, which is "" or the name of a repository with
// a slash. It may leave out a path whose score is less than least.
func (p *pattern) find(prefix, path string, least int) (f found, ok bool) {
	p.text = append(append(p.text[:0], prefix...), path...)
	if !p.reaches(least) {
		return found{}, false
	}
	chars := util.ToChars(p.text)
	f.named = true
	var name int // where the name of the file begins, in characters
	for i, term := range p.terms {
		r, _ := algo.FuzzyMatchV2(false, true, true, &chars, term.runes, false, p.slab)
		if r.Start < 0 {
			return found{}, false
		}
		if i == 0 {
			name = p.nameStart()
		}
		f.score += r.Score
		f.named = f.named && r.Start >= name
	}
	return f, true
}

// nameStart is the character that the last part of the text begins with.
func (p *pattern) nameStart() int {
	for i := len(p.text) - 1; i >= 0; i-- {
		if p.text[i] == '/' {
			return utf8.RuneCount(p.text[:i+1])
		}
	}
	return 0
}

// marks are the characters of the path that match, as starts and ends.
func (p *pattern) marks(prefix, path string) [][2]int {
	p.text = append(append(p.text[:0], prefix...), path...)
	chars := util.ToChars(p.text)
	before := utf8.RuneCountInString(prefix)
	at := make([]bool, chars.Length()-before)
	for _, term := range p.terms {
		_, places := algo.FuzzyMatchV2(false, true, true, &chars, term.runes, true, p.slab)
		if places == nil {
			continue
		}
		for _, n := range *places {
			if n >= before {
				at[n-before] = true
			}
		}
	}
	out := [][2]int{}
	for i, matched := range at {
		switch last := len(out) - 1; {
		case !matched:
		case last >= 0 && out[last][1] == i:
			out[last][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}
