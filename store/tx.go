package store

import (
	"errors"
	"fmt"
)

// Tx is a transaction: what it reads is one version of the store, and what it
// writes becomes the next one, whole, unless what it read has changed meanwhile.
// It is valid until the function that it was given to returns, and not safe for
// concurrent use.
type Tx struct {
	// Change and Records are what it writes. Its own reads do not see that.
	Change  Change
	Records Records

	sn *Snapshot
	// reads are what was read and has to be as it was.
	reads []keyRange
	// more are operations beside those of Change and Records.
	more []operation
}

// mostAttempts is how often a transaction is tried. With each conflict another
// transaction has been committed.
const mostAttempts = 100

// Update calls f with a transaction and commits it. When another one was
// committed meanwhile that changed what f read or writes, f is called again, with
// a new transaction; so f does nothing else that lasts. It returns the error of f,
// or that of Commit. A transaction that writes nothing is not committed. In a store
// that follows a log, f is also called again when it fails and another node has
// changed something since: what it missed may be there.
func (s *Store) Update(f func(tx *Tx) error) error {
	for attempt := 1; ; attempt++ {
		refused, err := s.attempt(f)
		again := errors.Is(err, ErrConflict) || err != nil && refused != 0 && s.node.wasBehind(refused)
		if attempt == mostAttempts || !again {
			return err
		}
	}
}

// Commit applies c whole, on disk and for every snapshot taken later; after an
// error nothing of it is visible. The records belong to the store afterwards.
// It fails with ErrDiskFull before it writes anything when next to no disk is
// left, and with ErrBroken when the engine cannot write; whether c will be
// there when it can again is then open.
func (s *Store) Commit(c Change) error {
	return s.Update(func(tx *Tx) error {
		tx.Change = c
		return nil
	})
}

// attempt runs a transaction once. With an error of f, refused is the version that it
// read.
func (s *Store) attempt(f func(tx *Tx) error) (refused Version, err error) {
	sn := s.Snapshot()
	defer sn.Close()
	tx := &Tx{sn: sn}
	if err := f(tx); err != nil {
		return sn.m.number, err
	}
	return 0, tx.commit()
}

func (tx *Tx) commit() error {
	ops, err := tx.Change.operations(tx.sn.c)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, id := range tx.Change.Drop {
		// An exclusion that is not known yet would be left behind.
		tx.reads = append(tx.reads, prefixRange(keyID(prefixAway, id)))
	}
	ops = append(append(ops, tx.more...), tx.Records.operations()...)
	if len(ops) == 0 {
		return nil
	}
	if err := tx.sn.s.authority.commit(base{tx.sn.m, len(tx.Change.Add) > 0}, tx.reads, ops); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Snapshot returns the version that the transaction reads. What is read through it
// may have changed by the time of the commit. The transaction closes it.
func (tx *Tx) Snapshot() *Snapshot { return tx.sn }

// Repository returns the repository of that name, or an error that is
// ErrNotFound.
func (tx *Tx) Repository(name string) (*Repository, error) {
	r, err := tx.sn.Repository(name)
	if r != nil {
		tx.read(keyRepository(r.ID))
	}
	return r, err
}

// Record is that of the store.
func (tx *Tx) Record(kind RecordKind, id []byte) ([]byte, error) {
	tx.read(keyRecord(kind, id))
	return tx.sn.m.record(kind, id)
}

// EachRecord is that of the store. The transaction has read the whole range, also
// if f ended it early.
func (tx *Tx) EachRecord(r RecordRange, f func(id, value []byte) (more bool, err error)) error {
	o := r.bounds()
	tx.reads = append(tx.reads, keyRange{string(o.LowerBound), string(o.UpperBound)})
	return tx.sn.m.eachRecord(r, f)
}

func (tx *Tx) read(key []byte) {
	tx.reads = append(tx.reads, keyRange{string(key), string(key) + "\x00"})
}
