package identity

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Failures within failWindow count together, and lock for lockedFor. An address
// may stand for many people, so it has addressFactor times as many.
const (
	failWindow    = time.Hour
	lockedFor     = 30 * time.Minute
	addressFactor = 10
	// mostLockKeys bounds the memory. A client that fails with more keys within
	// an hour pays a password hash for each.
	mostLockKeys = 20_000
)

// lockout counts failures to sign in. The counts of users are stored; those of
// unknown names and of addresses are lost at a restart. It is safe for
// concurrent use.
type lockout struct {
	after int // failures, negative is never
	now   func() time.Time

	mu   sync.Mutex // guards all below
	keys map[string]*failures
}

type failures struct {
	Count  int       `json:"count"`
	First  time.Time `json:"first"`  // of those counted
	Locked time.Time `json:"locked"` // until when
}

// over reports whether they count no longer.
func (f *failures) over(now time.Time) bool {
	return now.Sub(f.First) > failWindow && !now.Before(f.Locked)
}

func newLockout(after int, now func() time.Time) *lockout {
	return &lockout{after: after, now: now, keys: map[string]*failures{}}
}

func (l *lockout) limit(key string) int {
	if strings.HasPrefix(key, "address ") {
		return l.after * addressFactor
	}
	return l.after
}

// check fails if any of the keys is locked.
func (l *lockout) check(keys []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if f := l.keys[k]; f != nil && l.now().Before(f.Locked) {
			return &LockedError{Reason: "too many failed attempts", Until: f.Locked}
		}
	}
	return nil
}

// fail counts a failure for each key and reports whether the first is locked
// by it.
func (l *lockout) fail(keys []string) (locked bool) {
	if l.after < 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i, k := range keys {
		f := l.keys[k]
		if f == nil || f.over(now) {
			l.makeRoom(now)
			f = &failures{First: now}
			l.keys[k] = f
		}
		if f.Count++; f.Count >= l.limit(k) {
			locked = locked || i == 0
			*f = failures{First: now, Locked: now.Add(lockedFor)}
		}
	}
	return locked
}

// makeRoom forgets what counts no longer and, if that is not enough, the key
// that has been counted for longest.
func (l *lockout) makeRoom(now time.Time) {
	if len(l.keys) < mostLockKeys {
		return
	}
	oldest, since := "", now
	for k, f := range l.keys {
		if f.over(now) {
			delete(l.keys, k)
		} else if f.First.Before(since) || oldest == "" {
			oldest, since = k, f.First
		}
	}
	if len(l.keys) >= mostLockKeys {
		delete(l.keys, oldest)
	}
}

func (l *lockout) clear(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, key)
}

// of returns what is counted for a key, nil for nothing.
func (l *lockout) of(key string) *failures {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.keys[key]
	if f == nil {
		return nil
	}
	out := *f
	return &out
}

func userKey(id uint32) string { return fmt.Sprintf("user %d", id) }

// load reads the stored counts of users. A damaged record stops no server, and
// it lets no client try more passwords either: its user is locked from now on,
// as after one failure too many, and tell is called. A record whose ID is of no
// user is ignored.
func (l *lockout) load(st *store.Store, tell func(error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	damaged := func(_ store.RecordKind, id []byte, err error) {
		user, noUser := lockouts.Key(id)
		if noUser != nil {
			tell(err)
			return
		}
		tell(fmt.Errorf("what is kept of failures to sign in is damaged, so user %d is locked for %v: %w", user, lockedFor, err))
		if l.after >= 0 {
			l.keys[userKey(user)] = &failures{First: now, Locked: now.Add(lockedFor)}
		}
	}
	return lockouts.Each(st, store.RecordRange{}, damaged, func(user uint32, f *failures) (bool, error) {
		if err := f.check(now); err != nil {
			return true, err
		}
		if !f.over(now) {
			l.keys[userKey(user)] = f
		}
		return true, nil
	})
}

// check refuses failures that cannot be: their lock would last longer than any
// does.
func (f *failures) check(now time.Time) error {
	if f.Count < 0 || f.Locked.After(now.Add(failWindow)) {
		return fmt.Errorf("%d failures and a lock until %v make no sense: %w", f.Count, f.Locked, store.ErrCorrupt)
	}
	return nil
}

// putFailures stores what is counted of a user's failures.
func (c *change) putFailures(user uint32) error {
	f := c.of.locks.of(userKey(user))
	if f == nil {
		lockouts.Delete(c.records, user)
		return nil
	}
	return lockouts.Put(c.records, user, f)
}

// forgive forgets a user's failures.
func (c *change) forgive(user uint32) {
	c.of.locks.clear(userKey(user))
	lockouts.Delete(c.records, user)
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
