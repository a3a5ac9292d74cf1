package dfa

import "math"

// A skipper finds the next place where a match may begin without looking at
// every byte before it.
//
// Every match has at least window bytes. If one begins in the window of that
// size which begins at some place p, or rather at s in it, then the bytes from
// s to the end of the window are among its first. So the skipper reads the
// window backwards, from its end. As soon as the bytes it has read are not
// among the first bytes of any match, none begins from p to there: the window
// moves on behind that byte. In text of another kind than the pattern's a
// window costs one or two bytes, whatever its size. A window that is read to
// its beginning is where the forward automaton has a look.
//
// It is the search for all factors of a pattern by a reversed automaton, which
// Navarro and Raffinot describe for regexps ("Flexible Pattern Matching in
// Strings", 2002, chapter 5). Assertions are taken to hold, and a byte counts
// as among the first if it may be, whatever stands before it: that only makes
// it stop earlier.
//
// Where windows have to be read nearly whole, reading forwards is faster. The
// skipper keeps an account and pauses when it is in the red. What it did never
// changes what is found.
type skipper struct {
	*factors
	states *automaton
	// credit is how many bytes were saved lately, paused for how many bytes to
	// read forwards instead.
	credit, paused int
}

// factors are the texts that a match may have among its first bytes. It is read
// only.
type factors struct {
	window int
	// entry are the threads of the backward program that begin at the end of a
	// window: one for each byte of a match that may be its last.
	entry []uint32
	// alive has the bytes that may end a window.
	alive [256]bool
}

// Figures of the account. A window costs about as much as reading windowCost
// bytes forwards, each of its bytes as one of those; measured on an AMD EPYC
// over the Linux tree, where the exact figures make no difference. A pause is
// so short that text in which windows pay again soon gets them.
const (
	windowCost = 4
	mostCredit = 4 << 10
	mostDebt   = -(2 << 10)
	pauseBytes = 16 << 10
)

// Bounds of the automaton of factors.
const (
	maxWindow  = 256
	maxFactors = 1024
)

func newFactors(backward *program) factors {
	left := bytesLeft(backward)
	isEntry := func(i, window int) bool { return backward.code[i].op == opBytes && left[i] <= window }
	count := func(window int) (n int) {
		for i := range backward.code {
			if isEntry(i, window) {
				n++
			}
		}
		return n
	}
	f := factors{window: min(left[backward.start], maxWindow)}
	for f.window > 1 && count(f.window) > maxFactors {
		f.window /= 2
	}
	for i := range backward.code {
		if !isEntry(i, f.window) {
			continue
		}
		f.entry = append(f.entry, uint32(i))
		for _, e := range backward.code[i].edges {
			for b := int(e.lo); b <= int(e.hi); b++ {
				f.alive[b] = true
			}
		}
	}
	return f
}

// next returns the smallest offset from at on at which a match may begin, or
// -1 if there is none. While it pauses, that is at.
func (k *skipper) next(text []byte, at int) int {
	if k.paused > 0 {
		return at
	}
	w, from := k.window, at
	for at+w <= len(text) {
		if !k.alive[text[at+w-1]] {
			at += w
			continue
		}
		last := k.read(text, at, at+w-1)
		k.credit -= (at-from)/w + windowCost + at + w - last
		whole := last < at
		at = max(at, last+1)
		k.credit = min(k.credit+at-from, mostCredit)
		from = at
		if k.credit < mostDebt {
			k.credit, k.paused = 0, pauseBytes
		}
		if whole || k.paused > 0 {
			return at
		}
	}
	return -1
}

// read reads text from at backwards and returns where it stands on the byte
// that no match has there, which is lo-1 if there is none.
func (k *skipper) read(text []byte, lo, at int) int {
	r := k.states.begin(contextOther)
	table, classOf := k.states.table, &k.states.classOf
	for ; at >= lo; at-- {
		e := table[r+uint32(classOf[text[at]])]
		if e > rowMask {
			if e == unknown {
				if k.states.full() {
					// Thousands of states for a window of a few bytes: not worth it.
					k.paused = math.MaxInt / 2
					return lo - 1
				}
				e = k.states.step(r, text[at], false)
				table = k.states.table
			}
			if e == dead {
				return at
			}
		}
		r = e
	}
	return at
}

// bytesLeft returns for each instruction the fewest bytes that lead from it to
// a match.
func bytesLeft(p *program) []int {
	const never = math.MaxInt32
	from := make([][]uint32, len(p.code))
	left := make([]int, len(p.code))
	var near, far []uint32
	for i, in := range p.code {
		left[i] = never
		switch in.op {
		case opMatch:
			left[i] = 0
			near = append(near, uint32(i))
		case opSplit:
			from[in.out] = append(from[in.out], uint32(i))
			from[in.out2] = append(from[in.out2], uint32(i))
		case opEmpty:
			from[in.out] = append(from[in.out], uint32(i))
		case opBytes:
			for _, e := range in.edges {
				from[e.next] = append(from[e.next], uint32(i))
			}
		}
	}
	// Ever farther from the match, a byte at a time.
	for n := 0; len(near) > 0; n++ {
		for len(near) > 0 {
			at := near[len(near)-1]
			near = near[:len(near)-1]
			for _, i := range from[at] {
				if p.code[i].op == opBytes {
					if left[i] > n+1 {
						left[i] = n + 1
						far = append(far, i)
					}
				} else if left[i] > n {
					left[i] = n
					near = append(near, i)
				}
			}
		}
		near, far = far, near
	}
	return left
}
