package identity

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

func putSession(c *store.Records, h hash, s Session) error {
	value, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	c.Put(store.RecordSession, h[:], value)
	return nil
}

// Sweep deletes sessions, reset codes and lockouts that have ended, entries of the audit
// log that are too old or too many, and tokens that the log no longer tells
// of.
func (r *Registry) Sweep() error {
	// Seen is to be right before sessions are judged by it.
	if err := r.WriteUses(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.st.BeginRecords()
	for _, sweep := range []func(*store.Records) error{r.sweepSessions, r.sweepResets, r.sweepLockouts, r.sweepTokens, r.sweepAudit} {
		if err := sweep(&c); err != nil {
			r.shares = nil
			return fmt.Errorf("delete what has expired: %w", err)
		}
	}
	if err := r.st.CommitRecords(&c); err != nil {
		r.shares = nil // they count what was not committed
		return fmt.Errorf("delete what has expired: %w", err)
	}
	return nil
}

func (r *Registry) sweepSessions(c *store.Records) error {
	now := r.o.Now()
	return eachSound(r, store.RecordRange{Kind: store.RecordSession}, func(id []byte, s Session) (bool, error) {
		u, err := r.User(s.User)
		if err != nil && !isNotFound(err) {
			return false, err
		}
		if err != nil || u.Epoch != s.Epoch || !r.sessionLive(&s, now) {
			c.Delete(store.RecordSession, id)
		}
		return true, nil
	})
}

func (r *Registry) sweepResets(c *store.Records) error {
	now := r.o.Now()
	return eachSound(r, store.RecordRange{Kind: store.RecordReset}, func(id []byte, s storedReset) (bool, error) {
		if !now.Before(s.Expires) {
			c.Delete(store.RecordReset, id)
		}
		return true, nil
	})
}

func (r *Registry) sweepLockouts(c *store.Records) error {
	now := r.o.Now()
	return r.st.EachRecord(store.RecordRange{Kind: store.RecordLockout}, func(id, value []byte) (bool, error) {
		if checkID(store.RecordLockout, id) != nil {
			c.Delete(store.RecordLockout, id)
			return true, nil
		}
		f, damage := readFailures(id, value, now)
		if damage != nil {
			// What was made of it at the opening takes its place.
			f = r.locks.of(userKey(number(id)))
		}
		if f == nil || f.over(now) {
			c.Delete(store.RecordLockout, id)
			return true, nil
		}
		if damage == nil {
			return true, nil
		}
		lock, err := json.Marshal(f)
		c.Put(store.RecordLockout, id, lock)
		return true, err
	})
}

func (r *Registry) sweepTokens(c *store.Records) error {
	old := r.o.Now().Add(-r.o.AuditAge)
	return eachSound(r, store.RecordRange{Kind: store.RecordToken}, func(id []byte, t Token) (bool, error) {
		revoked := !t.Revoked.IsZero() && t.Revoked.Before(old)
		expired := !t.Expires.IsZero() && t.Expires.Before(old)
		if revoked || expired {
			c.Delete(store.RecordToken, id)
			c.Delete(store.RecordTokenHash, t.Hash)
			c.Delete(store.RecordTokenUse, id4(t.ID))
		}
		return true, nil
	})
}

// sweepAudit deletes the entries that are too old. Which go when there are too many
// is decided when one is added.
func (r *Registry) sweepAudit(c *store.Records) error {
	shares, out, err := r.readShares()
	if err != nil {
		return err
	}
	for _, n := range out {
		c.Delete(store.RecordAudit, id8(n))
	}
	old, last := r.o.Now().Add(-r.o.AuditAge), uint64(0)
	err = eachSound(r, store.RecordRange{Kind: store.RecordAudit}, func(id []byte, e Entry) (bool, error) {
		if !e.Time.Before(old) {
			return false, nil
		}
		last = binary.BigEndian.Uint64(id)
		c.Delete(store.RecordAudit, id)
		return true, nil
	})
	shares.forget(last)
	return err
}
