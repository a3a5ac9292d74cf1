package postgres

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
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
	mu      sync.Mutex // guards version and changed
	version cluster.Version
	changed chan struct{} // closed, and replaced, when version grows

	live atomic.Bool // there is a connection that listens
}

func newNews() *news { return &news{changed: make(chan struct{})} }

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

// Listening reports whether the database tells of new versions. Otherwise callers of
// Wait poll.
func (l *Log) Listening() bool { return l.news.live.Load() }

// Wait implements cluster.Log.
func (l *Log) Wait(ctx context.Context, after cluster.Version) error {
	poll := time.NewTimer(pollTime)
	defer poll.Stop()
	for {
		changed := l.news.behind(after)
		if changed == nil {
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-poll.C:
			return ctx.Err()
		case <-l.db.closed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listener hears of versions on a connection of its own, until it is closed. While it
// has none, callers of Wait poll.
type listener struct {
	db    *database
	news  *news
	stop  context.CancelFunc
	ended chan struct{}
}

func listen(db *database, n *news) *listener {
	ctx, stop := context.WithCancel(context.Background())
	h := &listener{db: db, news: n, stop: stop, ended: make(chan struct{})}
	go h.listen(ctx)
	return h
}

// close ends it. A nil listener has ended.
func (h *listener) close() {
	if h == nil {
		return
	}
	h.stop()
	<-h.ended
}

func (h *listener) listen(ctx context.Context) {
	defer close(h.ended)
	for ctx.Err() == nil {
		h.listenOnce(ctx)
		pause := time.NewTimer(mostPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

// listenOnce listens on a connection until it fails.
func (h *listener) listenOnce(ctx context.Context) {
	conn, err := h.db.connectAlone(ctx)
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
	h.news.live.Store(true)
	defer h.news.live.Store(false)
	for h.hear(ctx, conn) == nil {
	}
}

// hear waits for one notification, or else sees whether the connection still works.
func (h *listener) hear(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	if err == nil {
		if version, err := strconv.ParseUint(n.Payload, 10, 64); err == nil {
			h.news.report(cluster.Version(version))
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
