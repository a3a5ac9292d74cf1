package identity

import (
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Failures within failWindow count together, and lock for lockedFor. An address
// may stand for many people, so it has addressFactor times as many.
const (
	failWindow    = time.Hour
	lockedFor     = 30 * time.Minute
	addressFactor = 10
	// mostLockKeys bounds the memory; whoever can fail with more keys within an
	// hour pays a password hash for each.
	mostLockKeys = 20_000
)

// lockout counts failures to sign in. It is kept in memory only: a restart
// forgives. It is safe for concurrent use.
type lockout struct {
	after int // failures, negative is never
	now   func() time.Time

	mu   sync.Mutex // guards all below
	keys map[string]*failures
}

type failures struct {
	count  int
	first  time.Time // of those counted
	locked time.Time // until when
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
		if f := l.keys[k]; f != nil && l.now().Before(f.locked) {
			return &LockedError{Reason: "too many failed attempts", Until: f.locked}
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
		if f == nil || now.Sub(f.first) > failWindow && !now.Before(f.locked) {
			l.makeRoom(now)
			f = &failures{first: now}
			l.keys[k] = f
		}
		if f.count++; f.count >= l.limit(k) {
			locked = locked || i == 0
			*f = failures{first: now, locked: now.Add(lockedFor)}
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
		if now.Sub(f.first) > failWindow && !now.Before(f.locked) {
			delete(l.keys, k)
		} else if f.first.Before(since) || oldest == "" {
			oldest, since = k, f.first
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
