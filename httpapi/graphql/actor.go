package graphql

import (
	"context"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// admin reports whether the client may administer the server.
func (s *session) admin() bool { return s.actor.SiteAdmin() }

// mustAdmin refuses everybody else.
func (s *session) mustAdmin() error {
	if !s.admin() {
		return permit(auth.ErrNotSiteAdmin)
	}
	return nil
}

// mustBeSelf refuses everybody but a user and site admins.
func (s *session) mustBeSelf(user uint32) error {
	if !s.isSelf(user) {
		return permit(auth.ErrNotSelf)
	}
	return nil
}

// isSelf reports whether the client is a user, or a site admin.
func (s *session) isSelf(user uint32) bool {
	return s.admin() || s.actor.User != nil && s.actor.User.ID == user
}

// mustSignIn refuses nobody in particular.
func (s *session) mustSignIn() error {
	if s.actor.Anonymous() {
		return permit(auth.ErrNotSignedIn)
	}
	return nil
}

// permit makes an error of what somebody may not do one that they are told.
func permit(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{redact.Text(err.Error())}
}

// mustAdminNow is mustAdmin for mutations, which tell strangers apart.
func mustAdminNow(ctx context.Context) error { return permit(auth.RequireSiteAdmin(ctx)) }

// told makes those errors of what was asked to be changed that are the
// client's ones that it is told.
func told(err error) error {
	var rule *identity.RuleError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rule):
		return &Refusal{rule.Text}
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDiskFull):
		return &Refusal{redact.Text(err.Error())}
	case errors.Is(err, saved.ErrConflict):
		return &Refusal{err.Error() + ": read it again"}
	}
	return err
}

// missing reports whether an error says that there is no such thing.
func missing(err error) bool { return errors.Is(err, store.ErrNotFound) }

func errNoUser(id uint32) error { return &Refusal{fmt.Sprintf("user not found: [%d]", id)} }
