package settings

import (
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
)

// syncView is what a page says about the syncs of a repository.
type syncView struct {
	manage.LastSync
	// Now says what a sync at work does, "" if there is none.
	Now string
	// Reindexes says that the next one reads all again.
	Reindexes bool
	// Looked is when the source was last looked at, zero for never.
	Looked time.Time
	Steps  []stepRow
}

// stepRow is a step of a sync as people read it.
type stepRow struct{ What, Took, Count, Error string }

func newSyncView(v *visit, r *store.Repository) syncView {
	out := syncView{
		LastSync: v.Repositories.LastSync(v.r.Context(), r), Now: syncingNow(v.Repositories)[r.Name],
		Reindexes: r.Reindexes(), Looked: r.Fetched(),
	}
	if out.Log == nil {
		return out
	}
	for _, s := range out.Log.Steps {
		out.Steps = append(out.Steps, newStepRow(s))
	}
	return out
}

// Took writes how long the sync took.
func (s syncView) Took() string { return lastingText(s.Log.Took) }

// Read writes how much of files was read.
func (s syncView) Read() string { return bytesText(float64(s.Log.Bytes)) }

func newStepRow(s manage.SyncStep) stepRow {
	row := stepRow{Took: lastingText(s.Took), Error: s.Error}
	count := func(one, many string) {
		if s.Count > 0 {
			row.Count = web.Count(s.Count, one, many)
		}
	}
	switch s.Phase {
	case "", "fetch":
		row.What = "Looked at the source, and fetched from it"
	case "wait":
		row.What = "Waited for other syncs"
	case "claimed":
		row.What = "Waited for another node"
	case "list":
		row.What = "Compared files with what is indexed"
	case "index":
		row.What = "Read files"
		count("document", "documents")
	case "commit":
		row.What = "Wrote the index and switched to it"
	case "symbols":
		row.What = "Read symbols of all files beside it"
		count("symbol of this repository", "symbols of this repository")
	case "history":
		row.What = "Read commits"
		count("commit", "commits")
	default:
		row.What = s.Phase
	}
	return row
}

// syncingNow says what the syncs at work do, by repository.
func syncingNow(of manage.Repositories) map[string]string {
	out := map[string]string{}
	for _, s := range of.Syncing() {
		now := httpapi.HomeSync{Phase: s.Phase}.Words()
		if s.Total > 0 {
			now += " " + strconv.Itoa(s.Done) + " of " + strconv.Itoa(s.Total)
		}
		out[s.Name] = now
	}
	return out
}
