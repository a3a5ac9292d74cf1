package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Failures within failWindow count together, and lock for lockedFor. An address
// may stand for many people, so it has addressFactor times as many.
const (
	failWindow    = time.Hour
	lockedFor     = 30 * time.Minute
	addressFactor = 10
)

// failures are those counted under one key. They are records, so that they hold on all
// nodes and after a restart.
type failures struct {
	Count  int       `json:"count"`
	First  time.Time `json:"first"`  // of those counted
	Locked time.Time `json:"locked"` // until when
}

// over reports whether they count no longer.
func (f *failures) over(now time.Time) bool {
	return now.Sub(f.First) > failWindow && !now.Before(f.Locked)
}

// check refuses failures that cannot be: their lock would last longer than any
// does.
func (f *failures) check(now time.Time) error {
	if f.Count < 0 || f.Locked.After(now.Add(failWindow)) {
		return fmt.Errorf("%d failures and a lock until %v make no sense: %w", f.Count, f.Locked, store.ErrCorrupt)
	}
	return nil
}

// locking are failures that have just become too many.
func locking(now time.Time) *failures { return &failures{First: now, Locked: now.Add(lockedFor)} }

// Limit is how many failures lock a key, which says what failed and for whom, such as
// "address 192.0.2.7". The key is stored as a hash only.
type Limit struct {
	Key  string
	Most int
	// user has the failures counted in a record of their own, in place of a key.
	user uint32
}

// failureID is the ID of the failures of a key: a hash of it that takes the secret of
// the site. A key may hold a password that was typed where a name belongs.
type failureID [16]byte

func idOfFailures(secret []byte, key string) failureID {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("failures of " + key))
	return failureID(mac.Sum(nil))
}

// failuresOf returns what is counted under a key. What cannot be read locks.
func (r *recordReader) failuresOf(l Limit) (*failures, error) {
	var f *failures
	var err error
	now := r.now()
	if l.user != 0 {
		f, err = lockouts.Get(r.st, l.user)
	} else {
		secret, without := r.secret()
		if isNotFound(without) || isCorrupt(without) {
			return &failures{}, nil // the first failure makes another one
		}
		if err = without; err == nil {
			f, err = failed.Get(r.st, idOfFailures(secret, l.Key))
		}
	}
	if err == nil {
		err = f.check(now)
	}
	switch {
	case isNotFound(err):
		return &failures{}, nil
	case isCorrupt(err):
		return locking(now), nil
	}
	return f, err
}

// CheckLimits fails with a *LockedError if there were too many failures under any of
// the keys.
func (r *recordReader) CheckLimits(limits ...Limit) error {
	for _, l := range limits {
		f, err := r.failuresOf(l)
		if err != nil {
			return fmt.Errorf("read failures: %w", err)
		}
		if r.now().Before(f.Locked) {
			return &LockedError{Reason: "too many failed attempts", Until: f.Locked}
		}
	}
	return nil
}

// CountFailure counts a failure under each of the keys. It fails with a *LockedError,
// and counts nothing, if there were too many by then: of attempts at the same moment,
// on whichever nodes, no more than the limit are told that they failed.
func (r *Registry) CountFailure(limits ...Limit) error {
	return r.change(Author{}, func(c *change) error {
		_, err := c.fail(limits)
		return err
	})
}

// fail counts a failure under each of the keys and reports whether the first is locked
// by it.
func (c *change) fail(limits []Limit) (locked bool, err error) {
	if err := c.CheckLimits(limits...); err != nil {
		return false, err
	}
	for i, l := range limits {
		f, err := c.failuresOf(l)
		if err != nil {
			return false, err
		}
		if f.over(c.now) {
			f = &failures{First: c.now}
		}
		if f.Count++; f.Count >= l.Most {
			locked = locked || i == 0
			f = locking(c.now)
		}
		if err := c.putFailures(l, f); err != nil {
			return false, err
		}
	}
	return locked, nil
}

func (c *change) putFailures(l Limit, f *failures) error {
	if l.user != 0 {
		return lockouts.Put(c.records, l.user, f)
	}
	secret, err := c.secretOrNew()
	if err != nil {
		return err
	}
	return failed.Put(c.records, idOfFailures(secret, l.Key), f)
}

// forgive forgets a user's failures.
func (c *change) forgive(user uint32) { lockouts.Delete(c.records, user) }

// tellDamagedLockouts reports stored counts of users that are damaged. They stop no
// server, and let no client try more passwords either: their users are locked until
// half an hour after the next sweep.
func (r *recordReader) tellDamagedLockouts() error {
	now := r.now()
	damaged := func(_ store.RecordKind, id []byte, err error) {
		if user, noUser := lockouts.Key(id); noUser == nil {
			err = fmt.Errorf("what is kept of failures to sign in is damaged, so user %d is locked for %v: %w", user, lockedFor, err)
		}
		r.options().Damaged(err)
	}
	return lockouts.Each(r.st, store.RecordRange{}, damaged, func(_ uint32, f *failures) (bool, error) { return true, f.check(now) })
}

// signInLimits are what failures to sign in are counted by: first the user, who counts
// once under all names, then the address.
func (o Options) signInLimits(u *User, login, address string) []Limit {
	if o.LockoutAfter < 0 {
		return nil
	}
	who := Limit{Key: "name " + strings.ToLower(login), Most: o.LockoutAfter}
	if u != nil {
		who.user = u.ID
	}
	limits := []Limit{who}
	if address != "" {
		limits = append(limits, Limit{Key: "address " + AddressKey(address), Most: o.LockoutAfter * addressFactor})
	}
	return limits
}

// AddressKey is what limits by address count by: of IPv6 the network that one
// customer has.
func AddressKey(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() {
		return address
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}
