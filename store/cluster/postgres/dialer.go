package postgres

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// dialer makes the connections of a cluster and knows those that are open. A server
// that has stopped would keep a connection from closing in good order.
type dialer struct {
	dial pgconn.DialFunc

	mu     sync.Mutex // guards the rest
	conns  map[net.Conn]bool
	closed bool
}

func newDialer(dial pgconn.DialFunc) *dialer {
	return &dialer{dial: dial, conns: map[net.Conn]bool{}}
}

// Dial makes a connection. Its name and shape are those of net.Dialer.
func (d *dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	known := &dialed{Conn: conn, of: d}
	d.conns[known] = true
	return known, nil
}

// closeAll closes all connections, and those that are still to come.
func (d *dialer) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for conn := range d.conns {
		conn.(*dialed).Conn.Close()
	}
	clear(d.conns)
}

// dialed is a connection that its dialer forgets when it is closed.
type dialed struct {
	net.Conn
	of *dialer
}

func (c *dialed) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
