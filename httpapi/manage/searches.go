package manage

import (
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/saved"
)

// Searches are the saved searches of an actor: their own, those of their
// organisations and, for site admins, all.
type Searches struct {
	*Kept
	Actor *auth.Actor
}

const (
	// MaxSavedBytes is how much a saved search may say.
	MaxSavedBytes = 64 << 10
	// maxSaved is how many searches one owner may keep.
	maxSaved = 200
)

// ErrNoSearch says that there is no such saved search, or none that the actor may
// know of.
const ErrNoSearch = notFound("saved search not found")

// Owns reports whether an owner is the actor or an organisation of theirs.
func (s *Searches) Owns(of saved.Subject) bool { return owns(s.Actor, of) }

func (s *Searches) sees(v *saved.Search) bool { return s.Owns(v.Owner) || s.Actor.SiteAdmin() }

// Each calls f with the saved searches of the actor by ID.
func (s *Searches) Each(f func(*saved.Search)) error {
	if err := auth.RequireSignedIn(s.Actor); err != nil {
		return err
	}
	return s.Book.Searches.Each(func(v *saved.Search) {
		if s.sees(v) {
			f(v)
		}
	})
}

// Find returns a saved search. The error is ErrNoSearch for one that the actor may not
// see, or that has lost its owner.
func (s *Searches) Find(id uint32) (*saved.Search, error) {
	v, err := s.Book.Searches.Get(id)
	if isNotFound(err) || err == nil && !s.sees(v) {
		return nil, ErrNoSearch
	}
	if err != nil {
		return nil, err
	}
	if name, err := s.OwnerName(v.Owner); err != nil {
		return nil, err
	} else if name == "" {
		return nil, ErrNoSearch
	}
	return v, nil
}

// Create keeps a search for an owner.
func (s *Searches) Create(owner saved.Subject, description, query string) (*saved.Search, error) {
	err := s.mayOwn(s.Actor, owner)
	if err == nil {
		err = checkSaved(description, query)
	}
	if err != nil {
		return nil, err
	}
	n := 0
	err = s.Book.Searches.Each(func(v *saved.Search) {
		if v.Owner == owner {
			n++
		}
	})
	if err != nil {
		return nil, err
	}
	if n >= maxSaved {
		return nil, refuse("there are %d saved searches: delete some of them first", n)
	}
	return s.Book.Searches.Add(saved.Search{Description: description, Query: query, Owner: owner})
}

func checkSaved(description, query string) error {
	if len(description)+len(query) > MaxSavedBytes {
		return refuse("a saved search has at most %d bytes", MaxSavedBytes)
	}
	if strings.TrimSpace(query) == "" {
		return refuse("the query is empty")
	}
	return nil
}

// Change changes what a saved search says.
func (s *Searches) Change(id uint32, description, query string) (*saved.Search, error) {
	if err := checkSaved(description, query); err != nil {
		return nil, err
	}
	if _, err := s.Find(id); err != nil {
		return nil, err
	}
	return s.Book.Searches.Change(id, func(v *saved.Search) { v.Description, v.Query = description, query })
}

// Transfer gives a saved search to another owner.
func (s *Searches) Transfer(id uint32, owner saved.Subject) (*saved.Search, error) {
	if err := s.mayOwn(s.Actor, owner); err != nil {
		return nil, err
	}
	if _, err := s.Find(id); err != nil {
		return nil, err
	}
	return s.Book.Searches.Change(id, func(v *saved.Search) { v.Owner = owner })
}

// Delete forgets a saved search.
func (s *Searches) Delete(id uint32) error {
	if _, err := s.Find(id); err != nil {
		return err
	}
	return s.Book.Searches.Remove(id)
}
