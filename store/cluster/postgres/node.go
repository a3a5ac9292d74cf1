package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

// Nodes are the nodes of a cluster, and the format that all of them read.
type Nodes struct{ db *database }

// lockFormat reads the format of the records and keeps it as it is until the
// transaction ends: a node that joins and one that raises the format go one by one.
const lockFormat = `SELECT format FROM trawl.head WHERE id = 1 FOR UPDATE`

// Join implements cluster.Nodes.
func (n *Nodes) Join(ctx context.Context, node cluster.Node) error {
	return n.db.call(ctx, "join", small, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, n.db.pool, func(tx pgx.Tx) error {
			var format int64
			if err := tx.QueryRow(ctx, lockFormat).Scan(&format); err != nil {
				return err
			}
			if !node.Reads.Read(uint32(format)) {
				return &cluster.FormatError{Records: uint32(format), Reads: node.Reads}
			}
			_, err := tx.Exec(ctx, `
				INSERT INTO trawl.node (id, address, started, seen, applied, lowest, newest, facts)
				VALUES ($1, $2, now(), now(), $3, $4, $5, $6)
				ON CONFLICT (id) DO UPDATE SET address = excluded.address, started = excluded.started, seen = excluded.seen,
					applied = excluded.applied, lowest = excluded.lowest, newest = excluded.newest, facts = excluded.facts`,
				columnsOf(node)...)
			return err
		})
	})
}

// Beat implements cluster.Nodes.
func (n *Nodes) Beat(ctx context.Context, node cluster.Node) error {
	return n.db.call(ctx, "beat", small, func(ctx context.Context) error {
		tag, err := n.db.pool.Exec(ctx, `
			UPDATE trawl.node SET address = $2, seen = now(), applied = $3, lowest = $4, newest = $5, facts = $6 WHERE id = $1`,
			columnsOf(node)...)
		if err == nil && tag.RowsAffected() == 0 {
			return cluster.ErrGone
		}
		return err
	})
}

func columnsOf(n cluster.Node) []any {
	return []any{n.ID, n.Address, int64(n.Applied), int64(n.Reads.Lowest), int64(n.Reads.Newest), string(n.Facts)}
}

// Leave implements cluster.Nodes.
func (n *Nodes) Leave(ctx context.Context, id string) error {
	return n.db.call(ctx, "leave", small, func(ctx context.Context) error {
		_, err := n.db.pool.Exec(ctx, `
			WITH gone AS (DELETE FROM trawl.node WHERE id = $1)
			UPDATE trawl.lease SET until = now() WHERE node = $1 AND until > now()`, id)
		return err
	})
}

// Nodes implements cluster.Nodes.
func (n *Nodes) Nodes(ctx context.Context) (nodes []cluster.Node, err error) {
	err = n.db.call(ctx, "read nodes", small, func(ctx context.Context) error {
		rows, err := n.db.pool.Query(ctx, `SELECT id, address, started, seen, applied, lowest, newest, facts FROM trawl.node ORDER BY id`)
		if err != nil {
			return err
		}
		nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n cluster.Node, err error) {
			var applied, lowest, newest int64
			var facts string
			err = row.Scan(&n.ID, &n.Address, &n.Started, &n.Seen, &applied, &lowest, &newest, &facts)
			n.Applied, n.Reads = cluster.Version(applied), cluster.Formats{Lowest: uint32(lowest), Newest: uint32(newest)}
			if facts != "" {
				n.Facts = json.RawMessage(facts)
			}
			return n, err
		})
		return err
	})
	return nodes, err
}

// Format implements cluster.Nodes.
func (n *Nodes) Format(ctx context.Context) (format uint32, err error) {
	err = n.db.call(ctx, "read format", small, func(ctx context.Context) error {
		return n.db.pool.QueryRow(ctx, `SELECT format FROM trawl.head WHERE id = 1`).Scan(&format)
	})
	return format, err
}

// Raise implements cluster.Nodes.
func (n *Nodes) Raise(ctx context.Context, format uint32) (now uint32, err error) {
	err = n.db.call(ctx, "raise format", small, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, n.db.pool, func(tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, lockFormat).Scan(&now); err != nil || now >= format {
				return err
			}
			tag, err := tx.Exec(ctx, `UPDATE trawl.head SET format = $1 WHERE id = 1 AND NOT EXISTS (
				SELECT 1 FROM trawl.node WHERE `+alive+` AND NOT ($1 BETWEEN lowest AND newest))`, int64(format))
			if err == nil && tag.RowsAffected() == 1 {
				now = format
			}
			return err
		})
	})
	return now, err
}
