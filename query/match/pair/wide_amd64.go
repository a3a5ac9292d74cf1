package pair

import "golang.org/x/sys/cpu"

// wide says that the processor compares 32 bytes at once.
var wide = cpu.X86.HasAVX2

// findWide is Find for at least 32 places. The last of them are looked at once
// more when their number is no multiple of 32.
func (p Pair) findWide(x, y []byte, i int) Hits {
	whole := (len(x) - i) &^ 31
	if at, bits := find32(&x[i], &y[i], whole, p.First, p.FirstMask, p.Second, p.SecondMask); bits != 0 {
		return Hits{i + at, bits, i + at + 32}
	}
	i += whole
	if i == len(x) {
		return Hits{i, 0, i}
	}
	last := len(x) - 32
	_, bits := find32(&x[last], &y[last], 32, p.First, p.FirstMask, p.Second, p.SecondMask)
	bits &= ^uint32(0) << (i - last)
	return Hits{last, bits, len(x)}
}

// find32 returns the first multiple of 32 below n, itself one and not 0, such
// that among the 32 places from there on both bytes stand, and a bit for each
// place where they do; n and no bit if there is none.
//
//go:noescape
func find32(x, y *byte, n int, first, firstMask, second, secondMask byte) (at int, bits uint32)
