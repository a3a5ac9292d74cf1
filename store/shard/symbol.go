package shard

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/engine"
)

// Symbol is a definition in a document's text.
type Symbol struct {
	Name string
	// Kind is the word of the parser that found it, Language too; Container is
	// what holds the symbol, or empty.
	Kind, Container, Language string
	// Line counts from 1. Column counts the runes before the name in that line;
	// it is 0 for a name that does not stand there as it is.
	Line, Column uint32
}

// SymbolCounts counts the documents whose symbols were written. Documents
// counts those that have been parsed, Failed those that could not be, in time
// or at all, Unknown those for whose language there is no parser.
type SymbolCounts struct {
	// Version is SymbolVersion at the time; what has another is done again.
	Version   int `json:"version"`
	Symbols   int `json:"symbols"`
	Documents int `json:"documents"`
	Failed    int `json:"failed,omitempty"`
	Unknown   int `json:"unknown,omitempty"`
}

// SymbolVersion numbers what symbols are taken in and how they are kept.
const SymbolVersion = 1

// HasSymbols reports whether the shard's symbols can be searched.
func (v View) HasSymbols() bool {
	return v.Header.Symbols != nil && v.Header.Symbols.Version == SymbolVersion
}

// compareSymbols orders the symbols of a document.
func compareSymbols(a, b Symbol) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Container, b.Container), cmp.Compare(a.Language, b.Language))
}

// The symbols of a document, sorted and without duplicates, are cut into groups
// of some groupBytes of names, and these are spread over the numbers of the
// document's blocks. There are enough blocks, since text is longer than the
// names in it. Posting lists name groups by these numbers, so a name is looked
// for in the groups that may have it; generated headers define a hundred
// thousand. On the Linux 6.1 tree with its 5.5 million symbols that takes a
// fiftieth of the time that lists of documents take. The value of a group:
//
//	uvarint number of words, each uvarint length and bytes
//	per symbol, uvarints: line less that of the symbol before, column,
//	  word of the kind, of the container and of the language,
//	  length of the name, name
//
// Word 0 is the empty one and not written. Kinds and containers repeat, names
// hardly do.
func appendSymbols(dst []byte, symbols []Symbol) []byte {
	words := map[string]uint64{"": 0}
	var list []string
	for _, s := range symbols {
		for _, w := range []string{s.Kind, s.Container, s.Language} {
			if _, ok := words[w]; !ok {
				list = append(list, w)
				words[w] = uint64(len(list))
			}
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, w := range list {
		dst = append(binary.AppendUvarint(dst, uint64(len(w))), w...)
	}
	last := uint32(0)
	for _, s := range symbols {
		dst = binary.AppendUvarint(dst, uint64(s.Line-last))
		last = s.Line
		for _, v := range []uint64{uint64(s.Column), words[s.Kind], words[s.Container], words[s.Language], uint64(len(s.Name))} {
			dst = binary.AppendUvarint(dst, v)
		}
		dst = append(dst, s.Name...)
	}
	return dst
}

// decodeSymbols appends the symbols in value, and keeps no reference to value.
func decodeSymbols(dst []Symbol, value []byte) ([]Symbol, error) {
	r := decode.Reader{Rest: value}
	var few [24][]byte
	words := append(few[:0], nil)
	for range r.Count() {
		if r.Bad {
			break
		}
		words = append(words, r.Bytes(r.Count()))
	}
	word := func() []byte {
		n := r.Count()
		if n >= len(words) {
			r.Bad = true
			return nil
		}
		return words[n]
	}
	line := uint32(0)
	for len(r.Rest) > 0 && !r.Bad {
		line += r.U32()
		column, kind, container, language, name := r.U32(), word(), word(), word(), r.Bytes(r.Count())
		dst = append(dst, Symbol{
			Name: string(name), Kind: string(kind), Container: string(container), Language: string(language), Line: line, Column: column,
		})
	}
	if r.Bad {
		return dst, fmt.Errorf("symbols: %w", engine.ErrCorrupt)
	}
	return dst, nil
}

// normalSymbols sorts symbols and drops repeats.
func normalSymbols(symbols []Symbol) []Symbol {
	slices.SortFunc(symbols, compareSymbols)
	return slices.Compact(symbols)
}

// groupBytes is how many bytes of names make a group, unless there are too few
// blocks.
const groupBytes = 4096

// groups cuts symbols into at most n groups. All but the last have at least
// their share of the names' bytes, so there cannot be more.
func groups(symbols []Symbol, n int) [][]Symbol {
	total := 0
	for _, s := range symbols {
		total += len(s.Name) + 1
	}
	share := max(groupBytes, (total+n-1)/n)
	var out [][]Symbol
	first, size := 0, 0
	for i, s := range symbols {
		if size >= share {
			out = append(out, symbols[first:i])
			first, size = i, 0
		}
		size += len(s.Name) + 1
	}
	if first < len(symbols) {
		out = append(out, symbols[first:])
	}
	return out
}

// Symbols appends the symbols of a document to dst, by line and column and
// without repeats. They are the caller's.
func (v View) Symbols(dst []Symbol, document uint16) ([]Symbol, error) {
	docs, err := v.Documents()
	if err != nil {
		return dst, err
	}
	first, end := docs.FirstBlock[document], docs.FirstBlock[document+1]
	for b := first; b < end; b++ {
		before := len(dst)
		if dst, err = v.SymbolGroup(dst, uint16(b)); err != nil || len(dst) == before {
			return dst, err // groups take the first numbers
		}
	}
	return dst, nil
}

// SymbolGroup appends the symbols that posting lists mean by a block. They are
// the caller's.
func (v View) SymbolGroup(dst []Symbol, block uint16) ([]Symbol, error) {
	_, err := engine.Get(v.src.Reader, appendKeySymbols(nil, v.ID, block), func(value []byte) (err error) {
		dst, err = decodeSymbols(dst, value)
		return err
	})
	if err != nil {
		err = inShard(v.ID, fmt.Errorf("symbols of block %d: %w", block, err))
	}
	return dst, err
}

// FindSymbols is SymbolGroup, read through r, for the symbols that are wanted. It
// costs little for the others.
func (v View) FindSymbols(dst []Symbol, r *ListReader, block uint16, wanted *SymbolFinder) ([]Symbol, error) {
	r.key = appendKeySymbols(r.key[:0], v.ID, block)
	value, err := r.borrow()
	if err != nil {
		return dst, inShard(v.ID, fmt.Errorf("symbols of block %d: %w", block, err))
	}
	if dst, err = wanted.find(dst, value); err != nil {
		err = inShard(v.ID, fmt.Errorf("block %d: %w", block, err))
	}
	return dst, err
}

// SymbolLists returns the posting lists of symbol names, read through r. Their
// numbers are those that SymbolGroup takes.
func (v View) SymbolLists(r *ListReader) (*Lists, error) {
	r.key = append(r.key[:0], keySymbolSpecial(v.ID, specialWideFold)...)
	value, err := r.get(nil)
	if err != nil {
		return nil, err
	}
	wide := &postings.Set{}
	if len(value) > 0 {
		if err := wide.Decode(value); err != nil {
			return nil, inShard(v.ID, err)
		}
	}
	return &Lists{v: v, field: FieldSymbol, r: r, wide: wide}, nil
}
