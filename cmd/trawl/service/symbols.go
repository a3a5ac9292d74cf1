package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
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
func (s *Service) SymbolsError() error { return s.ctagsErr }

// readsSymbols reports whether there is something to read them with.
func (s *Service) readsSymbols() bool { return s.program != nil }

// Symbols reads the symbols of all shards that have none, if it can and is to.
func (s *Service) Symbols(ctx context.Context, report func(ingest.Progress)) (ingest.SymbolsResult, error) {
	if !s.readsSymbols() {
		return ingest.SymbolsResult{}, nil
	}
	ctx, cancel := s.lifetime.untilStop(ctx)
	defer cancel()
	defer s.busy.begin()()
	start := time.Now()
	within, traced := span.Start(ctx, string(WorkSymbols), "")
	res, err := s.indexer.Symbols(within, report)
	traced(err)
	s.worked(ctx, WorkSymbols, start, res.Shards > 0, err)
	return res, err
}

// KeepSymbols reads symbols now and after every sync and merge, once
// nothing is indexed, until ctx ends.
func (s *Service) KeepSymbols(ctx context.Context) {
	for s.readsSymbols() {
		s.readSymbols(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		if err := s.awaitIdle(ctx); err != nil {
			return
		}
	}
}

func (s *Service) readSymbols(ctx context.Context) {
	res, err := s.Symbols(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled) || s.told(err):
		return
	case err != nil:
		s.opts.Log.Warn().Err(err).Msg("read symbols")
	case res.Shards > 0:
		s.opts.Log.Info().Int("symbols", res.Symbols).Int("documents", res.Documents).Int("failed", res.FailedCount).
			Str("no_parser", UnknownLanguages(res)).Int64("took_ms", res.Took.Milliseconds()).Msg("read symbols")
	}
	for _, name := range res.Failed {
		s.opts.Log.Debug().Str("doc", name).Msg("symbols not read")
	}
}

// noteChange says that there may be shards without symbols.
func (s *Service) noteChange() {
	select {
	case s.changed <- struct{}{}:
	default:
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
