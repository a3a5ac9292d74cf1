package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/trawlsearch/trawl/store/cluster"
)

// size is how much a statement moves.
type size int

const (
	small size = iota // a few rows
	large             // some megabytes
)

// limit returns how long one attempt may take.
func (c *Cluster) limit(s size) time.Duration {
	if s == small {
		return c.patience / 2
	}
	return 3 * c.patience
}

const (
	// leastPause and mostPause are between attempts. Each pause is random, up to a bound
	// that doubles.
	leastPause = 10 * time.Millisecond
	mostPause  = 500 * time.Millisecond
)

var (
	// errAgain has a call tried again.
	errAgain = errors.New("the database changed meanwhile")
	// errUndecided marks what leaves open whether a version was made.
	errUndecided = errors.New("who made the version cannot be read")
)

// call runs a statement that may be run twice, until it succeeds, fails for good, or
// patience is over.
func (c *Cluster) call(ctx context.Context, what string, s size, f func(context.Context) error) error {
	if err := c.try(ctx, s, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (c *Cluster) try(ctx context.Context, s size, f func(context.Context) error) error {
	end := time.Now().Add(c.patience)
	bound := leastPause
	for {
		err := c.attempt(ctx, c.limit(s), f)
		if err == nil || !transient(err) || time.Now().After(end) {
			return err
		}
		pause := time.NewTimer(time.Duration(1 + rand.Int64N(int64(bound))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-c.closed:
			pause.Stop()
			return err
		}
		bound = min(2*bound, mostPause)
	}
}

func (c *Cluster) attempt(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	attempt, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f(attempt)
	if code(err) == "25006" {
		// The server has become a standby, and its connections lead nowhere.
		c.pool.Reset()
	}
	return err
}

// code returns the SQLSTATE of an error that the server sent, or "".
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// transient reports whether a call may succeed when it is made again.
func transient(err error) bool {
	switch c := code(err); {
	case c == "":
		return errors.Is(err, errAgain) || lost(err)
	case c[:2] == "08", c[:2] == "57", c[:2] == "40": // connection, operator, rolled back
		return c != "57P04" // the database was dropped
	default:
		return c == "53300" || c == "25006" || c == "55P03" // too many connections, read-only, lock not available
	}
}

// lost reports whether a connection failed, or did not answer in time.
func lost(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return pgconn.SafeToRetry(err) || pgconn.Timeout(err) || errors.As(err, &network) || errors.As(err, &connect) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded)
}

// certain reports whether an attempt with this error changed nothing, or succeeded.
// The server refuses a statement for certain, unless it was itself interrupted: then
// the transaction may have been committed, and only the answer to it is missing.
func certain(err error) bool {
	if err == nil {
		return true
	}
	if errors.Is(err, errUndecided) {
		return false
	}
	switch c := code(err); {
	case c == "":
		return pgconn.SafeToRetry(err) || ours(err)
	case c == "40003", c[:2] == "08", c[:2] == "57", c[:2] == "58", c[:2] == "XX":
		return false
	}
	return true
}

// ours reports whether an error says what the database holds.
func ours(err error) bool {
	var format *cluster.FormatError
	return errors.Is(err, cluster.ErrBeaten) || errors.Is(err, cluster.ErrAhead) || errors.Is(err, errAgain) || errors.As(err, &format)
}
