package identity

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/table"
)

// Author is the actor of a change: none, the operator, or a user, whom another
// user may impersonate.
type Author struct {
	// UserID and User are who it is done as; 0 and "" without a user.
	UserID uint32 `json:"userID,omitempty"`
	User   string `json:"user,omitempty"`
	// RealID and Real are who really does it, if that is another.
	RealID uint32 `json:"realID,omitempty"`
	Real   string `json:"real,omitempty"`
	// Operator says that the author has access to the data directory.
	Operator bool `json:"operator,omitempty"`
	// Via is how they showed who they are, such as "token 7" or "session".
	Via string `json:"via,omitempty"`
	// Address is where the request came from.
	Address string `json:"address,omitempty"`
	// App says that an OAuth app acts for the user.
	App bool `json:"-"`
}

// MayCreateCredentials fails for an OAuth app. Its credentials would outlive
// the grant by which it acts: a token, a password, another app, or a site admin
// who can make these.
func (a Author) MayCreateCredentials() error {
	if a.App {
		return refuse("an OAuth app cannot make credentials or site admins: sign in, or use an access token")
	}
	return nil
}

// Operator is the author with access to the data directory, as the command line
// has it.
var Operator = Author{Operator: true, Via: "command line"}

// Entry is a line of the audit log.
type Entry struct {
	// ID counts entries; it is set when one is read.
	ID   uint64    `json:"-"`
	Time time.Time `json:"time"`
	Author
	// Action is what was done, such as "user.create".
	Action string `json:"action"`
	// Target is what it was done to, such as "user:ann" or "token:7".
	Target string `json:"target,omitempty"`
	// About is the ID of the user it was done to, if it was.
	About uint32 `json:"about,omitempty"`
	// Detail is more about it, for people; never a secret.
	Detail string `json:"detail,omitempty"`
}

// The actions of this package. Other packages that write to the log name
// theirs in the same way.
const (
	ActionUserCreate   = "user.create"
	ActionUserUpdate   = "user.update"
	ActionUserDelete   = "user.delete"
	ActionPasswordSet  = "password.set"
	ActionPasswordLink = "password.link"
	ActionSignIn       = "session.sign-in"
	ActionSignInFailed = "session.sign-in-failed"
	ActionSignInLocked = "session.locked-out"
	ActionSignOut      = "session.sign-out"
	ActionTokenCreate  = "token.create"
	ActionTokenRevoke  = "token.revoke"
	ActionSudo         = "token.sudo"
	ActionOrgCreate    = "org.create"
	ActionOrgUpdate    = "org.update"
	ActionOrgDelete    = "org.delete"
	ActionMemberAdd    = "org.member-add"
	ActionMemberRemove = "org.member-remove"
	ActionReaders      = "repository.readers"
	ActionPin          = "readers.pin"
)

// audit adds a line to the log, with the change.
func (c *change) audit(action, target, format string, args ...any) {
	c.entries = append(c.entries, Entry{Time: c.now, Author: c.by, Action: action, Target: target, Detail: redact.Text(fmt.Sprintf(format, args...))})
}

// auditUser is audit for what was done to a user.
func (c *change) auditUser(action string, u *User, format string, args ...any) {
	c.audit(action, userTarget(u.Name), format, args...)
	c.entries[len(c.entries)-1].About = u.ID
}

// Log writes a line to the audit log for a change that other packages make.
func (r *transactions) Log(by Author, action, target, detail string) error {
	return r.change(by, func(c *change) error {
		c.audit(action, target, "%s", detail)
		return nil
	})
}

// AuditFilter chooses entries of the audit log.
type AuditFilter struct {
	// Before, if not 0, leaves out this entry and newer ones.
	Before uint64
	// Since leaves out older entries.
	Since time.Time
	// User leaves out what was not done by or as the user of this ID, or to
	// them.
	User uint32
	// Limit is the most entries; 0 is 100.
	Limit int
}

// Audit returns entries, newest first.
func (r *transactions) Audit(f AuditFilter) ([]Entry, error) {
	orDefault(&f.Limit, 100)
	in := store.RecordRange{Backwards: true}
	if f.Before > 0 {
		in.Before = table.ID(f.Before)
	}
	var out []Entry
	err := entries.Each(r.st, in, r.TellDamaged, func(_ uint64, e *Entry) (bool, error) {
		if e.Time.Before(f.Since) {
			return false, nil
		}
		if f.User == 0 || e.UserID == f.User || e.RealID == f.User || e.About == f.User {
			e.Detail = redact.Text(e.Detail) // older programs wrote more of it
			out = append(out, *e)
		}
		return len(out) < f.Limit, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return out, nil
}

func userTarget(name string) string { return "user:" + name }
func orgTarget(name string) string  { return "org:" + name }
