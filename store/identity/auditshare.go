package identity

import (
	"container/heap"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// auditShares decides which entry of a full audit log makes room for a new one,
// so that no user can push out what others did:
//
//   - A user whose entries are more than a tenth of the log pushes out their own
//     oldest one. All who are not signed in count as one user.
//   - As long as the entries of users and of those not signed in are more than
//     half of the log, the user with the most of them loses the oldest.
//   - Otherwise the oldest entry of the operator and of site admins goes.
//
// It holds the numbers of all entries, eight bytes each, and takes time in
// proportion to the logarithm of the number of users. It is guarded by
// Registry.mu.
type auditShares struct {
	most int
	// next is the number behind those of the entries that were counted. Other nodes may
	// have written some from there on.
	next    uint64
	total   int
	trusted auditShare
	// users are the shares of users by ID, and of anonymous requests by 0.
	users   map[uint32]*auditShare
	largest sharesBySize // all of users
}

// auditShare is the numbers of the entries of one actor, oldest first.
type auditShare struct {
	ids  []uint64
	head int // of the oldest
	at   int // its place in sharesBySize
}

func (s *auditShare) len() int { return len(s.ids) - s.head }

func (s *auditShare) oldest() uint64 { return s.ids[s.head] }

func (s *auditShare) drop() uint64 {
	id := s.ids[s.head]
	if s.head++; s.head > len(s.ids)/2 {
		s.ids = append(s.ids[:0], s.ids[s.head:]...)
		s.head = 0
	}
	return id
}

func newAuditShares(most int) *auditShares {
	return &auditShares{most: most, users: map[uint32]*auditShare{}}
}

// add counts a new entry of a user, 0 being no user, or of a trusted actor, and
// returns the entries to delete for it.
func (a *auditShares) add(id uint64, user uint32, trusted bool) (out []uint64) {
	a.total++
	a.next = id + 1
	share := &a.trusted
	if !trusted {
		if share = a.users[user]; share == nil {
			share = &auditShare{}
			a.users[user] = share
			heap.Push(&a.largest, share)
		}
	}
	share.ids = append(share.ids, id)
	if !trusted {
		heap.Fix(&a.largest, share.at)
	}
	for a.total > a.most {
		out = append(out, a.makeRoom(share, trusted))
	}
	return out
}

func (a *auditShares) makeRoom(writer *auditShare, trusted bool) uint64 {
	switch {
	case !trusted && writer.len() > max(a.most/10, 1):
		return a.dropOf(writer)
	case a.trusted.len() == 0 || a.total-a.trusted.len() > max(a.most/2, 1):
		return a.dropOf(a.largest[0])
	}
	a.total--
	return a.trusted.drop()
}

func (a *auditShares) dropOf(s *auditShare) uint64 {
	a.total--
	id := s.drop()
	heap.Fix(&a.largest, s.at)
	return id
}

// forget drops the entries up to a number, which are deleted.
func (a *auditShares) forget(last uint64) {
	for a.trusted.len() > 0 && a.trusted.oldest() <= last {
		a.total--
		a.trusted.drop()
	}
	for user, s := range a.users {
		for s.len() > 0 && s.oldest() <= last {
			a.total--
			s.drop()
		}
		if s.len() == 0 {
			heap.Remove(&a.largest, s.at)
			delete(a.users, user)
		} else {
			heap.Fix(&a.largest, s.at)
		}
	}
}

// sharesBySize is a heap with the largest share first, and among equals the one
// with the oldest entry.
type sharesBySize []*auditShare

func (h sharesBySize) Len() int { return len(h) }
func (h sharesBySize) Less(i, j int) bool {
	if h[i].len() != h[j].len() || h[i].len() == 0 {
		return h[i].len() > h[j].len()
	}
	return h[i].oldest() < h[j].oldest()
}

func (h sharesBySize) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push and Pop are for package heap.
func (h *sharesBySize) Push(x any) {
	s := x.(*auditShare)
	s.at = len(*h)
	*h = append(*h, s)
}

// Pop removes the last share.
func (h *sharesBySize) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// auditActor is the part of an entry that identifies its actor.
type auditActor struct {
	UserID   uint32 `json:"userID"`
	RealID   uint32 `json:"realID"`
	Operator bool   `json:"operator"`
}

// payer is the user whose share an entry belongs to: the one who really acts.
func (a auditActor) payer() uint32 {
	if a.RealID != 0 {
		return a.RealID
	}
	return a.UserID
}

// readShares reads the shares from the log, or what was written since they were read,
// and returns the entries to delete. The caller holds mu.
func (r *transactions) readShares() (*auditShares, []uint64, error) {
	shares, admins := r.shares, map[uint32]bool{}
	in := store.RecordRange{}
	if shares == nil {
		shares = newAuditShares(r.options().AuditEntries)
	} else {
		next, err := r.counter(counterAudit)
		if err != nil {
			return nil, nil, err
		}
		if next <= shares.next {
			return shares, nil, nil
		}
		in.From = table.ID(shares.next)
	}
	var tooMany []uint64
	err := auditActors.Each(r.st, in, r.TellDamaged, func(id uint64, a *auditActor) (bool, error) {
		user := a.payer()
		trusted, known := admins[user]
		if !known {
			trusted = r.isAdmin(user)
			admins[user] = trusted
		}
		tooMany = append(tooMany, shares.add(id, user, a.Operator || trusted)...)
		return true, nil
	})
	if err != nil {
		r.shares = nil
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	r.shares = shares
	return shares, tooMany, nil
}

func (r accounts) isAdmin(user uint32) bool {
	u, err := r.User(user)
	return err == nil && u.SiteAdmin
}

// putEntries puts the entries of a change and deletes those that make room for
// them.
func (c *change) putEntries() error {
	if len(c.entries) == 0 {
		return nil
	}
	shares, out, err := c.of.readShares()
	if err != nil {
		return err
	}
	for _, e := range c.entries {
		n, err := c.take(counterAudit)
		if err != nil {
			return err
		}
		if err := entries.Put(c.records, n, &e); err != nil {
			return err
		}
		actor := auditActor{e.UserID, e.RealID, e.Operator}
		out = append(out, shares.add(n, actor.payer(), e.Operator || c.isAdmin(actor.payer()))...)
	}
	for _, n := range out {
		entries.Delete(c.records, n)
	}
	return nil
}
