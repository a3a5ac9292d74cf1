package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trawlsearch/trawl/store/cluster"
)

// database runs statements. It guards the connections, and how long and how often a
// statement is tried.
type database struct {
	pool     *pgxpool.Pool
	dialer   *dialer
	patience time.Duration
	// closed is closed when calls are to end.
	closed chan struct{}
}

func connect(ctx context.Context, o Options) (*database, error) {
	config, err := o.poolConfig()
	if err != nil {
		return nil, err
	}
	d := &database{dialer: newDialer(config.ConnConfig.DialFunc), patience: o.Patience, closed: make(chan struct{})}
	if d.patience <= 0 {
		d.patience = defaultPatience
	}
	config.ConnConfig.DialFunc = d.dialer.Dial
	d.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	return d, err
}

// connectAlone makes a connection that is not of the pool.
func (d *database) connectAlone(ctx context.Context) (*pgx.Conn, error) {
	config := d.pool.Config()
	if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// notifies reports whether the database has LISTEN and NOTIFY. Others that speak the
// protocol say so in their version.
func (d *database) notifies(ctx context.Context) (bool, error) {
	var version string
	err := d.call(ctx, "version of the database", small, func(ctx context.Context) error {
		return d.pool.QueryRow(ctx, `SELECT version()`).Scan(&version)
	})
	return strings.HasPrefix(version, "PostgreSQL") && !strings.Contains(version, "-YB-"), err
}

// closeTime is how long connections may take to end in good order.
const closeTime = time.Second

// endCalls has calls that wait return.
func (d *database) endCalls() { close(d.closed) }

func (d *database) close() {
	ended := make(chan struct{})
	go func() {
		d.pool.Close()
		close(ended)
	}()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	d.dialer.closeAll()
	<-ended
}

// size is how much a statement moves.
type size int

const (
	small size = iota // a few rows
	large             // some megabytes
)

// limit returns how long one attempt may take.
func (d *database) limit(s size) time.Duration {
	if s == small {
		return d.patience / 2
	}
	return 3 * d.patience
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
func (d *database) call(ctx context.Context, what string, s size, f func(context.Context) error) error {
	if err := d.try(ctx, s, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (d *database) try(ctx context.Context, s size, f func(context.Context) error) error {
	end := time.Now().Add(d.patience)
	bound := leastPause
	for {
		err := d.attempt(ctx, d.limit(s), f)
		if err == nil || !transient(err) || time.Now().After(end) {
			return err
		}
		pause := time.NewTimer(time.Duration(1 + rand.Int64N(int64(bound))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-d.closed:
			pause.Stop()
			return err
		}
		bound = min(2*bound, mostPause)
	}
}

func (d *database) attempt(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	attempt, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f(attempt)
	if code(err) == "25006" {
		// The server has become a standby, and its connections lead nowhere.
		d.pool.Reset()
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
