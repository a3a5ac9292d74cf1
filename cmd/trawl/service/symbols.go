package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/ingest"
)

// findCtags returns the program that reads symbols, or why there is none.
func findCtags() (*ctags.Program, error) {
	path, err := ctags.Find()
	if err != nil {
		return nil, err
	}
	return ctags.Open(path)
}

// SymbolsError says why symbols will not be read although they are wanted, or
// is nil.
func (u *Upkeep) SymbolsError() error { return u.ctagsErr }

// Symbols reads the symbols of all shards that have none, if it can and is to.
func (u *Upkeep) Symbols(ctx context.Context, report func(ingest.Progress)) (ingest.SymbolsResult, error) {
	if u.program == nil {
		return ingest.SymbolsResult{}, nil
	}
	ctx, end := u.background.begin(ctx, WorkSymbols)
	res, err := u.indexer.Symbols.Read(ctx, report)
	end(res.Shards > 0, err)
	return res, err
}

func (u *Upkeep) readSymbols(ctx context.Context) {
	res, err := u.Symbols(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled) || u.disk.reported(err):
		return
	case err != nil:
		u.log.Warn().Err(err).Msg("read symbols")
	case res.Shards > 0:
		u.log.Info().Int("symbols", res.Symbols).Int("documents", res.Documents).Int("failed", res.FailedCount).
			Str("no_parser", UnknownLanguages(res)).Int64("took_ms", res.Took.Milliseconds()).Msg("read symbols")
	}
	for _, name := range res.Failed {
		u.log.Debug().Str("doc", name).Msg("symbols not read")
	}
}

// languagesNamed is how many languages without a parser are named.
const languagesNamed = 5

// UnknownLanguages lists the languages of documents for which ctags has no
// parser, the most frequent first, or "".
func UnknownLanguages(res ingest.SymbolsResult) string {
	names := slices.SortedFunc(maps.Keys(res.Unknown), func(a, b string) int {
		return cmp.Or(res.Unknown[b]-res.Unknown[a], strings.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == languagesNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		shown := name
		if name == "" {
			shown = "no known language"
		}
		parts = append(parts, fmt.Sprintf("%s %d", shown, res.Unknown[name]))
	}
	return strings.Join(parts, ", ")
}
