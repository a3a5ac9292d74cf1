package plan

import "regexp/syntax"

// MaxHeight is how deep the parts of a regexp may nest. Go's parser allows 1000;
// the matcher puts some more around a pattern.
const MaxHeight = 900

// repeatWeight is how much more an instruction that stands for a repetition
// takes than one that stands in the text of the pattern, in memory: the parser
// copies a tree of nodes for each.
const repeatWeight = 3

// Size estimates the program of a parsed regexp, in instructions, and how deep
// its parts nest. It takes time in proportion to the length of the pattern,
// whatever the repetitions in it.
func Size(t *syntax.Regexp) (instructions, height int) {
	for _, s := range t.Sub {
		n, h := Size(s)
		instructions, height = add(instructions, n), max(height, h)
	}
	switch t.Op {
	case syntax.OpLiteral:
		instructions = len(t.Rune)
	case syntax.OpRepeat:
		copies := max(t.Min, t.Max)
		if t.Max < 0 {
			copies++
		}
		instructions = multiply(instructions, max(repeatWeight*copies, 1))
	}
	return add(instructions, 1), height + 1
}

// Sums and products stay at most, which is beyond every limit.
const most = 1<<31 - 1

func add(a, b int) int { return min(a+b, most) }

func multiply(a, b int) int {
	if b > 0 && a > most/b {
		return most
	}
	return a * b
}
