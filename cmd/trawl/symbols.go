package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/store/ingest"
)

// warnGit logs once that nothing can be indexed, so that the failures of single
// syncs are explained.
func warnGit(log zerolog.Logger) {
	if _, err := exec.LookPath("git"); err != nil {
		log.Error().Err(err).Msg("nothing can be indexed: install git 2.31 or newer")
	}
}

// warnSymbols says once that symbols are wanted and cannot be read.
func warnSymbols(log zerolog.Logger, svc *service.Service) {
	if err := svc.Upkeep().SymbolsError(); err != nil {
		log.Warn().Err(err).Msg("type:symbol will find nothing new: install universal-ctags, or set symbols to false")
	}
}

// symbols reads the symbols of what was indexed; a server does that itself.
// There is nothing to see when there is nothing to read.
func (w *worker) symbols(ctx context.Context) {
	if w.local == nil {
		return
	}
	var task *progress.Task
	res, err := w.local.Upkeep().Symbols(ctx, func(p ingest.Progress) {
		if task == nil {
			task = w.display.Start("symbols")
		}
		task.Report(p)
	})
	switch {
	case err != nil && task != nil:
		task.Fail(err)
		fallthrough
	case err != nil:
		w.fail(ctx, err)
	case task != nil:
		task.Done(progress.Summary{Note: tellSymbols(res), Took: res.Took})
	}
}

// tellSymbols is one line about what was read.
func tellSymbols(res ingest.SymbolsResult) string {
	text := fmt.Sprintf("%s in %s", progress.Count(res.Symbols), progress.Counted(res.Documents, "document"))
	if n := res.FailedCount; n > 0 {
		text += fmt.Sprintf(", %s could not be parsed", progress.Count(n))
	}
	if s := service.UnknownLanguages(res); s != "" {
		text += ", no parser for " + s
	}
	return text
}
