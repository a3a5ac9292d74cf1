package member

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/trawlsearch/trawl/store/cluster"
)

// parts is how many tasks the work on repositories, shards and jobs is cut into.
const parts = 64

// MissedAfter is for how long leases are held usually. A node that dies is missed
// after that time, and its tasks are taken over at the next round of another.
const MissedAfter = 12 * time.Second

const (
	// usualEvery is the usual time between two rounds.
	usualEvery = 2 * time.Second
	// leaveTime bounds how long a member takes to say that it leaves.
	leaveTime = 5 * time.Second
)

// Options say what a member works with.
type Options struct {
	Nodes  cluster.Nodes
	Leases cluster.Leases
	// Describe returns what is told of this node. Its ID, which the member draws, is
	// not set.
	Describe func() cluster.Node
	// Tasks are the names of what one node does for all, beside the parts.
	Tasks []string
	// Gained is called when the node has tasks that it did not have before.
	Gained func()
	// Event hears in words what goes wrong, and that it does no more.
	Event func(message string, err error)

	// TTL is for how long leases are held, and Every the time between two rounds, which
	// renew them; 0 are 12 and 2 seconds.
	TTL, Every time.Duration
}

// Member is a node of a cluster. It is safe for concurrent use. A nil Member is that
// of a store of one machine, which does everything.
type Member struct {
	id string
	o  Options

	mu sync.Mutex // guards all below
	// held are the leases of this node, by name.
	held map[string]cluster.Lease
	// claimed are the names among those of Claim.
	claimed map[string]bool
	// live is how many nodes there are.
	live int
	// failed is what went wrong in the last round, "" for nothing.
	failed string
}

// Join makes a process a node of its cluster, and has it hold its tasks as far as no
// other does. Keep is called next.
func Join(ctx context.Context, o Options) (*Member, error) {
	o.TTL, o.Every = cmp.Or(o.TTL, MissedAfter), cmp.Or(o.Every, usualEvery)
	m := &Member{id: strings.ToLower(rand.Text()), o: o, held: map[string]cluster.Lease{}, claimed: map[string]bool{}, live: 1}
	if err := o.Nodes.Join(ctx, m.describe()); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if err := m.round(ctx); err != nil {
		m.leave()
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	return m, nil
}

// ID is that of the node among others.
func (m *Member) ID() string { return m.id }

func (m *Member) describe() cluster.Node {
	n := m.o.Describe()
	n.ID = m.id
	return n
}

// Keep says every few seconds that the node is there and renews its leases, until ctx
// ends. Then the node leaves, and others take its tasks over at once.
func (m *Member) Keep(ctx context.Context) {
	tick := time.NewTicker(m.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			m.leave()
			return
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, m.o.TTL/2)
		err := m.round(within)
		cancel()
		if ctx.Err() == nil {
			m.tell(err)
		}
	}
}

// tell reports an error that is not the one before, and that there is none any more.
func (m *Member) tell(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	before := m.failed
	m.failed = text
	m.mu.Unlock()
	switch {
	case text == before:
	case err == nil:
		m.o.Event("the node is heard of by its cluster again", nil)
	default:
		m.o.Event("the node is not heard of by its cluster", err)
	}
}

// leave gives all tasks back.
func (m *Member) leave() {
	m.mu.Lock()
	clear(m.held)
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := m.o.Nodes.Leave(ctx, m.id); err != nil {
		m.o.Event("the node could not say that it leaves, its tasks move when they are missed", err)
	}
}

// round says that the node is there, and brings what it holds in step with what falls
// to it. Tasks that fall to another are given up first.
func (m *Member) round(ctx context.Context) error {
	if err := m.beat(ctx); err != nil {
		return err
	}
	nodes, err := m.o.Nodes.Nodes(ctx)
	if err != nil {
		return err
	}
	live := Live(nodes, m.o.TTL)
	mine := m.share(live)
	spare := m.keep(mine, len(live))
	if err := m.renew(ctx, spare); err != nil {
		return err
	}
	return m.acquire(ctx, mine)
}

