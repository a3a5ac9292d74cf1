package identity

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Sweep deletes sessions, reset codes and lockouts that have ended, entries of
// the audit log that are too old or too many, and tokens that the log no longer
// names.
func (r *Registry) Sweep() error {
	// Seen is to be right before sessions are judged by it.
	if err := r.WriteUses(); err != nil {
		return err
	}
	err := r.update(func(tx *store.Tx) error {
		// It reads the last version: what it deletes has to be as it was, and nothing
		// else.
		expired := sweeper{r.transactions}
		for _, sweep := range []func(*store.Records) error{
			expired.sessions, expired.resets, expired.lockouts, expired.tokens, expired.audit,
		} {
			if err := sweep(&tx.Records); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete what has expired: %w", err)
	}
	return nil
}

// sweeper deletes what has expired, kind by kind. mu of the transactions is held.
type sweeper struct{ *transactions }

func (r sweeper) sessions(c *store.Records) error {
	now := r.options().Now()
	return sessions.Each(r.st, store.RecordRange{}, r.TellDamaged, func(h hash, s *Session) (bool, error) {
		u, err := r.User(s.User)
		if err != nil && !isNotFound(err) {
			return false, err
		}
		if err != nil || u.Epoch != s.Epoch || !r.sessionLive(s, now) {
			sessions.Delete(c, h)
		}
		return true, nil
	})
}

func (r sweeper) resets(c *store.Records) error {
	now := r.options().Now()
	return resets.Each(r.st, store.RecordRange{}, r.TellDamaged, func(user uint32, s *storedReset) (bool, error) {
		if !now.Before(s.Expires) {
			resets.Delete(c, user)
		}
		return true, nil
	})
}

func (r sweeper) lockouts(c *store.Records) error {
	return errors.Join(sweepFailures(r, c, lockouts), sweepFailures(r, c, failed))
}

// sweepFailures deletes the failures that count no longer, and puts a lock in the place
// of those that are damaged.
func sweepFailures[K comparable](r sweeper, c *store.Records, t *table.Table[K, failures]) error {
	now := r.now()
	var unlocked error
	damaged := func(kind store.RecordKind, id []byte, _ error) {
		if key, err := t.Key(id); err == nil && r.options().LockoutAfter >= 0 {
			unlocked = errors.Join(unlocked, t.Put(c, key, locking(now)))
		} else {
			c.Delete(kind, id)
		}
	}
	err := t.Each(r.st, store.RecordRange{}, damaged, func(key K, f *failures) (bool, error) {
		if err := f.check(now); err != nil {
			return true, err
		}
		if f.over(now) {
			t.Delete(c, key)
		}
		return true, nil
	})
	return errors.Join(err, unlocked)
}

func (r sweeper) tokens(c *store.Records) error {
	old := r.options().Now().Add(-r.options().AuditAge)
	return tokens.Each(r.st, store.RecordRange{}, r.TellDamaged, func(key [2]uint32, t *Token) (bool, error) {
		revoked := !t.Revoked.IsZero() && t.Revoked.Before(old)
		expired := !t.Expires.IsZero() && t.Expires.Before(old)
		if revoked || expired {
			tokens.Delete(c, key)
			c.Delete(store.RecordTokenHash, t.Hash)
			tokenUses.Delete(c, t.ID)
		}
		return true, nil
	})
}

// audit deletes the entries that are too old. Which go when there are too many
// is decided when one is added.
func (r sweeper) audit(c *store.Records) error {
	shares, out, err := r.readShares()
	if err != nil {
		return err
	}
	for _, n := range out {
		entries.Delete(c, n)
	}
	old, last := r.options().Now().Add(-r.options().AuditAge), uint64(0)
	err = entries.Each(r.st, store.RecordRange{}, r.TellDamaged, func(id uint64, e *Entry) (bool, error) {
		if !e.Time.Before(old) {
			return false, nil
		}
		last = id
		entries.Delete(c, id)
		return true, nil
	})
	shares.forget(last)
	return err
}
