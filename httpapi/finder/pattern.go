package finder

import (
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
	terms [][]rune
	slab  *util.Slab
	text  []byte
}

// newPattern divides a text at its spaces.
func newPattern(text string) *pattern {
	forPaths()
	p := &pattern{slab: util.MakeSlab(slabScores, slabRunes)}
	for _, term := range strings.Fields(strings.ToLower(text)) {
		p.terms = append(p.terms, algo.NormalizeRunes([]rune(term)))
	}
	return p
}

// found is how well a path matches.
type found struct {
	score int
	// named says that the name of the file matches without its directories.
	named bool
}

// find matches the path behind a prefix, which is "" or the name of a repository with
// a slash.
func (p *pattern) find(prefix, path string) (f found, ok bool) {
	p.text = append(append(p.text[:0], prefix...), path...)
	chars := util.ToChars(p.text)
	f.named = true
	var name int // where the name of the file begins, in characters
	for i, term := range p.terms {
		r, _ := algo.FuzzyMatchV2(false, true, true, &chars, term, false, p.slab)
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
		_, places := algo.FuzzyMatchV2(false, true, true, &chars, term, true, p.slab)
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
