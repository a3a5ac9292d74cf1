package postgres

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

const (
	// pollTime is after how long a caller of Wait looks by itself. A look is one small
	// statement, and a notification may be lost.
	pollTime = 200 * time.Millisecond
	// listenTime is after how long a connection without notifications is tested.
	listenTime = 10 * time.Second
)

// news is the newest version that was heard of.
type news struct {
	mu      sync.Mutex // guards the rest
	version cluster.Version
	changed chan struct{} // closed, and replaced, when version grows
}

func (n *news) init() { n.changed = make(chan struct{}) }

func (n *news) report(v cluster.Version) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if v <= n.version {
		return
	}
	n.version = v
	close(n.changed)
	n.changed = make(chan struct{})
}

// behind returns a channel that is closed at the next version, or nil if there is
// one behind after already.
func (n *news) behind(after cluster.Version) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.version > after {
		return nil
	}
	return n.changed
}

// Wait implements cluster.Log.
func (c *Cluster) Wait(ctx context.Context, after cluster.Version) error {
	poll := time.NewTimer(pollTime)
	defer poll.Stop()
	for {
		changed := c.news.behind(after)
		if changed == nil {
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-poll.C:
			return ctx.Err()
		case <-c.closed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listen hears of versions until the cluster is closed. While it has no connection,
// callers of Wait poll.
func (c *Cluster) listen() {
	defer c.listening.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-c.closed:
		case <-ctx.Done():
		}
	}()
	for ctx.Err() == nil {
		c.listenOnce(ctx)
		pause := time.NewTimer(mostPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

// listenOnce listens on a connection of its own until it fails.
func (c *Cluster) listenOnce(ctx context.Context) {
	config := c.pool.Config()
	if config.BeforeConnect(ctx, config.ConnConfig) != nil {
		return
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `LISTEN trawl`); err != nil {
		return
	}
	c.hearing.Store(true)
	defer c.hearing.Store(false)
	for c.hear(ctx, conn) == nil {
	}
}

// hear waits for one notification, or else sees whether the connection still works.
func (c *Cluster) hear(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	if err == nil {
		if version, err := strconv.ParseUint(n.Payload, 10, 64); err == nil {
			c.news.report(cluster.Version(version))
		}
		return nil
	}
	if ctx.Err() != nil || wait.Err() == nil {
		return err
	}
	ping, cancelPing := context.WithTimeout(ctx, pingTimeout)
	defer cancelPing()
	return conn.Ping(ping)
}
