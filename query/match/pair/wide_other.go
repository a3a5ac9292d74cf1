//go:build !amd64

package pair

const wide = false

func (p Pair) findWide(x, y []byte, i int) Hits { return p.find(x, y, i) }
