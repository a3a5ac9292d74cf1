package member_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
)

// memoryCluster has nodes and leases in memory, by the clock of this process.
type memoryCluster struct {
	mu     *sync.Mutex // guards all below
	nodes  map[string]cluster.Node
	leases map[string]cluster.Lease
	// away says that it cannot be reached.
	away bool
	// before and after are called beside the next renewal.
	before, after func()
}

// beside has functions called before the next renewal and after it, while the node waits
// for its answer.
func (c *memoryCluster) beside(before, after func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.after = before, after
}

// waits reports whether that renewal is still to come.
func (c *memoryCluster) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before != nil
}

func (c *memoryCluster) takeBeside() (before, after func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, after = c.before, c.after
	if c.before, c.after = nil, nil; before == nil {
		return func() {}, func() {}
	}
	return before, after
}

var errAway = errors.New("no connection")

func newMemoryCluster() *memoryCluster {
	return &memoryCluster{mu: new(sync.Mutex), nodes: map[string]cluster.Node{}, leases: map[string]cluster.Lease{}}
}

// another is another connection to the same cluster.
func (c *memoryCluster) another() *memoryCluster {
	return &memoryCluster{mu: c.mu, nodes: c.nodes, leases: c.leases}
}

// call runs f alone, unless the cluster is away.
func (c *memoryCluster) call(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return errAway
	}
	return f()
}

func (c *memoryCluster) setAway(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
}

func (c *memoryCluster) Join(_ context.Context, n cluster.Node) error {
	return c.call(func() error {
		n.Started, n.Seen = time.Now(), time.Now()
		c.nodes[n.ID] = n
		return nil
	})
}

func (c *memoryCluster) Beat(_ context.Context, n cluster.Node) error {
	return c.call(func() error {
		old, ok := c.nodes[n.ID]
		if !ok {
			return cluster.ErrGone
		}
		n.Started, n.Seen = old.Started, time.Now()
		c.nodes[n.ID] = n
		return nil
	})
}

func (c *memoryCluster) Leave(_ context.Context, id string) error {
	return c.call(func() error {
		delete(c.nodes, id)
		maps.DeleteFunc(c.leases, func(_ string, l cluster.Lease) bool { return l.Node == id })
		return nil
	})
}

func (c *memoryCluster) Nodes(context.Context) (nodes []cluster.Node, err error) {
	err = c.call(func() error {
		for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
			nodes = append(nodes, c.nodes[id])
		}
		return nil
	})
	return nodes, err
}

func (c *memoryCluster) Format(context.Context) (uint32, error) { return 1, nil }

func (c *memoryCluster) Raise(_ context.Context, format uint32) (uint32, error) { return format, nil }

func (c *memoryCluster) Acquire(_ context.Context, name, node string, ttl time.Duration) (lease cluster.Lease, held bool, err error) {
	err = c.call(func() error {
		old, taken := c.leases[name]
		taken = taken && time.Now().Before(old.Until)
		if taken && old.Node != node {
			return nil
		}
		lease = cluster.Lease{Name: name, Node: node, Fence: old.Fence, Until: time.Now().Add(ttl), Deadline: time.Now().Add(ttl)}
		if !taken {
			lease.Fence++
		}
		c.leases[name], held = lease, true
		return nil
	})
	return lease, held, err
}

func (c *memoryCluster) Renew(_ context.Context, node string, ttl time.Duration, names ...string) (leases []cluster.Lease, err error) {
	before, after := c.takeBeside()
	before()
	defer after()
	err = c.call(func() error {
		for _, name := range names {
			l := c.leases[name]
			if l.Node != node || !time.Now().Before(l.Until) {
				continue
			}
			l.Until, l.Deadline = time.Now().Add(ttl), time.Now().Add(ttl)
			c.leases[name] = l
			leases = append(leases, l)
		}
		return nil
	})
	return leases, err
}

func (c *memoryCluster) Release(_ context.Context, leases ...cluster.Lease) error {
	return c.call(func() error {
		for _, l := range leases {
			if c.leases[l.Name].Fence == l.Fence {
				l.Until = time.Now()
				c.leases[l.Name] = l
			}
		}
		return nil
	})
}

func (c *memoryCluster) Leases(context.Context) (leases []cluster.Lease, err error) {
	err = c.call(func() error {
		for _, name := range slices.Sorted(maps.Keys(c.leases)) {
			if l := c.leases[name]; time.Now().Before(l.Until) {
				leases = append(leases, l)
			}
		}
		return nil
	})
	return leases, err
}
