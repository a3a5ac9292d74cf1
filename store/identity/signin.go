package identity

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// storedPassword is the record of a password.
type storedPassword struct {
	Hash string    `json:"hash"`
	Set  time.Time `json:"set"`
}

// SignInOutcome is how an attempt to sign in ended, in a word.
type SignInOutcome string

// The outcomes. With SignInLockedOut too many failures came before; SignInLocks is the
// failure that was one too many; SignInRefused is a user whom another service vouches for
// and who does not come in here; SignInError is trouble of ours.
const (
	SignInDone      SignInOutcome = "done"
	SignInWrong     SignInOutcome = "wrong"
	SignInLocks     SignInOutcome = "locks"
	SignInLockedOut SignInOutcome = "locked_out"
	SignInRefused   SignInOutcome = "refused"
	SignInError     SignInOutcome = "error"
)

// SignInOutcomes returns all of them.
func SignInOutcomes() []SignInOutcome {
	return []SignInOutcome{SignInDone, SignInWrong, SignInLocks, SignInLockedOut, SignInRefused, SignInError}
}

// SignIn checks a password for a user name or verified address and begins a
// session. The address of the request is in by. It fails with
// ErrWrongPassword, whatever was wrong; with a *LockedError after too many
// failures; and with ErrBusy. Each takes a password hash's time or none at
// all, whether the user exists or not.
func (r *Registry) SignIn(ctx context.Context, by Author, login, password string) (secret string, u *User, err error) {
	if err := by.MayCreateCredentials(); err != nil {
		return "", nil, err
	}
	outcome := SignInError
	defer func() { r.options().Tried(outcome) }()
	if err := r.CatchUp(ctx); err != nil {
		return "", nil, fmt.Errorf("sign in: %w", err)
	}
	u, stored, err := r.lookUp(login)
	if err != nil {
		return "", nil, fmt.Errorf("sign in: %w", err)
	}
	limits := r.options().signInLimits(u, login, by.Address)
	if err := r.CheckLimits(limits...); err != nil {
		return "", nil, lockedOut(&outcome, err)
	}
	right, old, err := r.hasher.check(ctx, stored.Hash, password)
	if err != nil {
		return "", nil, err
	}
	if !right || u == nil || u.Locked || u.Service {
		outcome, err = r.failed(by, u, limits)
		return "", nil, lockedOut(&outcome, err)
	}
	renewed := ""
	if old {
		if renewed, err = r.newHash(ctx, password); err != nil {
			return "", nil, err
		}
	}
	secret, err = r.begin(by, u.ID, stored, renewed, limits)
	if err != nil {
		return "", nil, lockedOut(&outcome, err)
	}
	outcome = SignInDone
	return secret, u, nil
}

// lockedOut returns err, and notes that it says so if it is a *LockedError.
func lockedOut(outcome *SignInOutcome, err error) error {
	if errors.As(err, new(*LockedError)) {
		*outcome = SignInLockedOut
	}
	return err
}

// lookUp finds the user of a login, nil if there is none, and their password.
func (r credentials) lookUp(login string) (u *User, p storedPassword, err error) {
	if u, err = r.userOfLogin(login); err == nil {
		var stored *storedPassword
		if stored, err = passwords.Get(r.st, u.ID); err == nil {
			p = *stored
		}
	}
	if isNotFound(err) {
		err = nil
	}
	return u, p, err
}

// failed counts a failure. Only those of users that exist are logged: what is
// typed where a name belongs may be a password.
func (r *Registry) failed(by Author, u *User, limits []Limit) (SignInOutcome, error) {
	outcome := SignInWrong
	err := r.change(by, func(c *change) error {
		locked, err := c.fail(limits)
		if err != nil {
			return err
		}
		if outcome = SignInWrong; locked {
			outcome = SignInLocks
		}
		if u == nil {
			return nil
		}
		c.auditUser(ActionSignInFailed, u, "")
		if locked {
			c.auditUser(ActionSignInLocked, u, "for %v", lockedFor)
		}
		return nil
	})
	if err != nil {
		return SignInError, err
	}
	return outcome, ErrWrongPassword
}

func (r *Registry) newHash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if err := read(r.options().Random, salt); err != nil {
		return "", err
	}
	return r.hasher.hash(ctx, password, salt)
}

// begin begins a session for a user who has shown a password, unless it has
// been changed meanwhile or too many others have failed, and stores its renewed hash if there is one.
func (r *Registry) begin(by Author, user uint32, checked storedPassword, renewed string, limits []Limit) (secret string, err error) {
	err = r.change(by, func(c *change) error {
		u, err := c.User(user)
		if err != nil {
			return credentialGone(err)
		}
		now, err := passwords.Get(c.st, user)
		if err != nil {
			return credentialGone(err)
		}
		// Others may have failed meanwhile, on this node or another.
		if err := c.CheckLimits(limits...); err != nil {
			return err
		}
		if now.Hash != checked.Hash || u.Locked {
			return ErrWrongPassword
		}
		if renewed != "" {
			now.Hash = renewed
			if err := passwords.Put(c.records, user, now); err != nil {
				return err
			}
		}
		c.by.UserID, c.by.User, c.by.Via = u.ID, u.Name, "password"
		c.auditUser(ActionSignIn, u, "")
		c.forgive(user)
		secret, err = c.newSession(u)
		return err
	})
	return secret, err
}

func credentialGone(err error) error {
	if isNotFound(err) {
		return ErrWrongPassword
	}
	return err
}

// CreateFirstUser makes the first user, a site admin with a password, and
// begins a session. It fails with ErrSetUp when there has been a user.
func (r *Registry) CreateFirstUser(ctx context.Context, by Author, n NewUser, password string) (secret string, u *User, err error) {
	if err := r.CatchUp(ctx); err != nil {
		return "", nil, err
	}
	if r.Used() {
		return "", nil, ErrSetUp
	}
	// Errors are reported before a password is hashed.
	if err := CheckName(n.Name); err != nil {
		return "", nil, err
	}
	if err := CheckPassword(password); err != nil {
		return "", nil, err
	}
	hashed, err := r.newHash(ctx, password)
	if err != nil {
		return "", nil, err
	}
	n.SiteAdmin, n.Service, n.EmailVerified = true, false, true
	err = r.change(by, func(c *change) (err error) {
		if c.used() {
			return ErrSetUp
		}
		if u, err = c.createUser(n); err != nil {
			return err
		}
		if err := passwords.Put(c.records, u.ID, &storedPassword{Hash: hashed, Set: c.now}); err != nil {
			return err
		}
		secret, err = c.newSession(u)
		return err
	})
	return secret, u, err
}
