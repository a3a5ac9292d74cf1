package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// Manage returns the operations of the client.
func (s *Session) Manage() *manage.Operations {
	return &manage.Operations{Actor: s.Actor, Registry: s.Registry, Repositories: s.Repositories, Site: s.Site}
}

// mutate reads the number of an id and makes a change of what it names.
func mutate(ctx context.Context, id graphql.ID, kind string, change func(m *manage.Operations, n uint32) error) (*wire.Empty, error) {
	n, err := wire.NumberOf(id, kind)
	if err == nil {
		err = change(Of(ctx).Manage(), n)
	}
	return &wire.Empty{}, Told(err)
}

// MustAdmin refuses all but site admins.
func (s *Session) MustAdmin() error {
	if !s.Actor.SiteAdmin() {
		return wire.Permit(auth.ErrNotSiteAdmin)
	}
	return nil
}

// mustBeSelf refuses all but a user and site admins.
func (s *Session) mustBeSelf(user uint32) error {
	return wire.Permit(auth.RequireSelfOrSiteAdmin(s.Actor, user))
}

// MustSignIn refuses clients without a user.
func (s *Session) MustSignIn() error { return wire.Permit(auth.RequireSignedIn(s.Actor)) }

// MustAdminNow is mustAdmin for mutations, which tell strangers apart.
func (s *Session) MustAdminNow() error { return wire.Permit(auth.RequireSiteAdmin(s.Actor)) }

// Told makes those errors of what was asked to be changed that are the
// client's ones that it is told.
func Told(err error) error {
	var rule *identity.RuleError
	var self manage.SelfError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rule):
		return &wire.Refusal{Message: rule.Text}
	case errors.As(err, &self), auth.IsRefusal(err):
		return &wire.Refusal{Message: err.Error()}
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDiskFull):
		return &wire.Refusal{Message: redact.Text(err.Error())}
	case errors.Is(err, saved.ErrConflict):
		return &wire.Refusal{Message: err.Error() + ": read it again"}
	}
	return err
}

// IsMissing reports whether an error says that there is no such thing.
func IsMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

func errNoUser(id uint32) error {
	return &wire.Refusal{Message: fmt.Sprintf("user not found: [%d]", id)}
}
