package store

import (
	"bytes"

	"github.com/trawlsearch/trawl/postings"
)

// SymbolFilter says which symbols are wanted: those whose names are one of Whole,
// or hold Part if that is not empty. Both are folded as posting lists are; the
// names of symbols need not be.
type SymbolFilter struct {
	Whole []string
	Part  string
}

// takes reports whether a symbol of that name is wanted.
func (f *SymbolFilter) takes(name []byte) bool {
	for _, w := range f.Whole {
		if len(name) == len(w) && beginsFolded(name, w) {
			return true
		}
	}
	return f.Part != "" && IndexFolded(name, f.Part) >= 0
}

// mayTake reports false if no symbol of a group is wanted. A name stands behind
// its length, a byte that is rare in what is mostly names: to look for that
// takes a tenth of the time that it takes to read the group.
func (f *SymbolFilter) mayTake(value []byte) bool {
	if f.Part != "" {
		return true
	}
	for _, w := range f.Whole {
		if len(w) >= 0x80 {
			return true // the length has two bytes
		}
		for rest := value; ; {
			i := bytes.IndexByte(rest, byte(len(w)))
			if i < 0 {
				break
			}
			if rest = rest[i+1:]; beginsFolded(rest, w) {
				return true
			}
		}
	}
	return false
}

// beginsFolded reports whether text, folded, begins with folded.
func beginsFolded(text []byte, folded string) bool {
	if len(text) < len(folded) {
		return false
	}
	for i := range len(folded) {
		if postings.Fold(text[i]) != folded[i] {
			return false
		}
	}
	return true
}

// IndexFolded returns where folded begins in text, once that is folded, or -1.
func IndexFolded(text []byte, folded string) int {
	for i := 0; i+len(folded) <= len(text); i++ {
		if beginsFolded(text[i:], folded) {
			return i
		}
	}
	return -1
}