func (m *Member) beat(ctx context.Context) error {
	err := m.o.Nodes.Beat(ctx, m.describe())
	if errors.Is(err, cluster.ErrGone) {
		err = m.o.Nodes.Join(ctx, m.describe())
	}
	return err
}

// Live returns the nodes that were heard of within a time before the last that was
// heard of at all, so that only the clock of the database counts.
func Live(nodes []cluster.Node, within time.Duration) []cluster.Node {
	var last time.Time
	for _, n := range nodes {
		if n.Seen.After(last) {
			last = n.Seen
		}
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return last.Sub(n.Seen) > within })
}

// share returns the tasks that fall to this node.
func (m *Member) share(live []cluster.Node) map[string]bool {
	mine := map[string]bool{}
	for _, task := range m.tasks() {
		best := slices.MaxFunc(live, func(a, b cluster.Node) int {
			return cmp.Or(cmp.Compare(weight(task, a.ID), weight(task, b.ID)), cmp.Compare(a.ID, b.ID))
		})
		if best.ID == m.id {
			mine[task] = true
		}
	}
	return mine
}

func weight(task, node string) uint64 { return xxhash.Sum64String(task + "\x00" + node) }

func (m *Member) tasks() []string {
	return append(slices.Clone(m.o.Tasks), partNames...)
}

var partNames = func() []string {
	names := make([]string, parts)
	for i := range names {
		names[i] = fmt.Sprintf("part-%02d", i)
	}
	return names
}()

// keep forgets the leases of tasks that are not mine, and returns them.
func (m *Member) keep(mine map[string]bool, live int) (spare []cluster.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live = max(live, 1)
	for name, lease := range m.held {
		if !mine[name] && !m.claimed[name] {
			spare = append(spare, lease)
			delete(m.held, name)
		}
	}
	return spare
}

// renew gives the spare leases back and renews all others.
func (m *Member) renew(ctx context.Context, spare []cluster.Lease) error {
	if len(spare) > 0 {
		if err := m.o.Leases.Release(ctx, spare...); err != nil {
			return err
		}
	}
	m.mu.Lock()
	asked := maps.Clone(m.held)
	m.mu.Unlock()
	if len(asked) == 0 {
		return nil
	}
	renewed, err := m.o.Leases.Renew(ctx, m.id, m.o.TTL, slices.Sorted(maps.Keys(asked))...)
	if err != nil {
		return err
	}
	still := map[string]cluster.Lease{}
	for _, lease := range renewed {
		still[lease.Name] = lease
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, before := range asked {
		lease, renewed := still[name]
		switch now, has := m.held[name]; {
		case !has || now.Fence != before.Fence: // given back meanwhile, and perhaps claimed again
		case renewed && lease.Fence == before.Fence:
			m.held[name] = lease
		default:
			delete(m.held, name)
		}
	}
	return nil
}

// acquire takes those of its tasks that the node lacks and nobody has.
func (m *Member) acquire(ctx context.Context, mine map[string]bool) error {
	gained := false
	defer func() {
		if gained && m.o.Gained != nil {
			m.o.Gained()
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		m.mu.Lock()
		_, has := m.held[name]
		m.mu.Unlock()
		if has {
			continue
		}
		lease, held, err := m.o.Leases.Acquire(ctx, name, m.id, m.o.TTL)
		if err != nil {
			return err
		}
		if held {
			m.mu.Lock()
			m.held[name] = lease
			m.mu.Unlock()
			gained = true
		}
	}
	return nil
}

// IsPart reports whether a task is one of the parts, which HoldsPart asks for.
func IsPart(task string) bool { return slices.Contains(partNames, task) }

// Part returns the name of the task that what has a number falls into.
func Part(number uint32) string { return partNames[number%parts] }

// Holds reports whether this node does a task now.
func (m *Member) Holds(task string) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	lease, held := m.held[task]
	return held && time.Now().Before(lease.Deadline)
}

// HoldsPart reports whether this node does the work on what has a number, such as a
// repository by its ID.
func (m *Member) HoldsPart(number uint32) bool { return m == nil || m.Holds(Part(number)) }

// Live is how many nodes there were at the last round, this one among them.
func (m *Member) Live() int {
	if m == nil {
		return 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live
}
