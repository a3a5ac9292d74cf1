package identity

import (
	"errors"
	"fmt"
	"time"
)

// The errors that callers distinguish, beside store.ErrNotFound and
// store.ErrExists.
var (
	// ErrWrongPassword: no such user, or not this password. The error does not
	// say which.
	ErrWrongPassword = errors.New("wrong user name or password")
	// ErrNoCredential: the token or session is unknown, expired, revoked, or of
	// a user who is gone or locked.
	ErrNoCredential = errors.New("no such credential")
	// ErrNotAdmin: a token for acting as others whose own user is no site admin.
	ErrNotAdmin = errors.New("the user of the token is no site admin")
	// ErrBusy: too many passwords are being checked at once.
	ErrBusy = errors.New("too many people sign in at the same moment: try again")
	// ErrSetUp: there has been a user already.
	ErrSetUp = errors.New("the first user has been created already")
)

// RuleError is a request that a rule of this package forbids; its text is meant
// for the user.
type RuleError struct{ Text string }

func (e *RuleError) Error() string { return e.Text }

func refuse(format string, args ...any) error { return &RuleError{fmt.Sprintf(format, args...)} }

// LockedError is a sign-in that is refused unseen after too many failures.
type LockedError struct {
	// Reason is a few words, such as "too many failed attempts".
	Reason string
	Until  time.Time
}

func (e *LockedError) Error() string { return "locked: " + e.Reason }
