package store

import (
	"encoding/binary"
	"fmt"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// Change is one atomic switch of what searches see.
type Change struct {
	// Repositories are put in place of the records with their IDs, whose facts
	// they keep: those only ChangeFacts changes.
	Repositories []*Repository
	// Remove are IDs of repositories to forget.
	Remove []uint32
	// Add are shards that were written and now become visible.
	Add []shard.Header
	// Drop are shards to delete. Quarantined ones are deleted by themselves
	// once no repository refers to them.
	Drop []uint32
	// Dead are the sets of dead documents that replace those of their shards.
	Dead map[uint32]*postings.Set
	// Away are the sets of View.Away that replace those of a repository in a
	// shard, nil for none.
	Away map[ShardRepository][]*postings.Set
	// Symbols mark shards whose symbols were written.
	Symbols map[uint32]shard.SymbolCounts
	// People replace those of their repositories.
	People map[uint32]People

	// nextRepository is the ID to hand out next, 0 for no change.
	nextRepository uint32
	// records, if not nil, change with the rest.
	records *Records
	// facts says that the facts of Repositories are new.
	facts bool
	// aside are shards to quarantine.
	aside map[uint32]*shard.Quarantine
	// basis, if not nil, is what the change was prepared from.
	basis *database
}

// Commit applies c whole, on disk and for every snapshot taken later; after an
// error nothing of it is visible. The records belong to the store afterwards.
// It fails with ErrDiskFull before it writes anything when next to no disk is
// left, and with ErrBroken when the engine cannot write; whether c will be
// there when it can again is then open.
func (s *Store) Commit(c Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit(c)
}

// commit is Commit with mu held.
func (s *Store) commit(c Change) error {
	if c.basis == nil && c.records != nil {
		c.basis = c.records.basis
	}
	if err := s.writableFrom(c.basis); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	b := &batch{Batch: s.engine.DB.NewBatch()}
	defer b.Close()
	next := s.catalogue.clone()
	for _, r := range c.Repositories {
		old := next.repository(r.ID)
		if old != nil && !c.facts {
			r.keepFacts(old)
		}
		r.shareFetched(old)
		b.json(keyRepository(r.ID), r)
		next.putRepository(r)
	}
	for _, id := range c.Remove {
		next.forgetAway(b, id)
		if old := next.repository(id); old != nil {
			next.removeRepository(old)
		}
		next.forgetLost(id)
		b.delete(keyRepository(id), keyPeople(id))
	}
	for _, h := range c.Add {
		b.json(keyHeader(h.ID), h)
		next.putShard(shard.New(h.ID, h))
	}
	if c.nextRepository != 0 {
		b.set(keyNextRepository, binary.BigEndian.AppendUint32(nil, c.nextRepository))
	}
	for id, set := range c.Dead {
		b.set(keyDead(id), postings.Encode(nil, set))
		next.dead.Set(id, set)
	}
	for of, sets := range c.Away {
		next.putAway(b, of, sets)
	}
	for id, people := range c.People {
		b.set(keyPeople(id), encodePeople(people))
	}
	for id, counts := range c.Symbols {
		old := next.shard(id)
		if old == nil {
			return fmt.Errorf("commit: symbols of shard %d, which is not there", id)
		}
		h := old.Header
		h.Symbols = &counts
		b.json(keyHeader(id), h)
		next.putShard(old.With(h))
	}
	for id, a := range c.aside {
		b.json(keyAside(id), a)
		next.aside.Set(id, a)
	}
	for _, id := range next.dropUnwanted(c.Drop) {
		next.dropAway(b, id)
		next.dropShard(id)
		b.delete(keyHeader(id), keyDead(id), keyAside(id))
		from, to := shard.Keys(id)
		b.fail(b.DeleteRange(from, to, nil))
	}
	if c.records != nil {
		c.records.apply(b)
	}
	if err := s.write(b, next); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// NewRepository makes a record with a fresh ID and commits it. It fails with
// ErrExists when the name is taken. While some records of repositories cannot
// be read, the name may be that of one of them, which had readers. So only site
// admins may see the new repository until its readers are set.
func (s *Store) NewRepository(r Repository) (*Repository, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.catalogue.lost) > 0 {
		r.Readers = nobody()
	}
	out, err := s.newRepository(r, nil)
	if err != nil {
		return nil, fmt.Errorf("new repository: %w", err)
	}
	return out, nil
}

// newRepository makes a record in the place of those of instead, which have to be
// lost. mu is held.
func (s *Store) newRepository(r Repository, instead []uint32) (*Repository, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	for _, id := range instead {
		if !s.catalogue.isLost(id) {
			return nil, ErrNotFound
		}
	}
	if s.catalogue.named(r.Name) != nil {
		return nil, fmt.Errorf("repository %q: %w", r.Name, ErrExists)
	}
	var err error
	if r.ID, err = s.nextRepository(); err != nil {
		return nil, err
	}
	if err := s.commit(Change{Repositories: []*Repository{&r}, Remove: instead, nextRepository: r.ID + 1}); err != nil {
		return nil, err
	}
	return &r, nil
}

// nextRepository returns an ID that was never handed out. That it is now is to
// be written with the repository.
func (s *Store) nextRepository() (uint32, error) {
	id := uint32(1)
	_, err := engine.Get(s.engine.DB, keyNextRepository, func(value []byte) error {
		if len(value) != 4 {
			return fmt.Errorf("next repository id: %w", ErrCorrupt)
		}
		id = binary.BigEndian.Uint32(value)
		return nil
	})
	return id, err
}
