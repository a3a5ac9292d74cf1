package identity

import (
	"fmt"
	"time"
)

// Session is the sign-in of a browser, without its secret.
type Session struct {
	User    uint32    `json:"user"`
	Created time.Time `json:"created"`
	// Seen is when it was last used, give or take a few minutes.
	Seen time.Time `json:"seen"`
	// Epoch is that of the user when it began.
	Epoch uint32 `json:"epoch,omitempty"`
}

// seenEvery is how often the use of a session is recorded.
const seenEvery = 5 * time.Minute

// SessionEnds returns when a session ends however much it is used.
func (r credentials) SessionEnds(s *Session) time.Time {
	return s.Created.Add(r.options().SessionExpiry)
}

// SessionExpiry returns how long a session lasts at most.
func (r credentials) SessionExpiry() time.Duration { return r.options().SessionExpiry }

func (r credentials) sessionLive(s *Session, now time.Time) bool {
	return now.Before(r.SessionEnds(s)) && now.Before(s.Seen.Add(r.options().SessionIdle))
}

// CheckSession returns the session with this secret and its user, and notes
// that it is used; the error is ErrNoCredential for one that there is not.
func (r credentials) CheckSession(secret string) (*Session, *User, error) {
	h, ok := parseCode(secret)
	if !ok {
		return nil, nil, ErrNoCredential
	}
	s, err := sessions.Get(r.st, h)
	if err != nil {
		return nil, nil, fmt.Errorf("check session: %w", credential(err))
	}
	if t, ok := r.uses.session(h); ok {
		s.Seen = t
	}
	now := r.now()
	if !r.sessionLive(s, now) {
		return nil, nil, ErrNoCredential
	}
	u, err := r.User(s.User)
	if err != nil {
		return nil, nil, fmt.Errorf("check session: %w", credential(err))
	}
	if u.Locked || u.Service || u.Epoch != s.Epoch {
		return nil, nil, ErrNoCredential
	}
	if now.Sub(s.Seen) >= seenEvery {
		r.uses.noteSession(h, now)
	}
	return s, u, nil
}

// newSession begins a session.
func (c *change) newSession(u *User) (secret string, err error) {
	secret, h, err := newCode(c.options().Random)
	if err != nil {
		return "", err
	}
	return secret, sessions.Put(c.records, h, &Session{User: u.ID, Created: c.now, Seen: c.now, Epoch: u.Epoch})
}

// SignOut ends all sessions of a user.
func (r *Registry) SignOut(by Author, user uint32) error {
	err := r.change(by, func(c *change) error {
		u, err := c.User(user)
		if err != nil {
			return err
		}
		c.endSessions(u)
		c.auditUser(ActionSignOut, u, "")
		return c.putUser(u)
	})
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// endSessions has all sessions end; u is to be put.
func (c *change) endSessions(u *User) {
	u.Epoch++
}
