package dfa

import (
	"slices"
	"unicode/utf8"
)

// sequence is a run of up to four byte ranges that together accept the UTF-8
// of a range of runes.
type sequence []edge

// surrogates have no UTF-8.
const (
	surrogateMin = 0xd800
	surrogateMax = 0xdfff
)

// sequences splits pairs of runes into byte sequences, in order. Two sequences
// begin with the same range of bytes or with disjoint ones.
func sequences(pairs []rune) []sequence {
	var out []sequence
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo < surrogateMin && hi > surrogateMax {
			out = split(split(out, lo, surrogateMin-1), surrogateMax+1, hi)
			continue
		}
		if lo >= surrogateMin && lo <= surrogateMax {
			lo = surrogateMax + 1
		}
		if hi >= surrogateMin && hi <= surrogateMax {
			hi = surrogateMin - 1
		}
		out = split(out, lo, hi)
	}
	return out
}

// split appends the sequences of lo to hi. Runes are cut where the length of
// their UTF-8 changes, and then wherever the bytes behind the first that
// differs do not run over all of 80 to BF.
func split(out []sequence, lo, hi rune) []sequence {
	if lo > hi {
		return out
	}
	for _, last := range []rune{0x7f, 0x7ff, 0xffff} {
		if lo <= last && hi > last {
			return split(split(out, lo, last), last+1, hi)
		}
	}
	if hi < utf8.RuneSelf {
		return append(out, sequence{{lo: byte(lo), hi: byte(hi)}})
	}
	for bits := 6; bits <= 18; bits += 6 {
		mask := rune(1)<<bits - 1
		if lo&^mask == hi&^mask {
			continue
		}
		if lo&mask != 0 {
			return split(split(out, lo, lo|mask), (lo|mask)+1, hi)
		}
		if hi&mask != mask {
			return split(split(out, lo, hi&^mask-1), hi&^mask, hi)
		}
	}
	a, b := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	s := make(sequence, len(a))
	for i := range a {
		s[i] = edge{lo: a[i], hi: b[i]}
	}
	return append(out, s)
}

// runes writes instructions that lead from here to out on any of the runes.
func (a *assembler) runes(here uint32, pairs []rune, out uint32) {
	seqs := sequences(pairs)
	if len(seqs) == 0 {
		a.code[here] = instruction{op: opFail}
		return
	}
	if !a.backwards {
		a.code[here] = instruction{op: opBytes, edges: a.trie(seqs, out)}
		return
	}
	// Backwards the ranges of last bytes overlap, so the sequences become
	// threads of their own. Those of equal bytes behind the lead share them.
	tails := map[string][]edge{}
	var order []string
	for _, s := range seqs {
		key := ""
		for _, e := range s[1:] {
			key += string([]byte{e.lo, e.hi})
		}
		if tails[key] == nil {
			order = append(order, key)
		}
		tails[key] = append(tails[key], edge{s[0].lo, s[0].hi, out})
	}
	for i, key := range order {
		next := a.chain(key, tails[key])
		if i == len(order)-1 {
			a.code[here] = instruction{op: opEmpty, out: next}
			break
		}
		rest := a.emit(instruction{})
		a.code[here] = instruction{op: opSplit, out: next, out2: rest}
		here = rest
	}
}

// chain emits the ranges of key, last first, and then leads.
func (a *assembler) chain(key string, leads []edge) uint32 {
	next := a.emit(instruction{op: opBytes, edges: leads})
	for i := 0; i < len(key); i += 2 {
		next = a.emit(instruction{op: opBytes, edges: []edge{{key[i], key[i+1], next}}})
	}
	return next
}

// trie emits what follows the first bytes of seqs and returns their edges.
func (a *assembler) trie(seqs []sequence, out uint32) []edge {
	var edges []edge
	for len(seqs) > 0 {
		first := seqs[0][0]
		n := slices.IndexFunc(seqs, func(s sequence) bool { return s[0].lo != first.lo || s[0].hi != first.hi })
		if n < 0 {
			n = len(seqs)
		}
		first.next = out
		if len(seqs[0]) > 1 {
			rest := make([]sequence, n)
			for i := range rest {
				rest[i] = seqs[i][1:]
			}
			first.next = a.emit(instruction{op: opBytes, edges: a.trie(rest, out)})
		}
		edges = append(edges, first)
		seqs = seqs[n:]
	}
	return edges
}
