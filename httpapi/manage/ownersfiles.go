package manage

import (
	"errors"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// OwnersFiles changes the CODEOWNERS files that site admins upload for repositories.
type OwnersFiles struct {
	Store    *store.Store
	Registry *identity.Registry
	// Now is the clock.
	Now func() time.Time
}

// The errors of OwnersFiles, in texts that clients know.
var (
	errOwnersThere = refuse("codeowners file has already been ingested for this repository")
	errNoOwners    = notFound("codeowners file not found")
)

// noRepository is the error of a name that no repository has.
func noRepository(name string) error { return notFound("repo not found: name=" + name) }

// Add keeps a file for a repository that has none.
func (o *OwnersFiles) Add(a *auth.Actor, name, text string) error {
	return o.change(a, name, "owners.add", func(old *store.OwnersFile, now time.Time) (*store.OwnersFile, error) {
		if old != nil {
			return nil, errOwnersThere
		}
		return &store.OwnersFile{Text: text, Created: now, Updated: now}, checkOwners(text)
	})
}

// Update puts a file in the place of the one that a repository has.
func (o *OwnersFiles) Update(a *auth.Actor, name, text string) error {
	return o.change(a, name, "owners.update", func(old *store.OwnersFile, now time.Time) (*store.OwnersFile, error) {
		if old == nil {
			return nil, notFound("could not update codeowners file: " + string(errNoOwners) + ": " + name)
		}
		return &store.OwnersFile{Text: text, Created: old.Created, Updated: now}, checkOwners(text)
	})
}

// Remove takes the file of a repository away: those that the repository has count again.
func (o *OwnersFiles) Remove(a *auth.Actor, name string) error {
	return o.change(a, name, "owners.remove", func(old *store.OwnersFile, _ time.Time) (*store.OwnersFile, error) {
		if old == nil {
			return nil, notFound(string(errNoOwners) + ": " + name)
		}
		return nil, nil
	})
}

// checkOwners refuses what is no text of a file that is read.
func checkOwners(text string) error {
	switch {
	case len(text) > owners.MaxBytes:
		return refuse("the file has %d bytes, more than %d MiB", len(text), owners.MaxBytes>>20)
	case !utf8.ValidString(text):
		return refuse("the file is not UTF-8")
	}
	return nil
}

// change puts what next makes of the file of a repository, which is nil for none, in its
// place, and writes that to the audit log. A damaged file counts as one, so that it can
// be replaced.
func (o *OwnersFiles) change(a *auth.Actor, name, action string, next func(old *store.OwnersFile, now time.Time) (*store.OwnersFile, error)) error {
	if err := auth.RequireSiteAdmin(a); err != nil {
		return err
	}
	err := o.Store.Update(func(tx *store.Tx) error {
		r, err := tx.Repository(name)
		if isNotFound(err) {
			return noRepository(name)
		}
		if err != nil {
			return err
		}
		old, err := tx.OwnersFile(r.ID)
		switch {
		case errors.Is(err, store.ErrCorrupt):
			old = &store.OwnersFile{Created: o.Now().UTC()}
		case err != nil && !isNotFound(err):
			return err
		}
		file, err := next(old, o.Now().UTC())
		if err != nil {
			return err
		}
		return tx.PutOwnersFile(r.ID, file)
	})
	if err != nil || o.Registry == nil {
		return err
	}
	return o.Registry.Log(a.Author(), action, "repository:"+name, "")
}
