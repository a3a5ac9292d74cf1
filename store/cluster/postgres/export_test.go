package postgres

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
)

// KeptEntries is how many entries Cut leaves in any case.
const KeptEntries = keptEntries

// SchemaVersion is the newest version of the tables.
var SchemaVersion = len(steps)

// CutTo is Cut that keeps fewer entries.
func (l *Log) CutTo(ctx context.Context, kept int) error { return l.cut(ctx, kept) }

// OpenNewer opens a database as a program does that has further steps.
func OpenNewer(ctx context.Context, o Options, further ...[]string) (*Cluster, error) {
	return openWith(ctx, o, append(steps[:len(steps):len(steps)], further...))
}

// Exec runs a statement.
func (c *Cluster) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := c.db.pool.Exec(ctx, statement, args...)
	return err
}

// DecodeWrites reads the column writes of an entry.
var (
	DecodeWrites = decodeWrites
	EncodeWrites = encodeWrites
)

// Serializable has all transactions be serializable.
func (o *Options) Serializable() { o.isolation = "serializable" }

// Silent has a database be taken for one without LISTEN.
func (o *Options) Silent() { o.silent = true }

// SetPatience changes the patience of a cluster that is not in use yet.
func (c *Cluster) SetPatience(d time.Duration) { c.db.patience = d }

// DropConnections has further calls make new connections.
func (c *Cluster) DropConnections() { c.db.pool.Reset() }

// Heard reports whether a log has heard of a version.
func (l *Log) Heard(v cluster.Version) bool { return l.news.behind(v-1) == nil }

// Setting returns a setting of a session.
func (c *Cluster) Setting(ctx context.Context, name string) (value string, err error) {
	err = c.db.pool.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value)
	return value, err
}
