package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/member"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/object"
)

// The tasks that one node does for all.
const (
	// TaskMerge is to merge shards, and to rewrite those of an older index.
	TaskMerge = "merge"
	// TaskBackup is to make the backups of the configuration file.
	TaskBackup = "backup"
	// TaskHousekeeping is to sweep objects and to cut the log.
	TaskHousekeeping = "housekeeping"
)

// formats are those of records that this program reads.
var formats = store.RecordFormats

// Node is this process among the nodes of a cluster. It is safe for concurrent use. A
// nil Node is that of a store of one machine.
type Node struct {
	db      *postgres.Cluster
	objects object.Store
	log     zerolog.Logger
	// member is set by Join.
	member  atomic.Pointer[member.Member]
	keeping sync.WaitGroup
	stop    context.CancelFunc
}

// Open connects with the database of the settings. Join is called once the store is
// open, and Close after the store is closed.
func Open(ctx context.Context, set config.Cluster, objects object.Store, log zerolog.Logger) (*Node, error) {
	db, err := postgres.Open(ctx, postgres.Options{
		Address: set.Authority, PasswordFile: set.AuthorityPasswordFile, Reads: formats,
	})
	if err != nil {
		return nil, fmt.Errorf("database of the cluster: %w", err)
	}
	return &Node{db: db, objects: objects, log: log, stop: func() {}}, nil
}

// Share sets what a store shares with other nodes among the options that it is opened
// with.
func (n *Node) Share(o *store.Options) {
	if n != nil {
		o.Log, o.Runs = n.db.Log, runs.New(n.objects)
	}
}

// Facts is what a node tells the others about itself.
type Facts struct {
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Version string `json:"version,omitempty"`
	Data    string `json:"data,omitempty"`
	// Bytes are those of the index on disk, FreeBytes what is free there.
	Bytes     uint64 `json:"bytes,omitempty"`
	FreeBytes uint64 `json:"freeBytes,omitempty"`
	Shards    int    `json:"shards,omitempty"`
}

// Description is what there is to tell of a node.
type Description struct {
	Address string
	Applied uint64
	Facts   Facts
}

// Join makes the process a member of its cluster until Leave. gained is called when
// there is more for it to do.
func (n *Node) Join(ctx context.Context, describe func() Description, gained func()) error {
	if n == nil {
		return nil
	}
	m, err := member.Join(ctx, member.Options{
		Nodes: n.db.Nodes, Leases: n.db.Leases, Tasks: []string{TaskMerge, TaskBackup, TaskHousekeeping}, Gained: gained,
		Describe: func() cluster.Node {
			d := describe()
			facts, err := json.Marshal(d.Facts)
			if err != nil {
				n.log.Error().Err(err).Msg("facts of the node")
			}
			return cluster.Node{Address: d.Address, Applied: cluster.Version(d.Applied), Reads: formats, Facts: facts}
		},
		Event: func(message string, err error) { n.log.Warn().Err(err).Str("event", message).Msg("cluster") },
	})
	if err != nil {
		return err
	}
	n.member.Store(m)
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.keeping.Go(func() { m.Keep(ctx) })
	n.log.Info().Str("node", m.ID()).Int("nodes", m.Live()).Msg("joined the cluster")
	return nil
}

// Leave gives what falls to this node to others. It does nothing before Join, and may be
// called again.
func (n *Node) Leave() {
	if n == nil {
		return
	}
	n.stop()
	n.keeping.Wait()
}

// Close disconnects from the database.
func (n *Node) Close() {
	if n == nil {
		return
	}
	n.Leave()
	n.db.Close()
}

// joined is what falls to this node; nil, which is everything, before Join and in a
// store of one machine.
func (n *Node) joined() *member.Member {
	if n == nil {
		return nil
	}
	return n.member.Load()
}

// Joined reports whether others do a share of the work.
func (n *Node) Joined() bool { return n.joined() != nil }

// Mine reports whether the work on what has a number, such as a repository by its ID,
// falls to this node.
func (n *Node) Mine(number uint32) bool { return n.joined().HoldsPart(number) }

// Holder returns where people find the node that the work on what has a number falls to,
// "" for this one or if it is not known.
func (n *Node) Holder(ctx context.Context, number uint32) string {
	m := n.joined()
	if m.HoldsPart(number) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	leases, err := n.db.Leases.Leases(ctx)
	if err != nil {
		return ""
	}
	nodes, err := n.db.Nodes.Nodes(ctx)
	if err != nil {
		return ""
	}
	return holderOf(nodes, leases, number)
}

