package browse

import (
	"errors"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// The limits of a file's outline: generated headers define a hundred thousand names.
const (
	maxOutline      = 1000
	maxOutlineBytes = 128 << 10
	maxSymbolBytes  = 200
)

// outline is the definitions in a file.
type outline struct {
	Symbols []outlineRow
	// More says that there are more.
	More bool
}

// outlineRow is a definition.
type outlineRow struct {
	Name, Kind, Container string
	Line                  int
}

// outline returns the definitions in the file at the path, if the index has it as it
// is. A file is the same in all commits that have its object.
func (p *target) outline(oid string) (outline, error) {
	sn := p.st.Snapshot()
	defer sn.Close()
	rec, err := sn.Repository(p.rec.Name)
	if err != nil {
		return outline{}, hideMissing(err)
	}
	runs, err := code.Runs(sn, rec)
	if err != nil {
		return outline{}, err
	}
	r, i := code.FindBlob(runs, p.path, oid)
	if r == nil {
		return outline{}, nil
	}
	symbols, more, err := r.Symbols(i, maxOutline)
	if errors.Is(err, store.ErrCorrupt) {
		return outline{}, nil // the page is worth more than its outline
	}
	return newOutline(symbols, more), err
}

func newOutline(symbols []shard.Symbol, more bool) outline {
	out, left := outline{More: more}, byteBudget(maxOutlineBytes)
	for _, s := range symbols {
		row := outlineRow{Name: shown(cut(s.Name, maxSymbolBytes)), Kind: s.Kind, Container: shown(cut(s.Container, maxSymbolBytes)), Line: int(s.Line)}
		if !left.take(row.Name, row.Kind, row.Container) {
			out.More = true
			break
		}
		out.Symbols = append(out.Symbols, row)
	}
	return out
}
