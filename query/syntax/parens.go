package syntax

import (
	"sort"
	"strings"
)

// parens knows which parentheses of a text belong together. A backslash hides
// the character after it, and a string hides what is in it.
//
// It is found once per text: which ")" closes a "(" depends only on what
// follows, so every later question is a look-up. Scanning ahead at each "("
// instead would make a text of many unclosed ones cost its length squared.
// A string that does not end where one may is looked at once: each search for
// its end stops at the next delimiter of the same kind.
type parens struct {
	// closing maps the position of a "(" to that of its ")".
	closing map[int]int
	// triggers are the positions, ascending, after a "(" or a white space,
	// where a filter or an operator begins.
	triggers []int
}

// findParens reads text. hidden, if it is not nil, returns the length of a string
// at a place where a pattern may begin, 0 if there is none.
func findParens(text string, hidden func(i int) int) *parens {
	p := &parens{closing: map[int]int{}}
	if strings.IndexByte(text, '(') < 0 {
		return p
	}
	var open []int
	begins := true
	for i := 0; i < len(text); {
		if begins && hidden != nil {
			if n := hidden(i); n > 0 {
				i += n
				begins = false
				continue
			}
		}
		begins = false
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if n := spaceAt(text, i); n > 0 {
				i += n - 1
			}
		case c == '(':
			open = append(open, i)
			p.note(text, i+1)
			begins = true
		case c == ')' && len(open) > 0:
			p.closing[open[len(open)-1]] = i
			open = open[:len(open)-1]
		default:
			if n := spaceAt(text, i); n > 0 {
				p.note(text, i+n)
				i += n - 1
				begins = true
			}
		}
		i++
	}
	return p
}

func (p *parens) note(text string, i int) {
	if trigger(text[i:]) {
		p.triggers = append(p.triggers, i)
	}
}

// plain returns where the "(" at i closes, if it does and nothing inside says
// that it groups.
func (p *parens) plain(i int) (int, bool) {
	closing, ok := p.closing[i]
	if !ok {
		return 0, false
	}
	k := sort.SearchInts(p.triggers, i)
	return closing, k == len(p.triggers) || p.triggers[k] > closing
}

// trigger reports whether text begins with a filter or with an operator and a
// space.
func trigger(text string) bool {
	for _, w := range []string{"and ", "or ", "not "} {
		if hasFold(text, w) {
			return true
		}
	}
	_, n := fieldAt(text)
	return n > 0
}

// fieldAt returns the field whose [-]name: text begins with, and the length of
// that.
func fieldAt(text string) (*field, int) {
	name := strings.TrimPrefix(text, "-")
	minus := len(text) - len(name)
	i := 0
	for i < len(name) && i <= maxFieldName && letter(name[i]) {
		i++
	}
	if i == len(name) || name[i] != ':' {
		return nil, 0
	}
	f, ok := names.find(name[:i])
	if !ok {
		return nil, 0
	}
	return f, minus + i + 1
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
