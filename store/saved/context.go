package saved

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Context is a search context: a set of repositories with a name, for context: in
// queries.
type Context struct {
	// ID is never used again. Owner and Name find it, whatever the case of the name.
	ID   uint32 `json:"id"`
	Name string `json:"name"`
	// Owner is a user, an organisation, or the site.
	Owner       Subject `json:"owner"`
	Description string  `json:"description,omitempty"`
	// Public says that others than its owner may use it.
	Public bool `json:"public,omitempty"`
	// Query has filters that all hold. Without it Repositories are those of the
	// context.
	Query        string              `json:"query,omitempty"`
	Repositories []ContextRepository `json:"repositories,omitempty"`
	Created      time.Time           `json:"created"`
	Updated      time.Time           `json:"updated"`
}

// ContextRepository is a repository of a context, by its ID. Without revisions it is
// searched at its default branch.
type ContextRepository struct {
	ID        uint32   `json:"id"`
	Revisions []string `json:"revisions,omitempty"`
}

// ContextChoice is what a user chose of the contexts.
type ContextChoice struct {
	User uint32 `json:"user"`
	// Default is the ID of the one that searches without another use, 0 for all
	// repositories.
	Default uint32 `json:"default,omitempty"`
	// Starred are the IDs of those that the user has marked.
	Starred []uint32 `json:"starred,omitempty"`
}

// contextKey is the key of the record of a context: kind(1) id(4) of its owner,
// big-endian, and the name in lower case.
func contextKey(owner Subject, name string) string {
	return string(binary.BigEndian.AppendUint32([]byte{byte(owner.Kind)}, owner.ID)) + strings.ToLower(name)
}

// Contexts are the search contexts of a book, and what users chose of them.
type Contexts struct{ *base }

// Each calls f with all contexts, by owner and name, but for damaged ones.
func (b Contexts) Each(f func(*Context)) error { return each(b.base, contexts, f) }

// Get returns the context of a name, or an error that is store.ErrNotFound.
func (b Contexts) Get(owner Subject, name string) (*Context, error) {
	c, err := contexts.Lookup(b.st, contextKey(owner, name))
	if err != nil {
		return nil, fmt.Errorf("search context %q: %w", name, err)
	}
	return c, nil
}

// Add keeps a context under a new ID. The error is store.ErrExists if its owner
// has one of that name.
func (b Contexts) Add(v Context) (*Context, error) {
	return &v, b.update(func(b *Book, c *store.Records) (err error) {
		if err := b.Contexts.nameFree(v.Owner, v.Name); err != nil {
			return err
		}
		if v.ID, err = b.next(c, "context"); err != nil {
			return err
		}
		v.Created, v.Updated = b.now(), b.now()
		return contexts.Put(c, contextKey(v.Owner, v.Name), &v)
	})
}

func (b Contexts) nameFree(owner Subject, name string) error {
	switch _, err := b.Get(owner, name); {
	case err == nil:
		return fmt.Errorf("search context %q: %w", name, store.ErrExists)
	case errors.Is(err, store.ErrNotFound):
		return nil
	default:
		return err
	}
}

// Change has f alter a context, its name too.
func (b Contexts) Change(owner Subject, name string, f func(*Context)) (v *Context, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if v, err = b.Contexts.Get(owner, name); err != nil {
			return err
		}
		id := v.ID
		f(v)
		v.ID, v.Owner, v.Updated = id, owner, b.now()
		if contextKey(owner, v.Name) != contextKey(owner, name) {
			if err := b.Contexts.nameFree(owner, v.Name); err != nil {
				return err
			}
			contexts.Delete(c, contextKey(owner, name))
		}
		return contexts.Put(c, contextKey(owner, v.Name), v)
	})
	return v, err
}

// Remove forgets a context.
func (b Contexts) Remove(owner Subject, name string) error {
	return b.update(func(b *Book, c *store.Records) error {
		contexts.Delete(c, contextKey(owner, name))
		return nil
	})
}

// Choice returns what a user chose, all repositories and none if they chose
// nothing.
func (b Contexts) Choice(user uint32) (*ContextChoice, error) {
	c, err := choices.Lookup(b.st, user)
	if errors.Is(err, store.ErrNotFound) {
		return &ContextChoice{User: user}, nil
	}
	return c, err
}

// Choose has f alter what a user chose.
func (b Contexts) Choose(user uint32, f func(*ContextChoice)) error {
	return b.update(func(b *Book, c *store.Records) error {
		v, err := b.Contexts.Choice(user)
		if err != nil {
			return err
		}
		f(v)
		v.User = user
		return choices.Put(c, user, v)
	})
}
