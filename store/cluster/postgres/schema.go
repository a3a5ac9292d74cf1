package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/trawlsearch/trawl/store/cluster"
)

// The tables, in a schema of their own:
//
//	head     the last version; one row, which every commit locks
//	log      what made each version that is kept
//	record   the records as the last version leaves them; NULL is a deleted one
//	counter  numbers that are given out, apart from head so that they wait for no commit
//	node     who is there
//	lease    who does what; rows stay when they expire, as their fence goes on
//
// steps lead from each version of the schema to the next. A step may add to what there
// is, and change or remove nothing that an older program uses, since nodes of the older
// program go on while the first of the newer one starts. Numbers are never used again.
var steps = [][]string{
	{ // 1
		`CREATE TABLE trawl.head (
			id smallint PRIMARY KEY CHECK (id = 1),
			schema_version integer NOT NULL,
			cluster bytea NOT NULL,
			format bigint NOT NULL,
			version bigint NOT NULL)`,
		`CREATE TABLE trawl.log (
			version bigint PRIMARY KEY,
			id bytea NOT NULL,
			size bigint NOT NULL,
			writes bytea NOT NULL)`,
		`CREATE TABLE trawl.record (
			key bytea PRIMARY KEY,
			value bytea,
			version bigint NOT NULL)`,
		`CREATE TABLE trawl.counter (
			name text PRIMARY KEY,
			next bigint NOT NULL)`,
		`CREATE TABLE trawl.node (
			id text PRIMARY KEY,
			address text NOT NULL,
			started timestamptz NOT NULL,
			seen timestamptz NOT NULL,
			applied bigint NOT NULL,
			lowest bigint NOT NULL,
			newest bigint NOT NULL,
			facts text NOT NULL)`,
		`CREATE TABLE trawl.lease (
			name text PRIMARY KEY,
			node text NOT NULL,
			fence bigint NOT NULL,
			until timestamptz NOT NULL)`,
		`INSERT INTO trawl.counter VALUES ('shard', 1)`,
	},
}

// ErrForeign means that the schema trawl of the database was not made by trawl.
var ErrForeign = errors.New("the schema trawl of this database was not made by trawl: use another database")

// SchemaError is returned if a newer program has changed the tables.
type SchemaError struct {
	// Database is the version of the tables, Program the newest that the program knows.
	Database, Program int
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d, and this program knows versions up to %d: use a newer program", e.Database, e.Program)
}

// schema is the tables of a cluster as a program has them. It guards how they change.
type schema struct {
	db    *database
	reads cluster.Formats
	steps [][]string
}

// open makes or migrates the tables, and returns which cluster this is. It fails with a
// FormatError if the program cannot read the records of the cluster.
func (s *schema) open(ctx context.Context) (id cluster.ID, err error) {
	err = s.db.call(ctx, "open database", large, func(ctx context.Context) error {
		version, err := s.version(ctx)
		if err == nil && version < len(s.steps) {
			err = s.migrate(ctx)
		}
		if err != nil {
			return explain(err)
		}
		if version > len(s.steps) {
			return &SchemaError{Database: version, Program: len(s.steps)}
		}
		var drawn []byte
		var format int64
		if err := s.db.pool.QueryRow(ctx, `SELECT cluster, format FROM trawl.head WHERE id = 1`).Scan(&drawn, &format); err != nil {
			return err
		}
		copy(id[:], drawn)
		return readable(s.reads, format)
	})
	return id, err
}

// explain says what to do about an error, or that another node is making the tables
// at the same time.
func explain(err error) error {
	switch code(err) {
	case "23505", "42P06", "42P07", "XX000": // there already, or changed by two at once
		return fmt.Errorf("%w: %w", errAgain, errors.New(err.Error()))
	case "42501":
		return fmt.Errorf("%w: let this user own the database, or have its owner run CREATE SCHEMA trawl AUTHORIZATION of this user", err)
	case "42703", "42P01":
		return ErrForeign
	}
	return err
}

// version returns the version of the tables, 0 if there are none.
func (s *schema) version(ctx context.Context) (int, error) {
	var tables, heads int
	err := s.db.pool.QueryRow(ctx, `SELECT count(*), count(CASE WHEN table_name = 'head' THEN 1 END)
		FROM information_schema.tables WHERE table_schema = 'trawl'`).Scan(&tables, &heads)
	if err != nil || tables == 0 {
		return 0, err
	}
	if heads == 0 {
		return 0, ErrForeign
	}
	var version int
	err = s.db.pool.QueryRow(ctx, `SELECT schema_version FROM trawl.head WHERE id = 1`).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrForeign
	}
	return version, err
}

// migrate takes all steps that are left in one transaction. Of several nodes that
// start at once one takes them; the others fail on what is there already, or wait for
// the row of the head.
func (s *schema) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.db.pool, func(tx pgx.Tx) error {
		version, err := lockedVersion(ctx, tx)
		if err != nil {
			return err
		}
		if version >= len(s.steps) {
			return nil
		}
		for _, statement := range slices.Concat(s.steps[version:]...) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if version > 0 {
			_, err = tx.Exec(ctx, `UPDATE trawl.head SET schema_version = $1 WHERE id = 1`, len(s.steps))
			return err
		}
		id := make([]byte, len(cluster.ID{}))
		_, _ = rand.Read(id) // it never fails
		_, err = tx.Exec(ctx, `INSERT INTO trawl.head (id, schema_version, cluster, format, version) VALUES (1, $1, $2, $3, 0)`,
			len(s.steps), id, int64(s.reads.Newest))
		return err
	})
}

// lockedVersion returns the version of the tables, and keeps other nodes from changing
// them until the transaction ends. For version 0 the name of the schema does that.
func lockedVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	var schemas, tables int
	err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'trawl'),
		(SELECT count(*) FROM information_schema.tables WHERE table_schema = 'trawl')`).Scan(&schemas, &tables)
	switch {
	case err != nil:
		return 0, err
	case tables > 0:
		err = tx.QueryRow(ctx, `SELECT schema_version FROM trawl.head WHERE id = 1 FOR UPDATE`).Scan(&version)
		return version, err
	case schemas == 0:
		_, err = tx.Exec(ctx, `CREATE SCHEMA trawl`)
	}
	return 0, err
}

// readable returns a FormatError if the program does not read records of a format.
func readable(reads cluster.Formats, format int64) error {
	if reads.Read(uint32(format)) {
		return nil
	}
	return &cluster.FormatError{Records: uint32(format), Reads: reads}
}
