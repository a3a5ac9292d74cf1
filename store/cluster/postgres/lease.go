package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

// Leases are the leases of a cluster.
type Leases struct{ db *database }

// Acquire implements cluster.Leases.
func (ls *Leases) Acquire(ctx context.Context, name, node string, ttl time.Duration) (cluster.Lease, bool, error) {
	lease := cluster.Lease{Name: name, Node: node}
	held := false
	err := ls.db.call(ctx, "acquire lease", small, func(ctx context.Context) error {
		asked := time.Now()
		// now() is when the transaction began, and so before what it waited for. An attempt
		// whose answer was lost may end after a later one, and must not shorten the lease.
		err := ls.db.pool.QueryRow(ctx, `
			INSERT INTO trawl.lease AS l (name, node, fence, until) VALUES ($1, $2, 1, now() + $3::bigint * interval '1 microsecond')
			ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = greatest(l.until, excluded.until),
				fence = l.fence + CASE WHEN l.node = excluded.node AND l.until > now() THEN 0 ELSE 1 END
			WHERE l.node = excluded.node OR l.until <= now()
			RETURNING fence, until`, name, node, ttl.Microseconds()).Scan(&lease.Fence, &lease.Until)
		if errors.Is(err, pgx.ErrNoRows) {
			held = false
			return nil
		}
		held = err == nil
		lease.Deadline = asked.Add(ttl)
		return err
	})
	if err != nil || !held {
		return cluster.Lease{}, false, err
	}
	return lease, true, nil
}

// Renew implements cluster.Leases.
func (ls *Leases) Renew(ctx context.Context, node string, ttl time.Duration, names ...string) (leases []cluster.Lease, err error) {
	err = ls.db.call(ctx, "renew leases", small, func(ctx context.Context) error {
		asked := time.Now()
		rows, err := ls.db.pool.Query(ctx, `
			UPDATE trawl.lease SET until = greatest(until, now() + $2::bigint * interval '1 microsecond')
			WHERE node = $1 AND name = ANY($3::text[]) AND until > now()
			RETURNING name, node, fence, until`, node, ttl.Microseconds(), names)
		if err != nil {
			return err
		}
		leases, err = pgx.CollectRows(rows, scanLease)
		for i := range leases {
			leases[i].Deadline = asked.Add(ttl)
		}
		return err
	})
	return leases, err
}

// Release implements cluster.Leases. A statement whose answer was lost may still be
// running when its node has the lease again, which the fence tells apart.
func (ls *Leases) Release(ctx context.Context, leases ...cluster.Lease) error {
	names, nodes, fences := make([]string, len(leases)), make([]string, len(leases)), make([]int64, len(leases))
	for i, l := range leases {
		names[i], nodes[i], fences[i] = l.Name, l.Node, int64(l.Fence)
	}
	return ls.db.call(ctx, "release leases", small, func(ctx context.Context) error {
		_, err := ls.db.pool.Exec(ctx, `
			UPDATE trawl.lease AS l SET until = now()
			FROM unnest($1::text[], $2::text[], $3::bigint[]) AS r (name, node, fence)
			WHERE l.name = r.name AND l.node = r.node AND l.fence = r.fence AND l.until > now()`, names, nodes, fences)
		return err
	})
}

// Leases implements cluster.Leases.
func (ls *Leases) Leases(ctx context.Context) (leases []cluster.Lease, err error) {
	err = ls.db.call(ctx, "read leases", small, func(ctx context.Context) error {
		rows, err := ls.db.pool.Query(ctx, `SELECT name, node, fence, until FROM trawl.lease WHERE until > now() ORDER BY name`)
		if err != nil {
			return err
		}
		leases, err = pgx.CollectRows(rows, scanLease)
		return err
	})
	return leases, err
}

func scanLease(row pgx.CollectableRow) (l cluster.Lease, err error) {
	err = row.Scan(&l.Name, &l.Node, &l.Fence, &l.Until)
	return l, err
}