// holderOf is Holder among some nodes and their leases.
func holderOf(nodes []cluster.Node, leases []cluster.Lease, number uint32) string {
	i := slices.IndexFunc(leases, func(l cluster.Lease) bool { return l.Name == member.Part(number) })
	if i < 0 {
		return ""
	}
	j := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.ID == leases[i].Node })
	if j < 0 {
		return ""
	}
	s := statusOf(nodes[j], true, nil)
	return strings.TrimSpace(s.Host + " " + s.Address)
}

// Does reports whether a task falls to this node.
func (n *Node) Does(task string) bool { return n.joined().Holds(task) }

// claimPrefix begins the names of what ClaimSync claims.
const claimPrefix = "sync-"

// ClaimSync gives the sync of a repository to this node until release is called, unless
// another node has it: held is false then.
func (n *Node) ClaimSync(ctx context.Context, repository uint32) (release func(), held bool, err error) {
	return n.joined().Claim(ctx, claimPrefix+strconv.FormatUint(uint64(repository), 10))
}

// Live is how many nodes serve the same clients.
func (n *Node) Live() int { return n.joined().Live() }

// Tidy cuts the log behind the slowest node, and raises the format of records to the
// newest that this program writes once all nodes read it. One node does it for all,
// every minute.
func (n *Node) Tidy(ctx context.Context) error {
	if err := n.db.Log.Cut(ctx); err != nil {
		return err
	}
	_, err := n.db.Nodes.Raise(ctx, formats.Newest)
	return err
}

// statusTime bounds how long a status waits for the database.
const statusTime = 2 * time.Second

// Status describes the cluster, nil for a store of one machine. applied is the version
// of this node's store, confirmed when it was known to be the last.
func (n *Node) Status(ctx context.Context, s store.Sharing) *admin.StatusCluster {
	if n == nil {
		return nil
	}
	applied := uint64(s.Version)
	out := &admin.StatusCluster{
		Applied: applied, Confirmed: s.Confirmed.UTC(), Objects: n.objects.String(), Listening: n.db.Log.Listening(),
		Waiting: s.Waiting, Fetching: s.Fetching, Unfetchable: s.Hopeless, Fetched: s.Mended,
	}
	if m := n.member.Load(); m != nil {
		out.Node = m.ID()
	}
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	head, err := n.db.Log.Head(ctx)
	var nodes []cluster.Node
	var leases []cluster.Lease
	if err == nil {
		nodes, err = n.db.Nodes.Nodes(ctx)
	}
	if err == nil {
		leases, err = n.db.Leases.Leases(ctx)
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Head = max(uint64(head), applied)
	out.Nodes = statusNodes(nodes, leases)
	for i := range out.Nodes {
		if one := &out.Nodes[i]; one.ID == out.Node {
			one.Applied = applied
		}
	}
	return out
}

// statusNodes describes the nodes, without those that died and were started again: a
// process that starts draws another ID, and no two have a data directory open.
func statusNodes(nodes []cluster.Node, leases []cluster.Lease) (out []admin.StatusNode) {
	held := map[string][]string{}
	for _, l := range leases {
		held[l.Node] = append(held[l.Node], l.Name)
	}
	live := map[string]bool{}
	for _, n := range member.Live(nodes, member.MissedAfter) {
		live[n.ID] = true
	}
	type place struct{ host, data string }
	again := map[place]bool{}
	for _, n := range nodes {
		one := statusOf(n, live[n.ID], held[n.ID])
		out = append(out, one)
		if one.Live && one.Data != "" {
			again[place{one.Host, one.Data}] = true
		}
	}
	return slices.DeleteFunc(out, func(n admin.StatusNode) bool { return !n.Live && again[place{n.Host, n.Data}] })
}

// statusOf describes a node and the leases that it holds.
func statusOf(n cluster.Node, live bool, leases []string) admin.StatusNode {
	out := admin.StatusNode{
		ID: n.ID, Address: n.Address, Live: live, Started: n.Started.UTC(), Seen: n.Seen.UTC(), Applied: uint64(n.Applied), Formats: [2]uint32{n.Reads.Lowest, n.Reads.Newest},
	}
	var facts Facts
	if err := json.Unmarshal(n.Facts, &facts); err == nil {
		out.Host, out.PID, out.Version, out.Data = facts.Host, facts.PID, facts.Version, facts.Data
		out.Bytes, out.FreeBytes, out.Shards = facts.Bytes, facts.FreeBytes, facts.Shards
	}
	for _, name := range leases {
		switch {
		case member.IsPart(name):
			out.Parts++
		case !strings.HasPrefix(name, claimPrefix):
			out.Tasks = append(out.Tasks, name)
		}
	}
	return out
}
