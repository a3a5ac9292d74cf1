package cluster

import (
	"context"
	"time"
)

// Lease is the right of one node to do something, until it expires. The database's
// clock decides when that is, so the clocks of nodes do not matter.
type Lease struct {
	Name string
	// Node is the ID of its owner.
	Node string
	// Fence grows with each new owner. A resource that has seen a number refuses lower ones (a fencing token).
	Fence uint64
	// Until is when it expires, by the clock of the database.
	Until time.Time
	// Deadline is before Until, by the clock of the process that acquired or renewed the
	// lease, and counts from before it asked. An owner whose Deadline has passed stops.
	// Leases of other nodes have none.
	Deadline time.Time
}

// Leases are the leases of a cluster. It is safe for concurrent use.
type Leases interface {
	// Acquire gives a lease to a node, if no other node has it. Otherwise held is false,
	// and nothing else is known of the lease. A node that has the lease already keeps its
	// fence, so Acquire can be called again after an error.
	Acquire(ctx context.Context, name, node string, ttl time.Duration) (lease Lease, held bool, err error)
	// Renew prolongs leases of a node, all of them at once, and returns those that it
	// still has. A lease that has expired is not renewed.
	Renew(ctx context.Context, node string, ttl time.Duration, names ...string) ([]Lease, error)
	// Release gives leases back, as they were acquired or renewed: a lease that its node
	// has lost and acquired again since has another fence, and stays.
	Release(ctx context.Context, leases ...Lease) error
	// Leases returns the leases that have not expired, in the order of their names.
	Leases(ctx context.Context) ([]Lease, error)
}
