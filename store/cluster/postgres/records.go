package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

// A batch of records is about batchBytes large. The batch before tells how many rows
// that is.
const (
	batchBytes = 1 << 20
	leastBatch = 16
	firstBatch = 256
	mostBatch  = 4096
)

// record is a row of the table.
type record struct{ key, value []byte }

// Records implements cluster.Log.
func (l *Log) Records(ctx context.Context, each func(key, value []byte) error) (cluster.Version, error) {
	var tx pgx.Tx
	var version int64
	err := l.db.call(ctx, "read records", small, func(ctx context.Context) (err error) {
		tx, version, err = l.beginReading(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	defer end(ctx, tx)
	last, size := []byte{}, firstBatch
	for {
		batch, bytes, err := readBatch(ctx, tx, l.db.limit(large), last, size)
		if err != nil {
			return 0, fmt.Errorf("read records: %w", err)
		}
		for _, r := range batch {
			if err := each(r.key, r.value); err != nil {
				return 0, err
			}
		}
		if len(batch) < size {
			return cluster.Version(version), nil
		}
		last = batch[len(batch)-1].key
		size = min(max(leastBatch, batchBytes/max(1, bytes/size)), mostBatch)
	}
}

// beginReading begins a transaction that sees one version, which it returns.
func (l *Log) beginReading(ctx context.Context) (tx pgx.Tx, version int64, err error) {
	tx, err = l.db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, 0, err
	}
	var format int64
	err = tx.QueryRow(ctx, `SELECT version, format FROM trawl.head WHERE id = 1`).Scan(&version, &format)
	if err == nil {
		err = readable(l.reads, format)
	}
	if err != nil {
		end(ctx, tx)
		return nil, 0, err
	}
	return tx, version, nil
}

// end ends a transaction that has only read.
func end(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	_ = tx.Rollback(ctx) // a connection that fails here is closed
}

// readBatch returns size rows behind a key, or what there is, and how many bytes they
// are. No key is empty.
func readBatch(ctx context.Context, tx pgx.Tx, limit time.Duration, after []byte, size int) (batch []record, bytes int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	rows, err := tx.Query(ctx, `SELECT key, value FROM trawl.record WHERE key > $1 AND value IS NOT NULL ORDER BY key LIMIT $2`, after, size)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var r record
		if err := rows.Scan(&r.key, &r.value); err != nil {
			return nil, 0, err
		}
		bytes += len(r.key) + len(r.value)
		batch = append(batch, r)
	}
	return batch, bytes, rows.Err()
}
