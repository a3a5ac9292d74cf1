package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
)

// Status tells an operator how a data directory is, and the server that
// serves it if there is one.
type Status struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	// Format is the format version of the data directory.
	Format int    `json:"format"`
	Data   string `json:"data"`
	// Serving says that a server answered; Started, PID, Ready and Waiting are
	// about it. Waiting is what /readyz waits for.
	Serving bool      `json:"serving"`
	Started time.Time `json:"started,omitzero"`
	PID     int       `json:"pid,omitempty"`
	Ready   bool      `json:"ready"`
	Waiting string    `json:"waiting,omitempty"`

	Repositories StatusRepositories `json:"repositories"`
	Queue        StatusQueue        `json:"queue"`
	Searches     StatusSearches     `json:"searches"`
	Disk         StatusDisk         `json:"disk"`
	Memory       StatusMemory       `json:"memory"`
	Index        StatusIndex        `json:"index"`
	Backup       StatusBackup       `json:"backup,omitzero"`
	// Cluster is about the nodes that share the store, nil for a store of one machine.
	Cluster *StatusCluster `json:"cluster,omitempty"`
}

// StatusBackup tells of the last attempt to make a backup, and of the last that
// made one; both are zero if there was none.
type StatusBackup struct {
	Last        time.Time `json:"last,omitzero"`
	LastGood    time.Time `json:"lastGood,omitzero"`
	Destination string    `json:"destination,omitempty"`
	Error       string    `json:"error,omitempty"`
}

// StatusRepositories tells how far repositories are behind their sources.
type StatusRepositories struct {
	Total   int `json:"total"`
	Indexed int `json:"indexed"`
	Failing int `json:"failing"`
	// OldestSeconds is the most seconds since a source was looked at with
	// success, or since its repository was added if it never was.
	OldestSeconds float64 `json:"oldestSeconds"`
	// MedianSeconds and P99Seconds are what half and 99 of 100 of all repositories
	// are below.
	MedianSeconds float64 `json:"medianSeconds"`
	P99Seconds    float64 `json:"p99Seconds"`
	// Lags are all repositories, the one looked at longest ago first.
	Lags []StatusLag `json:"lags"`
}

// StatusLag is how long ago the source of a repository was looked at.
type StatusLag struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Indexed bool    `json:"indexed"`
	Error   string  `json:"error,omitempty"`
	// PushSeconds is how long the last push took until it was searched, 0 if none was
	// reported since the server started.
	PushSeconds float64 `json:"pushSeconds,omitempty"`
}

// StatusQueue is what is synced, and how many wait for it. Fetching counts the
// mirrors that are brought up to date, that of Running among them if it is.
type StatusQueue struct {
	Running  string    `json:"running,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Phase    string    `json:"phase,omitempty"`
	Done     int       `json:"done,omitempty"`
	Total    int       `json:"total,omitempty"`
	Fetching int       `json:"fetching,omitempty"`
	Waiting  int       `json:"waiting"`
}

// StatusSearches are the searches at work, those that wait for their turn, and
// how many may be at work.
type StatusSearches struct {
	AtWork  int `json:"atWork"`
	Waiting int `json:"waiting"`
	Most    int `json:"most"`
}

// StatusDisk is the space of the data directory and of its file system, in
// bytes. Low says that indexing has stopped for want of it.
type StatusDisk struct {
	Index   uint64 `json:"indexBytes"`
	Mirrors uint64 `json:"mirrorBytes"`
	Free    uint64 `json:"freeBytes"`
	Total   uint64 `json:"totalBytes"`
	MinFree uint64 `json:"minFreeBytes"`
	Low     bool   `json:"low"`
	// Stopped says why nothing can be indexed or changed now, for want of room
	// or because the disk fails; "" if that is not so.
	Stopped string `json:"stopped,omitempty"`
}

// StatusMemory is the setting, and what the process takes and at most took, in
// bytes; 0 where the system does not tell.
type StatusMemory struct {
	Setting uint64 `json:"settingBytes"`
	Now     uint64 `json:"nowBytes"`
	Peak    uint64 `json:"peakBytes"`
	Caches  uint64 `json:"cacheBytes"`
}

// StatusAside is a shard of which nothing is shown, since it is damaged.
type StatusAside struct {
	Shard  uint32    `json:"shard"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason"`
}

// StatusIndex are the numbers of the index and of the engine below.
type StatusIndex struct {
	Shards              int    `json:"shards"`
	Documents           int    `json:"documents"`
	Dead                int    `json:"dead"`
	TextBytes           uint64 `json:"textBytes"`
	CompactionDebtBytes uint64 `json:"compactionDebtBytes"`
	Compactions         uint64 `json:"compactions"`
	CompactionsFailed   uint64 `json:"compactionsFailed"`
	WALBytes            uint64 `json:"walBytes"`
	MemTableBytes       uint64 `json:"memTableBytes"`
	CacheHits           uint64 `json:"cacheHits"`
	CacheMisses         uint64 `json:"cacheMisses"`
	ReadAmplification   int    `json:"readAmplification"`
	Snapshots           int    `json:"snapshots"`
	// Outdated counts the shards of an older index, which are searched as they
	// are until they have been rewritten.
	Outdated int `json:"outdated,omitempty"`
	// Aside are the shards that are damaged and wait to be made anew.
	Aside []StatusAside `json:"aside,omitempty"`
	// Unreadable are small records that are damaged, in words.
	Unreadable []string `json:"unreadable,omitempty"`
}

// StatusFunc tells how the server is.
type StatusFunc func(context.Context) (Status, error)

// serveStatus answers also while the data directory is being opened.
func (h *Handlers) serveStatus(w http.ResponseWriter, r *http.Request, _ None) error {
	s, err := h.Status(r.Context())
	if err != nil {
		return asError(err)
	}
	return httpapi.ServeJSON(w, r, s)
}
