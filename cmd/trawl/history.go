package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/ingest"
)

// history reads the commits of what was synced; a server does that itself.
// There is nothing to see when there is nothing to read.
func (w *worker) history(ctx context.Context) {
	if w.local == nil {
		return
	}
	var task *progress.Task
	res, err := w.local.Upkeep().History(ctx, func(p ingest.Progress) {
		if task == nil {
			task = w.display.Start("history")
		}
		task.Report(p)
	})
	if err != nil && task != nil {
		task.Fail(err)
	} else if task != nil {
		task.Done(progress.Summary{Note: tellHistory(res), Took: res.Took})
	}
	if err != nil {
		w.fail(ctx, err)
	}
	for _, why := range res.Failed {
		w.fail(ctx, errors.New("history of "+why))
	}
}

// tellHistory is one line about what was read.
func tellHistory(res ingest.HistoryResult) string {
	text := progress.Counted(res.Commits, "commit")
	if res.Repositories > 1 {
		text += fmt.Sprintf(" of %s repositories", progress.Count(res.Repositories))
	}
	return text
}
