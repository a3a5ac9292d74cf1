package browse

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/shard"
)

// An outline stays small whatever names a file has, and shows nothing that deceives.
func TestOutlineIsBounded(t *testing.T) {
	var many []shard.Symbol
	for range maxOutline {
		many = append(many, shard.Symbol{Name: strings.Repeat("<\u202e", 100_000), Kind: "func", Container: strings.Repeat("x", 100_000), Line: 1})
	}
	o := newOutline(many, false)
	if n := len(o.Symbols); n == 0 || n > maxOutlineBytes/maxSymbolBytes || !o.More {
		t.Errorf("%d symbols, more is %t", n, o.More)
	}
	if row := o.Symbols[0]; strings.Contains(row.Name, "\u202e") || len(row.Name) > 8*maxSymbolBytes {
		t.Errorf("the row is %q", row.Name)
	}
	if o := newOutline(many[:0], true); len(o.Symbols) != 0 || !o.More {
		t.Errorf("no symbols: %+v", o)
	}
}
