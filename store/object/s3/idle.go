package s3

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// mostAnswer is the longest answer, twice the largest manifest of a backup. The
// library reads some answers to their end.
const mostAnswer = 256 << 20

var errEndless = errors.New("the answer of the service does not end")

// dialer makes connections that end when they stand still, or when an answer has no
// end: a service that takes half of a request, or sends half of an answer, and then
// nothing, is an error.
type dialer struct {
	with func(ctx context.Context, network, address string) (net.Conn, error)
	idle time.Duration
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.with(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &idleConn{Conn: c, idle: d.idle}, nil
}

// idleConn is a connection with a deadline that each read and each write defers. A
// write defers that of a waiting read too: while a request is on its way, no answer
// is due.
type idleConn struct {
	net.Conn
	idle time.Duration
	// answered counts what was read since the last write.
	answered atomic.Int64
}

// Read implements net.Conn.
func (c *idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if c.answered.Add(int64(n)) > mostAnswer {
		return 0, errEndless
	}
	return n, err
}

// Write implements net.Conn.
func (c *idleConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	c.answered.Store(0)
	return c.Conn.Write(p)
}
