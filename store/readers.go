package store

import "slices"

// Readers are users and organisations by ID, ascending. IDs are never used
// again, so the ID of a deleted user lets no other user in.
type Readers struct {
	Users []uint32 `json:"users,omitempty"`
	Orgs  []uint32 `json:"orgs,omitempty"`
}

// Allow reports whether a user with these organisations is among r, or r is
// nil, which allows everyone. A user of 0 is a request without one.
func (r *Readers) Allow(user uint32, orgs []uint32) bool {
	if r == nil {
		return true
	}
	if _, ok := slices.BinarySearch(r.Users, user); ok && user != 0 {
		return true
	}
	return slices.ContainsFunc(orgs, func(id uint32) bool {
		_, ok := slices.BinarySearch(r.Orgs, id)
		return ok
	})
}

// Equal reports whether r and o are the same users and organisations.
func (r *Readers) Equal(o *Readers) bool {
	if r == nil || o == nil {
		return r == o
	}
	return slices.Equal(sortedIDs(r.Users), sortedIDs(o.Users)) && slices.Equal(sortedIDs(r.Orgs), sortedIDs(o.Orgs))
}

// SetReaders sets the readers of a repository, nil being everyone, and returns
// the new record. They are not those of its code host.
func (tx *Tx) SetReaders(name string, readers *Readers) (*Repository, error) {
	return tx.changeRecord(name, func(r *Repository) error {
		if r.HasHostReaders() {
			o := *r.Origin
			o.Readers = false
			r.Origin = &o
		}
		r.Readers = nil
		if readers != nil {
			r.Readers = &Readers{Users: sortedIDs(readers.Users), Orgs: sortedIDs(readers.Orgs)}
		}
		return nil
	})
}

func sortedIDs(ids []uint32) []uint32 {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}
