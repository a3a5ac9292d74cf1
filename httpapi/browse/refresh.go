package browse

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// actionRefresh is what the audit log calls it.
const actionRefresh = "repository.refresh"

// refreshesPerMinute is how many repositories one actor may have fetched: each
// costs the hosts that they come from, too.
const refreshesPerMinute = 60

var errRefreshUser = &httpapi.Error{Status: http.StatusUnauthorized, Message: "Private mode requires authentication."}

// serveRefresh queues a sync of a repository. It answers at once, with nothing.
// A user who may see the repository may ask; an anonymous client may if it sees
// all repositories.
func (e *Endpoint) serveRefresh(w http.ResponseWriter, r *http.Request) error {
	actor := auth.From(r.Context())
	if actor.Anonymous() && !actor.SeesAll() {
		return errRefreshUser
	}
	_, rec, err := e.repository(r)
	if err != nil {
		return err
	}
	if wait := e.refreshes.Wait(actor.Key(), time.Now()); wait > 0 {
		seconds := int(wait/time.Second) + 1
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return &httpapi.Error{Status: http.StatusTooManyRequests, Message: fmt.Sprintf("Too many repositories to fetch: try again in %d s.", seconds)}
	}
	if err := e.audit(actor, rec.Name); err != nil {
		return err
	}
	e.Refresh(rec.Name)
	w.Header().Set("Content-Type", plainText)
	return nil
}

func (e *Endpoint) audit(actor *auth.Actor, name string) error {
	var reg *identity.Registry
	if e.Registry != nil {
		reg = e.Registry()
	}
	if reg == nil {
		return nil
	}
	return reg.Log(actor.Author(), actionRefresh, name, "")
}
