package postgres

import (
	"context"

	"github.com/trawlsearch/trawl/store/cluster"
)

var (
	_ cluster.Log    = (*Log)(nil)
	_ cluster.Nodes  = (*Nodes)(nil)
	_ cluster.Leases = (*Leases)(nil)
)

// Cluster is one cluster in an open database.
type Cluster struct {
	Log    *Log
	Nodes  *Nodes
	Leases *Leases

	db *database
	id cluster.ID
	// listener is nil where the database cannot notify.
	listener *listener
}

// Open connects to a database and makes or migrates the tables of trawl in it. It is
// safe for several nodes to do so at once.
func Open(ctx context.Context, o Options) (*Cluster, error) { return openWith(ctx, o, steps) }

func openWith(ctx context.Context, o Options, steps [][]string) (*Cluster, error) {
	db, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	id, err := (&schema{db, o.Reads, steps}).open(ctx)
	notifies := false
	if err == nil {
		notifies, err = db.notifies(ctx)
	}
	if err != nil {
		db.close()
		return nil, err
	}
	log := &Log{db: db, reads: o.Reads, append: appendStatement, news: newNews()}
	c := &Cluster{Log: log, Nodes: &Nodes{db}, Leases: &Leases{db}, db: db, id: id}
	if notifies && !o.silent {
		log.append = appendAndNotify
		c.listener = listen(db, log.news)
	}
	return c, nil
}

// ID returns the ID of the cluster, which was drawn when its tables were made. A data
// directory that belongs to another cluster must not be used with this one.
func (c *Cluster) ID() cluster.ID { return c.id }

// Close ends all calls. It is called once.
func (c *Cluster) Close() {
	c.db.endCalls()
	c.listener.close()
	c.db.close()
}
