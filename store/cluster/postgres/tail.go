package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

// Head implements cluster.Log.
func (l *Log) Head(ctx context.Context) (cluster.Version, error) {
	var version, format int64
	err := l.db.call(ctx, "read head", small, func(ctx context.Context) error {
		if err := l.db.pool.QueryRow(ctx, `SELECT version, format FROM trawl.head WHERE id = 1`).Scan(&version, &format); err != nil {
			return err
		}
		return readable(l.reads, format)
	})
	if err != nil {
		return 0, err
	}
	l.news.report(cluster.Version(version))
	return cluster.Version(version), nil
}

// tailEntries is how many entries Tail returns at most.
const tailEntries = 1024

// tailStatement sees head and log as they are at one moment. There is a row without an
// entry if there is none.
const tailStatement = `
	SELECT h.version, h.format, l.version, l.id, l.writes
	FROM trawl.head h LEFT JOIN (
		SELECT version, id, size, writes, CAST(sum(size) OVER (ORDER BY version) AS bigint) AS total
		FROM (SELECT version, id, size, writes FROM trawl.log WHERE version > $1 ORDER BY version LIMIT $2) AS next
	) AS l ON l.total <= $3 OR l.total = l.size
	WHERE h.id = 1
	ORDER BY l.version`

// Tail implements cluster.Log.
func (l *Log) Tail(ctx context.Context, after cluster.Version, limit int) ([]cluster.Entry, error) {
	var entries []cluster.Entry
	err := l.db.call(ctx, "read log", large, func(ctx context.Context) error {
		rows, err := l.db.pool.Query(ctx, tailStatement, int64(after), tailEntries, int64(limit))
		if err != nil {
			return err
		}
		entries, err = l.entries(rows, after)
		return err
	})
	return entries, err
}

// entries reads rows of tailStatement, and checks that no entry is missing.
func (l *Log) entries(rows pgx.Rows, after cluster.Version) ([]cluster.Entry, error) {
	defer rows.Close()
	var entries []cluster.Entry
	var head, format int64
	for rows.Next() {
		var version *int64
		var id, writes []byte
		if err := rows.Scan(&head, &format, &version, &id, &writes); err != nil {
			return nil, err
		}
		if err := readable(l.reads, format); err != nil {
			return nil, err
		}
		if version == nil {
			break
		}
		e := cluster.Entry{Version: cluster.Version(*version), ID: cluster.ID(id)}
		if e.Version != after+1+cluster.Version(len(entries)) {
			return nil, cluster.ErrCut
		}
		var err error
		if e.Writes, err = decodeWrites(writes); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	rows.Close()
	switch at := cluster.Version(head); {
	case rows.Err() != nil:
		return nil, rows.Err()
	case at < after:
		return nil, cluster.ErrAhead
	case at > after && len(entries) == 0:
		return nil, cluster.ErrCut
	}
	return entries, nil
}
