package manage

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// Operations are what one actor may change. Errors are those of auth for what the
// actor may not, *identity.RuleError for what a rule forbids, SelfError, and those
// of the stores.
type Operations struct {
	Actor *auth.Actor
	// Registry may be nil for operations on repositories, which then leave no line
	// of the audit log.
	Registry *identity.Registry
	// Apps is for operations on OAuth apps, Repositories for those on repositories, Site
	// for those on the configuration, Backups for those on backups.
	Apps         *oauth.Book
	Repositories Repositories
	Site         Site
	Backups      Backups
}

// SelfError says what site admins cannot do to themselves: it might lock them out.
type SelfError string

func (e SelfError) Error() string { return string(e) }

// notFound is store.ErrNotFound in the words of the API.
type notFound string

func (e notFound) Error() string { return string(e) }
func (e notFound) Unwrap() error { return store.ErrNotFound }

// ErrNoToken says that there is no such token, or none that the actor may know of.
const ErrNoToken = notFound("access token not found")

const errNoOrg = notFound("organization not found")

// noUser words the error of a look-up of a user.
func noUser(id uint32, err error) error {
	if isNotFound(err) {
		return notFound(fmt.Sprintf("user not found: [%d]", id))
	}
	return err
}

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }

func refuse(format string, args ...any) error {
	return &identity.RuleError{Text: fmt.Sprintf(format, args...)}
}

func (o *Operations) by() identity.Author { return o.Actor.Author() }

// namesOf returns the names of the first accounts, all if most is 0, and how many
// more there are.
func namesOf(ids []uint32, most int, name func(id uint32) (string, error)) (names []string, more int, err error) {
	if most > 0 && len(ids) > most {
		ids, more = ids[:most], len(ids)-most
	}
	for _, id := range ids {
		switch n, err := name(id); {
		case err == nil:
			names = append(names, n)
		case !isNotFound(err): // gone meanwhile
			return nil, 0, err
		}
	}
	return names, more, nil
}
