package graphql

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// manage returns the operations of the client.
func (s *session) manage() *manage.Operations {
	return &manage.Operations{Actor: s.actor, Registry: s.Registry, Repositories: s.Repositories}
}

// mutate reads the number of an id and makes a change of what it names.
func mutate(ctx context.Context, id graphql.ID, kind string, change func(m *manage.Operations, n uint32) error) (*nothing, error) {
	n, err := numberOf(id, kind)
	if err == nil {
		err = change(sessionOf(ctx).manage(), n)
	}
	return &nothing{}, told(err)
}

// mustAdmin refuses all but site admins.
func (s *session) mustAdmin() error {
	if !s.actor.SiteAdmin() {
		return permit(auth.ErrNotSiteAdmin)
	}
	return nil
}

// mustBeSelf refuses all but a user and site admins.
func (s *session) mustBeSelf(user uint32) error {
	return permit(auth.RequireSelfOrSiteAdmin(s.actor, user))
}

// mustSignIn refuses clients without a user.
func (s *session) mustSignIn() error { return permit(auth.RequireSignedIn(s.actor)) }

// permit makes an error of what somebody may not do one that they are told.
func permit(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{redact.Text(err.Error())}
}

// mustAdminNow is mustAdmin for mutations, which tell strangers apart.
func (s *session) mustAdminNow() error { return permit(auth.RequireSiteAdmin(s.actor)) }

// told makes those errors of what was asked to be changed that are the
// client's ones that it is told.
func told(err error) error {
	var rule *identity.RuleError
	var self manage.SelfError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rule):
		return &Refusal{rule.Text}
	case errors.As(err, &self), auth.IsRefusal(err):
		return &Refusal{err.Error()}
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
