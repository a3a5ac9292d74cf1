package pair

// FindNarrow is Find on a processor without wide comparisons.
func (p Pair) FindNarrow(x, y []byte, i int) Hits { return p.find(x, y, i) }
