package identity

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// uses are the uses of credentials that are not written yet, so that a request
// never waits for the disk to record one. There is an entry for each token,
// user and session at most.
type uses struct {
	mu       sync.Mutex // guards all below
	tokens   map[uint32]tokenUse
	users    map[uint32]time.Time
	sessions map[hash]time.Time
	// sudo is when a token was last logged as acting as a user.
	sudo map[[2]uint32]time.Time
}

// NoteUse notes that a user is active now, with a token or with 0 for none. It
// costs no disk.
func (r *transactions) NoteUse(user, token uint32) {
	now := r.now()
	u := r.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.users == nil {
		u.users, u.tokens = map[uint32]time.Time{}, map[uint32]tokenUse{}
	}
	u.users[user] = now
	if token != 0 {
		u.tokens[token] = tokenUse{user, now.Unix()}
	}
}

func (u *uses) noteSession(h hash, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sessions == nil {
		u.sessions = map[hash]time.Time{}
	}
	u.sessions[h] = now
}

func (u *uses) user(id uint32) (time.Time, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t, ok := u.users[id]
	return t.Truncate(time.Second), ok
}

func (u *uses) token(id uint32) (time.Time, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t, ok := u.tokens[id]
	return t.last(), ok
}

func (u *uses) session(h hash) (time.Time, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t, ok := u.sessions[h]
	return t, ok
}

// take empties u into what it returns.
func (u *uses) take() *uses {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := &uses{tokens: u.tokens, users: u.users, sessions: u.sessions}
	u.tokens, u.users, u.sessions = nil, nil, nil
	return out
}

// giveBack notes what could not be written again, unless it is newer already.
func (u *uses) giveBack(old *uses) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tokens, u.users, u.sessions = newer(old.tokens, u.tokens), newer(old.users, u.users), newer(old.sessions, u.sessions)
}

func newer[K comparable, V any](old, now map[K]V) map[K]V {
	if old == nil {
		return now
	}
	maps.Copy(old, now)
	return old
}

// WriteUses writes the uses since the last call. Records that were deleted
// meanwhile stay deleted.
func (r *transactions) WriteUses() error {
	taken := r.uses.take()
	if err := r.writeUses(taken); err != nil {
		r.uses.giveBack(taken)
		return fmt.Errorf("write last uses: %w", err)
	}
	return nil
}

func (r *transactions) writeUses(u *uses) error {
	return r.update(func(tx *store.Tx) error { return r.newChange(Author{}, tx).putUses(u) })
}

func (c *change) putUses(u *uses) error {
	for id, t := range u.users {
		if _, err := c.User(id); err == nil {
			seconds := t.Unix()
			if err := seen.Put(c.records, id, &seconds); err != nil {
				return err
			}
		} else if !isNotFound(err) {
			return err
		}
	}
	for id, use := range u.tokens {
		if _, err := tokenUses.Get(c.st, id); err == nil {
			if err := tokenUses.Put(c.records, id, &use); err != nil {
				return err
			}
		} else if !isNotFound(err) {
			return err
		}
	}
	for h, t := range u.sessions {
		s, err := sessions.Get(c.st, h)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if !t.After(s.Seen) {
			continue // another node has noted a later use
		}
		s.Seen = t
		if err := sessions.Put(c.records, h, s); err != nil {
			return err
		}
	}
	return nil
}

// sudoEvery is how often it is logged that a token acts as a user.
const sudoEvery = 10 * time.Minute

// LogSudo writes to the audit log that a token's user acts as another, once in
// a while for the same two.
func (r *transactions) LogSudo(by Author, token, user uint32) error {
	if !r.uses.sudoDue([2]uint32{token, user}, r.now()) {
		return nil
	}
	return r.change(by, func(c *change) error {
		c.auditUser(ActionSudo, &User{ID: user, Name: by.User}, "token %d", token)
		return nil
	})
}

func (u *uses) sudoDue(pair [2]uint32, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.sudo[pair]) < sudoEvery {
		return false
	}
	if u.sudo == nil {
		u.sudo = map[[2]uint32]time.Time{}
	}
	maps.DeleteFunc(u.sudo, func(_ [2]uint32, t time.Time) bool { return now.Sub(t) >= sudoEvery })
	u.sudo[pair] = now
	return true
}
