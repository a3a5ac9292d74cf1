package codehost

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Repository is what a host says about a repository.
type Repository struct {
	// ID is what the host calls it for as long as it exists, whatever its name is.
	ID string
	// NodeID is another name for the same, "" if there is none.
	NodeID string
	// Path is its name at the host, such as lab/kiln.
	Path string
	// CloneURL is where git fetches it over HTTP, without credentials.
	CloneURL string

	Description string
	Topics      []string
	Stars       int
	Fork        bool
	Archived    bool
	Private     bool
	// Empty says that nothing was pushed to it yet, as far as the host says.
	Empty bool
	// Parent is the path of what it was forked from, "" if that is not known.
	Parent string
	// DefaultBranch is "" for an empty repository. Searches go by the HEAD that git
	// fetches, which is the same.
	DefaultBranch string
	// SizeBytes is about what the host keeps for it, 0 if it does not say.
	SizeBytes int64
	// Bare says that nothing but ID, Path and CloneURL is known, and the facts of a
	// repository stay as they are.
	Bare bool
	// Pushed is when it was last pushed to, zero if the host does not say.
	Pushed time.Time
}

// Listing is what a host has.
type Listing struct {
	Repositories []Repository
	// Failed names the parts that could not be read. While there is one, a repository
	// that is missing may be in that part.
	Failed []string
	// Left names what was asked for and is not there, or cannot be taken.
	Left []string
}

// Take adds a repository unless it is there already. A list whose pages change while
// they are read may have one twice.
func (l *Listing) Take(r Repository, seen map[string]bool) {
	if r.ID == "" || seen[r.ID] {
		return
	}
	seen[r.ID] = true
	l.Repositories = append(l.Repositories, r)
}

// Known is what an earlier listing found, which a host need not be asked for again.
type Known interface {
	// Parent returns the parent of a fork by its ID, "" if it is not known.
	Parent(id string) string
}

// Host lists the repositories of one account of a code host.
type Host interface {
	// List reads all of them. It returns an error when the host cannot be asked at
	// all, such as ErrCredentials and LimitedError; a part that fails is in the
	// Listing.
	List(ctx context.Context, known Known) (Listing, error)
}

// MostRepositories is how many repositories a service may have.
const MostRepositories = 20_000

// ErrTooMany says that a host lists more repositories than a service may have.
var ErrTooMany = fmt.Errorf("it has more than %d repositories: exclude some, or name organisations instead", MostRepositories)

// ErrCredentials says that a host does not take the token it was given.
var ErrCredentials = errors.New("the host refuses the token: it is wrong, expired or revoked")

// LimitedError says that a host takes no more requests for a while.
type LimitedError struct{ Until time.Time }

func (e *LimitedError) Error() string {
	return "the host takes no more requests until " + e.Until.UTC().Format("15:04:05 UTC") + ", as its rate limit is used up"
}
