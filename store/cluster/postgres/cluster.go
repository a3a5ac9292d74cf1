package postgres

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trawlsearch/trawl/store/cluster"
)

var (
	_ cluster.Log    = (*Cluster)(nil)
	_ cluster.Nodes  = (*Cluster)(nil)
	_ cluster.Leases = (*Cluster)(nil)
)

// Cluster is the log, the nodes and the leases of one cluster.
type Cluster struct {
	pool     *pgxpool.Pool
	dialer   *dialer
	reads    cluster.Formats
	patience time.Duration
	id       cluster.ID
	// append is the statement that makes a version, which notifies others where the
	// database can.
	append string

	// undecided are the IDs of appends with an unknown outcome.
	undecided sync.Map

	news      news
	hearing   atomic.Bool // there is a connection that listens
	closed    chan struct{}
	listening sync.WaitGroup
}

// Open connects to a database and makes or migrates the tables of trawl in it. It is
// safe for several nodes to do so at once.
func Open(ctx context.Context, o Options) (*Cluster, error) { return openWith(ctx, o, steps) }

func openWith(ctx context.Context, o Options, steps [][]string) (*Cluster, error) {
	config, err := o.poolConfig()
	if err != nil {
		return nil, err
	}
	d := newDialer(config.ConnConfig.DialFunc)
	config.ConnConfig.DialFunc = d.Dial
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{pool: pool, dialer: d, reads: o.Reads, patience: o.Patience, append: appendStatement, closed: make(chan struct{})}
	if c.patience <= 0 {
		c.patience = defaultPatience
	}
	c.news.init()
	if err := c.open(ctx, steps); err != nil {
		c.Close()
		return nil, err
	}
	notifies, err := c.notifies(ctx)
	if err != nil {
		c.Close()
		return nil, err
	}
	if notifies && !o.silent {
		c.append = appendAndNotify
		c.listening.Add(1)
		go c.listen()
	}
	return c, nil
}

// notifies reports whether the database has LISTEN and NOTIFY. Others that speak the
// protocol say so in their version.
func (c *Cluster) notifies(ctx context.Context) (bool, error) {
	var version string
	err := c.call(ctx, "version of the database", small, func(ctx context.Context) error {
		return c.pool.QueryRow(ctx, `SELECT version()`).Scan(&version)
	})
	return strings.HasPrefix(version, "PostgreSQL") && !strings.Contains(version, "-YB-"), err
}

// ID returns the ID of the cluster, which was drawn when its tables were made. A data
// directory that belongs to another cluster must not be used with this one.
func (c *Cluster) ID() cluster.ID { return c.id }

// Listening reports whether the database tells of new versions. Otherwise callers of
// Wait poll.
func (c *Cluster) Listening() bool { return c.hearing.Load() }

// closeTime is how long connections may take to end in good order.
const closeTime = time.Second

// Close implements cluster.Log.
func (c *Cluster) Close() {
	close(c.closed)
	c.listening.Wait()
	ended := make(chan struct{})
	go func() {
		c.pool.Close()
		close(ended)
	}()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	c.dialer.closeAll()
	<-ended
}
