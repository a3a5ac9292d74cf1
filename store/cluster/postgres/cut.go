package postgres

import (
	"context"
	"fmt"
	"math"
)

const (
	// keptEntries is how many entries of the log stay in any case.
	keptEntries = 4096
	// cutEntries is how many entries one statement drops.
	cutEntries = 512
	// alive is the condition of nodes that are waited for.
	alive = `seen > now() - interval '1 minute'`
	// forgotten is the condition of nodes that died long ago.
	forgotten = `seen < now() - interval '1 day'`
)

// Cut implements cluster.Log.
func (l *Log) Cut(ctx context.Context) error { return l.cut(ctx, keptEntries) }

func (l *Log) cut(ctx context.Context, kept int) error {
	for dropped := int64(cutEntries); dropped == cutEntries; {
		err := l.db.call(ctx, "cut log", large, func(ctx context.Context) error {
			tag, err := l.db.pool.Exec(ctx, `
				DELETE FROM trawl.log WHERE version IN (
					SELECT version FROM trawl.log WHERE version <= (
						SELECT least(h.version - $1, (SELECT min(applied) FROM trawl.node WHERE `+alive+`))
						FROM trawl.head h WHERE h.id = 1)
					ORDER BY version LIMIT $2)`, int64(kept), cutEntries)
			dropped = tag.RowsAffected()
			return err
		})
		if err != nil {
			return err
		}
	}
	return l.db.call(ctx, "forget what is gone", large, func(ctx context.Context) error {
		if _, err := l.db.pool.Exec(ctx, `DELETE FROM trawl.record WHERE value IS NULL`); err != nil {
			return err
		}
		_, err := l.db.pool.Exec(ctx, `DELETE FROM trawl.node WHERE `+forgotten)
		return err
	})
}

// Reserve implements cluster.Log.
func (l *Log) Reserve(ctx context.Context, n uint32) (first uint32, err error) {
	var next int64
	err = l.db.call(ctx, "reserve shards", small, func(ctx context.Context) error {
		return l.db.pool.QueryRow(ctx, `UPDATE trawl.counter SET next = next + $1 WHERE name = 'shard' RETURNING next`, int64(n)).Scan(&next)
	})
	if err != nil {
		return 0, err
	}
	if next-1 > math.MaxUint32 {
		return 0, fmt.Errorf("reserve shards: all numbers are taken")
	}
	return uint32(next - int64(n)), nil
}
