package member

import "context"

// Claim gives this node something to do alone for a while, unless another node has
// claimed it: held is false then. release gives it back; the lease is renewed until
// then, and lost like that of a task. A second claim in the same process
// shares the first, and the first release ends it.
func (m *Member) Claim(ctx context.Context, name string) (release func(), held bool, err error) {
	if m == nil || m.Holds(name) {
		return func() {}, true, nil
	}
	lease, held, err := m.o.Leases.Acquire(ctx, name, m.id, m.o.TTL)
	if err != nil || !held {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[name], m.claimed[name] = lease, true
	return func() { m.release(name) }, true, nil
}

// release gives a claim back.
func (m *Member) release(name string) {
	m.mu.Lock()
	lease, held := m.held[name]
	delete(m.held, name)
	delete(m.claimed, name)
	m.mu.Unlock()
	if !held {
		return // it was lost
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := m.o.Leases.Release(ctx, lease); err != nil {
		m.o.Event("the node could not give back "+name+", which others can have when it is missed", err)
	}
}
