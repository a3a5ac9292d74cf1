package settings_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// The page of a repository shows the log of its last sync, or says why there is none.
func TestSyncLog(t *testing.T) {
	w, root := newAdminWorld(t)
	w.repos.all = []*store.Repository{{ID: 7, Name: "lab/kiln", Source: "https://me:secret@git.example.org/lab/kiln", Generation: 3, Admission: "1/1", LastFetched: time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC)}}
	none := root.get("/site-admin/repositories/7")
	w.has("none", none, 200, "no sync is at work here", "3 Feb 2031, 04:05 UTC", "None since the server started")
	w.hasNot("none", none, "to be reindexed")

	w.repos.last = manage.LastSync{Node: "kiln-2 10.0.0.2:8080"}
	w.has("elsewhere", root.get("/site-admin/repositories/7"), 200, "The node kiln-2 10.0.0.2:8080 syncs this repository")

	w.repos.syncing = []manage.Syncing{{Name: "lab/kiln", Phase: "index", Done: 3, Total: 9}}
	w.repos.last.Log = &manage.SyncLog{
		Began: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC), Took: 1500 * time.Millisecond, Reindexed: true, Added: 12, Removed: 3, Unchanged: 4000, Bytes: 2500,
		Steps: []manage.SyncStep{
			{Phase: "fetch", Took: 700 * time.Millisecond}, {Phase: "index", Took: 30 * time.Millisecond, Count: 12}, {Phase: "commit"},
			{Phase: "symbols", Took: time.Minute, Count: 1}, {Phase: "history", Error: "it is <b>damaged"},
		},
		Skipped:  []manage.SkippedCount{{Reason: "binary", Count: 2}, {Reason: "too-large", Count: 1}},
		Branches: []manage.BranchChange{{Name: "main", Before: "aaaaaaaaaaaa", After: "bbbbbbbbbbbb"}, {Name: "<i>new", After: "cccccccccccc"}, {Name: "old", Before: "dddddddddddd"}}, MoreBranches: 5,
		Git: []string{"remote: <b>Counting", "Receiving objects: 100% (5/5), done."}, Error: "branch x is left out: <u>",
	}
	w.has("log", root.get("/site-admin/repositories/7"), 200, "indexing 3 of 9", "3 Feb 2031, 04:05 UTC", "it took 1.5 s, to read all of it again",
		"12 written, 3 removed, 4,000 left as they were; 2.5 kB of files read", "2 binary, 1 too-large", "aaaaaaaaaa", "bbbbbbbbbb", "new → ", "→ gone", "and 5 more",
		"Looked at the source", "700 ms", "30 ms", "12 documents", "1 symbol of this repository", "it is <b>damaged", "Receiving objects: 100%", "branch x is left out: <u>")
}

// A repository is reindexed by its page, for site admins.
func TestReindex(t *testing.T) {
	w, root := newAdminWorld(t)
	r, err := w.Store.Repositories().New(store.Repository{Name: "lab/kiln", Source: "/src/kiln", Generation: 1, Admission: "1/1"})
	w.Must(err)
	w.repos.store = w.Store
	page := fmt.Sprintf("/site-admin/repositories/%d", r.ID)
	w.has("before", root.get(page), 200, `data-confirm="Reindex lab/kiln?`)
	w.has("reindex", root.follow(root.post(page+"/reindex", url.Values{})), 200, "All of it is read again as soon as", "It is to be reindexed")
	w.logged("repository.reindex", "repository:lab/kiln", "root")
	w.has("sync", root.follow(root.post(page+"/sync", url.Values{})), 200, "It is synced as soon as")
	if got := fmt.Sprint(w.repos.refreshed); got != "[lab/kiln lab/kiln]" {
		t.Errorf("synced %s, want lab/kiln twice", got)
	}
	w.has("none", root.post("/site-admin/repositories/99/reindex", url.Values{}), 404)
	w.SignUp(identity.NewUser{Name: "ann"})
	w.has("by ann", w.as("ann").post(page+"/reindex", url.Values{}), 403)
}
