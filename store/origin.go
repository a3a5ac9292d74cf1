package store

import (
	"fmt"
	"time"
)

// Origin says which repository of which code host one is.
type Origin struct {
	// Service is the number of the external service whose listing the record follows.
	Service uint32 `json:"service"`
	// Kind is that of the host, such as github, URL its address, and ID what it calls
	// the repository for as long as that exists, whatever its name is. For one that a
	// list of addresses names, the kind is other, URL is "" and ID the address.
	Kind string `json:"kind"`
	URL  string `json:"url"`
	ID   string `json:"id"`
	// Parent is the name at the host of what it was forked from, "" if not known.
	Parent string `json:"parent,omitempty"`
	// Readers says that the readers of the repository are those that its host names.
	Readers bool `json:"readers,omitempty"`
}

// HasHostReaders reports whether the readers of the repository are those that its code
// host names.
func (r *Repository) HasHostReaders() bool { return r.Origin != nil && r.Origin.Readers }

// IsGone reports whether the code host does not list the repository any more.
func (r *Repository) IsGone() bool { return !r.Gone.IsZero() }

// HostChange is what a code host says of a repository. What is not set stays.
type HostChange struct {
	Name, Source string
	Origin       *Origin
	// Gone is since when the host does not list it, zero for one that it does.
	Gone  *time.Time
	Facts FactsChange
	// Readers are who may see it, nil for no change. A repository keeps those that a user
	// here has given it.
	Readers *ReadersChange
}

// ReadersChange gives a repository other readers, nil being everyone.
type ReadersChange struct{ To *Readers }

// FollowHost changes a repository as its code host says, and returns the new record.
// It fails with ErrExists when another has the name. It does not wait for a sync at
// work, and holds when that commits.
func (rs Repositories) FollowHost(id uint32, c HostChange) (r *Repository, err error) {
	err = rs.s.Update(func(tx *Tx) error {
		old := tx.sn.c.repository(id)
		if old == nil {
			return fmt.Errorf("repository %d: %w", id, ErrNotFound)
		}
		if c.Name != "" && c.Name != old.Name {
			if err := tx.takeName(c.Name); err != nil {
				return err
			}
		}
		r, err = tx.changeRecord(old.Name, func(r *Repository) error {
			if err := c.Facts.Check(); err != nil {
				return fmt.Errorf("repository %q: %w", old.Name, err)
			}
			c.apply(r)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (c HostChange) apply(r *Repository) {
	if c.Name != "" {
		r.Name = c.Name
	}
	if c.Source != "" {
		r.Source = c.Source
	}
	own := c.Readers != nil && r.Readers != nil && !r.HasHostReaders()
	if c.Origin != nil {
		o := *c.Origin
		o.Readers = o.Readers && !own
		r.Origin = &o
	}
	if c.Gone != nil {
		r.Gone = *c.Gone
	}
	if c.Readers != nil && !own {
		r.Readers = nil
		if to := c.Readers.To; to != nil {
			r.Readers = &Readers{Users: sortedIDs(to.Users), Orgs: sortedIDs(to.Orgs)}
		}
	}
	if !c.Facts.Empty() {
		c.Facts.apply(r)
	}
}

// takeName makes sure that no other repository has a name, or gets it at the same time:
// each new name takes the next ID.
func (tx *Tx) takeName(name string) error {
	id, err := tx.nextRepository()
	if err != nil {
		return err
	}
	if tx.sn.c.named(name) != nil {
		return fmt.Errorf("repository %q: %w", name, ErrExists)
	}
	tx.more = append(tx.more, nextRepositoryOperation(id+1))
	return nil
}
