package store

import (
	"encoding/binary"
	"fmt"

	"github.com/trawlsearch/trawl/store/engine"
)

// Repositories changes records of repositories, each call in a transaction of its own.
// It guards what holds of them all: no two have a name, and none has the ID of an
// earlier one.
type Repositories struct{ s *Store }

// Repositories returns what changes the records of repositories.
func (s *Store) Repositories() Repositories { return Repositories{s} }

// New makes a record with a fresh ID and commits it. It fails with
// ErrExists when the name is taken. While some records of repositories cannot
// be read, the name may be that of one of them, which had readers. So only site
// admins may see the new repository until its readers are set.
func (rs Repositories) New(r Repository) (*Repository, error) {
	out, err := rs.add(r, nil)
	if err != nil {
		return nil, fmt.Errorf("new repository: %w", err)
	}
	return out, nil
}

// add makes a record in the place of those of instead, which have to be
// lost.
func (rs Repositories) add(r Repository, instead []uint32) (out *Repository, err error) {
	err = rs.s.Update(func(tx *Tx) error {
		for _, id := range instead {
			if !tx.sn.c.isLost(id) {
				return ErrNotFound
			}
		}
		next := r
		if len(tx.sn.c.lost) > 0 {
			next.Readers = nobody()
		}
		// Each new name also takes the next ID, so that no two transactions make the
		// same name.
		if next.ID, err = tx.nextRepository(); err != nil {
			return err
		}
		if tx.sn.c.named(r.Name) != nil {
			return fmt.Errorf("repository %q: %w", r.Name, ErrExists)
		}
		out = &next
		tx.Change = Change{Repositories: []*Repository{out}, Remove: instead}
		tx.more = []operation{nextRepositoryOperation(next.ID + 1)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nextRepository returns an ID that was never handed out. That it is now is to
// be written with the repository.
func (tx *Tx) nextRepository() (uint32, error) {
	tx.read(keyNextRepository)
	id := uint32(1)
	_, err := engine.Get(tx.sn.m.snap, keyNextRepository, func(value []byte) error {
		if len(value) != 4 {
			return fmt.Errorf("next repository id: %w", ErrCorrupt)
		}
		id = binary.BigEndian.Uint32(value)
		return nil
	})
	return id, err
}
