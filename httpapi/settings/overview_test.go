package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestOverview(t *testing.T) {
	w, root := newAdminWorld(t)
	at := time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC)
	w.status = admin.Status{Waiting: "the first repositories"}
	w.has("new", root.get("/site-admin/overview"), 200, "waiting for the first repositories", "none by this server", "None since the server started")
	w.status = admin.Status{
		Version: "v9", Format: 7, Ready: true, Started: time.Now().Add(-50 * time.Hour),
		Repositories: admin.StatusRepositories{Total: 1200, Indexed: 1100, Failing: 2, MedianSeconds: 30, P99Seconds: 4000, OldestSeconds: 200_000,
			Lags: []admin.StatusLag{{Name: "lab/<kiln>", Error: "fetch https://me:secret@x: <b>no"}, {Name: "lab/fine"}}},
		Queue:  admin.StatusQueue{Running: "lab/glaze", Done: 3, Total: 9, Waiting: 7, Fetching: 2},
		Memory: admin.StatusMemory{Setting: 2 << 30, Now: 1 << 30}, Disk: admin.StatusDisk{Free: 5e12, Stopped: "the disk is <full>"},
		Index:  admin.StatusIndex{Documents: 77, Shards: 3, Aside: []admin.StatusAside{{Shard: 4, Reason: "checksum <wrong>"}}, CacheHits: 3, CacheMisses: 1},
		Backup: admin.StatusBackup{LastGood: at, Destination: "/backups", Error: "no <room>"},
	}
	w.recent = admin.Recent{Every: 15 * time.Second, Samples: []admin.Sample{{At: at}, {At: at, Searches: 25, P99: 1500 * time.Millisecond, MemoryBytes: 3e8}},
		Slow: []admin.SlowSearch{{At: at, Took: 90 * time.Second, Kind: "file", Matches: 12, Outcome: "done", Text: "<script>alert(1)"}, {At: at, Took: time.Second}}}
	page := root.get("/site-admin/overview")
	w.has("overview", page, 200, "trawl v9, up 2 days", "Ready.", "1100 of 1200", "2 failing", "30.0 s for half, 1 h 6 min for 99 of 100, 2 days for all", "lab/<kiln>", "<b>no",
		"lab/glaze", "3 of 9", "2 fetching, 7 waiting", "1.1 GB of 2.1 GB", "75.0 % of reads", "5.0 TB of", "the disk is <full>", "1 damaged shard is left out", "checksum <wrong>",
		"The last backup failed: no <room>", "3 Feb 2031, 04:05 UTC", "Searches a minute <strong>100</strong>", `points="0.0,47.0 240.0,1.0"`, "at most 1.5 s", "1 min 30 s", "<script>alert(1)", "not kept", "data format 7, git 2.<i>")
	w.hasNot("overview", page, "secret", "lab/fine")
	w.SignUp(identity.NewUser{Name: "bob"})
	if got := w.as("bob").get("/site-admin/overview"); got.status != 403 || strings.Contains(got.text, "lab/glaze") {
		t.Errorf("others read it: %d", got.status)
	}
}
