package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store/cluster"
)

const (
	makeVersion = `
	WITH made AS (
		UPDATE trawl.head SET version = version + 1
		WHERE id = 1 AND version = $1 AND format BETWEEN $2 AND $3
		RETURNING version
	), logged AS (
		INSERT INTO trawl.log (version, id, size, writes) SELECT version, $4::bytea, $5::bigint, $6::bytea FROM made
	), recorded AS (
		INSERT INTO trawl.record (key, value, version)
		SELECT w.key, w.value, made.version FROM made, unnest($7::bytea[], $8::bytea[]) AS w (key, value)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version
	)`
	appendStatement = makeVersion + ` SELECT count(*) FROM made`
	appendAndNotify = makeVersion + ` SELECT count(pg_notify('trawl', version::text)) FROM made`
)

// Log is the log of a cluster. It guards which appends are undecided, and what
// the newest version is that it has heard of.
type Log struct {
	db    *database
	reads cluster.Formats
	// append is the statement that makes a version, which notifies others where the
	// database can.
	append string
	// undecided are the IDs of appends with an unknown outcome.
	undecided sync.Map
	news      *news
}

// maxAppendBytes is how much one version may write. The limit of the database is a
// gigabyte a message, and no transaction of trawl comes near.
const maxAppendBytes = 256 << 20

// Append implements cluster.Log.
func (l *Log) Append(ctx context.Context, base cluster.Version, id cluster.ID, writes []cluster.Write) error {
	if slices.ContainsFunc(writes, func(w cluster.Write) bool { return len(w.Key) == 0 }) {
		return fmt.Errorf("append version %d: a key is empty", base+1)
	}
	encoded := encodeWrites(writes)
	if len(encoded) > maxAppendBytes {
		return fmt.Errorf("append version %d: %d bytes of writes, and %d are the limit", base+1, len(encoded), maxAppendBytes)
	}
	keys, values := columns(writes)
	_, unknown := l.undecided.Load(id) // an earlier attempt may still be running
	err := l.db.try(ctx, large, func(ctx context.Context) error {
		conn, err := l.db.pool.Acquire(ctx)
		if err != nil {
			return err // nothing was sent
		}
		var made int
		err = conn.QueryRow(ctx, l.append, int64(base), int64(l.reads.Lowest), int64(l.reads.Newest),
			id[:], int64(len(encoded)), encoded, keys, values).Scan(&made)
		conn.Release()
		if err == nil && made == 0 {
			err = l.whyNotMade(ctx, base, id)
		}
		unknown = unknown || !certain(err)
		return err
	})
	if err == nil {
		l.undecided.Delete(id)
		l.news.report(base + 1)
		return nil
	}
	// Where the version is another's, an attempt that may still be running fails too.
	if errors.Is(err, cluster.ErrBeaten) {
		l.undecided.Delete(id)
	} else if unknown {
		l.undecided.Store(id, nil)
		return fmt.Errorf("append version %d: %w: %w", base+1, cluster.ErrUnknown, err)
	}
	return fmt.Errorf("append version %d: %w", base+1, err)
}

// whyNotMade returns nil if the version after base was made by the same commit before,
// and otherwise an error that says why it could not be made.
func (l *Log) whyNotMade(ctx context.Context, base cluster.Version, id cluster.ID) error {
	var version, format int64
	var maker []byte
	err := l.db.pool.QueryRow(ctx, `SELECT h.version, h.format, l.id FROM trawl.head h LEFT JOIN trawl.log l ON l.version = $1 + 1
		WHERE h.id = 1`, int64(base)).Scan(&version, &format, &maker)
	switch at := cluster.Version(version); {
	case err != nil:
		return fmt.Errorf("%w: %w", errUndecided, err)
	case at < base:
		return cluster.ErrAhead
	case at == base:
		if err := readable(l.reads, format); err != nil {
			return err
		}
		return errAgain
	case maker == nil:
		return fmt.Errorf("%w: %w", errUndecided, cluster.ErrCut)
	case cluster.ID(maker) == id:
		return nil
	}
	return cluster.ErrBeaten
}
