package code

import (
	"encoding/hex"
	"slices"

	"github.com/trawlsearch/trawl/store/shard"
)

// FindBlob returns the document of a path with an object id and its run, nil if there
// is none. It may be one of another branch, or one that a later sync replaced: what a
// file is does not depend on the commit.
func FindBlob(runs []DocumentRun, path, oid string) (r *DocumentRun, i int) {
	id, err := hex.DecodeString(oid)
	if err != nil {
		return nil, 0
	}
	for n := range runs {
		r := &runs[n]
		for i := r.First; i < r.End; i++ {
			if r.Table.Path(i) == path && slices.Equal(r.Table.OID(i), id) {
				return r, i
			}
		}
	}
	return nil, 0
}

// Symbols returns the first definitions in a document of the run, by line; more says
// that there are others. There are none while they are not read yet.
func (r *DocumentRun) Symbols(i, most int) (symbols []shard.Symbol, more bool, err error) {
	if !r.View.HasSymbols() {
		return nil, false, nil
	}
	for b := r.Table.FirstBlock[i]; b < r.Table.FirstBlock[i+1] && len(symbols) <= most; b++ {
		before := len(symbols)
		symbols, err = r.View.SymbolGroup(symbols, uint16(b))
		if err != nil || len(symbols) == before {
			break // groups take the first numbers
		}
	}
	return symbols[:min(len(symbols), most)], len(symbols) > most, err
}
