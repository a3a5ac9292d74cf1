package dfa

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
)

// ErrUnsupported is wrapped by the errors of Compile.
var ErrUnsupported = errors.New("regexp is not for an automaton")

// maxInstructions bounds programs; a few classes such as \pL, repeated some
// dozen times, stay below.
const maxInstructions = 20000

type opcode uint8

const (
	opFail opcode = iota
	opMatch
	opSplit // to out, preferred, or to out2
	opEmpty // to out if the assertions in flags hold here
	opBytes // to the target of the range that holds the byte
)

// instruction of a byte program.
type instruction struct {
	op        opcode
	flags     syntax.EmptyOp
	out, out2 uint32
	edges     []edge
}

// edge leads to next on a byte of lo to hi. The edges of an instruction are
// disjoint and sorted.
type edge struct {
	lo, hi byte
	next   uint32
}

// program is a regexp over bytes.
type program struct {
	code  []instruction
	start uint32
	// looks are the assertions that occur anywhere.
	looks syntax.EmptyOp
	// classOf maps bytes that no instruction distinguishes to the same class.
	classOf [256]uint8
	classes int
}

// assemble turns a compiled regexp over runes into one over bytes; backwards
// says that the bytes of a rune come last first.
func assemble(p *syntax.Prog, backwards bool) (*program, error) {
	a := &assembler{in: p, at: make([]uint32, len(p.Inst)), backwards: backwards}
	// Instruction i of the runes is first of all a split or the like at at[i],
	// so that jumps forward know where they lead.
	for i := range p.Inst {
		a.at[i] = a.emit(instruction{})
	}
	for i := range p.Inst {
		if err := a.instruction(i); err != nil {
			return nil, err
		}
	}
	out := &program{code: a.code, start: a.at[p.Start], looks: a.looks}
	out.classify()
	return out, nil
}

type assembler struct {
	in        *syntax.Prog
	code      []instruction
	at        []uint32
	backwards bool
	looks     syntax.EmptyOp
}

func (a *assembler) emit(in instruction) uint32 {
	a.code = append(a.code, in)
	return uint32(len(a.code) - 1)
}

func (a *assembler) instruction(i int) error {
	in, here := &a.in.Inst[i], a.at[i]
	if len(a.code) > maxInstructions {
		return fmt.Errorf("%w: more than %d instructions", ErrUnsupported, maxInstructions)
	}
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		a.code[here] = instruction{op: opSplit, out: a.at[in.Out], out2: a.at[in.Arg]}
	case syntax.InstCapture, syntax.InstNop:
		a.code[here] = instruction{op: opEmpty, out: a.at[in.Out]}
	case syntax.InstEmptyWidth:
		flags := syntax.EmptyOp(in.Arg)
		a.looks |= flags
		a.code[here] = instruction{op: opEmpty, flags: flags, out: a.at[in.Out]}
	case syntax.InstMatch:
		a.code[here] = instruction{op: opMatch}
	case syntax.InstFail:
		a.code[here] = instruction{op: opFail}
	default:
		a.runes(here, ranges(in), a.at[in.Out])
	}
	return nil
}

// ranges returns the runes that in accepts as sorted pairs.
func ranges(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	if len(in.Rune) != 1 {
		return in.Rune
	}
	r := in.Rune[0]
	out := []rune{r, r}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
			out = append(out, s, s)
		}
	}
	return sortedPairs(out)
}

func sortedPairs(pairs []rune) []rune {
	// Orbits have four runes at most: insertion.
	for i := 2; i < len(pairs); i += 2 {
		for j := i; j > 0 && pairs[j-2] > pairs[j]; j -= 2 {
			pairs[j-2], pairs[j], pairs[j-1], pairs[j+1] = pairs[j], pairs[j-2], pairs[j+1], pairs[j-1]
		}
	}
	return pairs
}

// classify finds the bytes that every instruction treats alike. A newline and
// the bytes of words are apart if an assertion looks at them.
func (p *program) classify() {
	var begins [257]bool
	cut := func(lo, hi byte) { begins[lo], begins[int(hi)+1] = true, true }
	for i := range p.code {
		for _, e := range p.code[i].edges {
			cut(e.lo, e.hi)
		}
	}
	if p.looks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		cut('\n', '\n')
	}
	if p.looks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		cut('0', '9')
		cut('A', 'Z')
		cut('_', '_')
		cut('a', 'z')
	}
	class := 0
	for b := range 256 {
		if b > 0 && begins[b] {
			class++
		}
		p.classOf[b] = uint8(class)
	}
	p.classes = class + 1
}
