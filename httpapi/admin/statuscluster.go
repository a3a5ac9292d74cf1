package admin

import "time"

// StatusCluster tells of the nodes that share a store, as the one that answers sees
// them.
type StatusCluster struct {
	// Node is the one that answers, Applied the version that it has, and Confirmed when
	// that was last known to be the newest, or to lack nothing but documents.
	Node      string    `json:"node"`
	Applied   uint64    `json:"applied"`
	Confirmed time.Time `json:"confirmed,omitzero"`
	// Waiting is why shards of the next version cannot be fetched, which keeps this node
	// at the one that it has. Fetching counts its damaged shards that are fetched again,
	// Unfetchable those that no node has whole, and Fetched those that were since it
	// started.
	Waiting     string `json:"waiting,omitempty"`
	Fetching    int    `json:"fetching,omitempty"`
	Unfetchable int    `json:"unfetchable,omitempty"`
	Fetched     int64  `json:"fetched,omitempty"`
	// Head is the newest version. Error is why it and the nodes are not known.
	Head  uint64 `json:"head,omitempty"`
	Error string `json:"error,omitempty"`
	// Listening says that the database tells of new versions, which are polled for
	// otherwise. Objects is where the shards are that nodes share.
	Listening bool         `json:"listening"`
	Objects   string       `json:"objects"`
	Nodes     []StatusNode `json:"nodes"`
}

// Behind is how many versions are missing of those up to the newest where applied is the
// last one, as far as is known.
func (c *StatusCluster) Behind(applied uint64) uint64 { return max(c.Head, applied) - applied }

// StatusNode is a node of a cluster.
type StatusNode struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Version string `json:"version,omitempty"`
	Data    string `json:"data,omitempty"`
	// Live says that it was heard of within the time after which a node is missed.
	Live    bool      `json:"live"`
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	// Applied is the version that it had then, Formats the oldest and the newest format
	// of records that it reads.
	Applied uint64    `json:"applied"`
	Formats [2]uint32 `json:"formats"`
	// Bytes are those of its index on disk, FreeBytes what is free there.
	Bytes     uint64 `json:"bytes,omitempty"`
	FreeBytes uint64 `json:"freeBytes,omitempty"`
	Shards    int    `json:"shards,omitempty"`
	// Parts counts the parts of the work that it does, Tasks are what it does for all.
	Parts int      `json:"parts"`
	Tasks []string `json:"tasks,omitempty"`
}
