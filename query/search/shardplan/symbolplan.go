package shardplan

import (
	"context"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// readSymbols evaluates the expressions for a search of symbols. The blocks of their
// lists are groups of names; silent atoms are looked up in the text. A shard whose
// symbols are not read yet has no candidates.
func (bp *Basic) readSymbols(ctx context.Context, v shard.View, in *Reader, b *target.Query, content, path *postings.Evaluator, brute bool) error {
	none := postings.Candidates{Docs: &postings.Set{}}
	for range b.Atoms {
		bp.Atoms = append(bp.Atoms, Atom{Content: none, Path: none})
	}
	if !v.HasSymbols() {
		bp.Docs = &postings.Set{}
		return nil
	}
	if brute {
		for i := range bp.Atoms {
			bp.Atoms[i].Content = postings.Candidates{All: true}
		}
		return nil
	}
	inPaths, err := path.Eval(b.PathExpr())
	if err != nil {
		return err
	}
	if !inPaths.All {
		bp.Docs = inPaths.Docs
	}
	names, err := in.symbols(v)
	if err != nil {
		return err
	}
	for i, a := range b.Atoms {
		if err := in.Yield(ctx); err != nil {
			return err
		}
		ev := names
		if a.Silent {
			ev = content
		}
		if bp.Atoms[i].Content, err = ev.Eval(a.Expr); err != nil {
			return err
		}
	}
	bp.symbolCost = names.Cost
	bp.confine(b)
	return nil
}
