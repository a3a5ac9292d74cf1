package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/redact"
)

// AdminPath is where the admin routes about repositories are. AdminTokenHeader
// carries the token that opens them; it is a header of its own so that it is
// never taken for the credentials of a user.
const (
	AdminPath        = "/.api/trawl/repositories"
	AdminTokenHeader = auth.OperatorHeader
)

// Repositories is what the admin routes act on.
type Repositories interface {
	List(ctx context.Context) ([]*store.Repository, error)
	// Add records a source as ingest.ParseSource reads it.
	Add(ctx context.Context, source string) (*store.Repository, error)
	Remove(ctx context.Context, name string) error
	// ChangeFacts changes what is known about a repository.
	ChangeFacts(ctx context.Context, name string, c store.FactsChange) (*store.Repository, error)
	// Sync calls report, which is not nil, from one goroutine.
	Sync(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error)
	// Skipped calls each with every document whose content is not searched.
	Skipped(ctx context.Context, name string, each func(path, reason string, bytes int64) error) error
}

// Admin lets the command line change what a running server has open. It
// answers only the operator: programs on the same machine that know the token
// of the gate.
type Admin struct {
	// Repositories returns nil while there is nothing to act on yet.
	Repositories func() Repositories
	// Registry is the same for users; without it there are no routes about them.
	Registry func() *identity.Registry
	// Apps is the same for OAuth apps; it returns nil no longer than Registry
	// does.
	Apps func() *oauth.Book
	// Status tells how the server is; nil leaves its route out.
	Status StatusFunc
	// Backups is the same for backups.
	Backups func() Backups
	// Checker is the same for verifying; without it there is no route for that.
	Checker func() Checker
}

// Routes returns the admin routes. A parameter names the repository, since
// names hold slashes.
func (a *Admin) Routes() []Route {
	routes := []Route{
		{Method: "GET", Path: AdminPath, Handler: a.guard(serveList)},
		{Method: "POST", Path: AdminPath, Handler: a.guard(a.serveAdd)},
		{Method: "DELETE", Path: AdminPath, Handler: a.guard(a.serveRemove)},
		{Method: "PATCH", Path: AdminPath, Handler: a.guard(a.serveFacts)},
		{Method: "POST", Path: AdminPath + "/sync", Handler: a.guard(serveSync)},
		{Method: "GET", Path: AdminPath + "/skipped", Handler: a.guard(serveSkipped)},
	}
	if a.Checker != nil {
		routes = append(routes, Route{Method: "POST", Path: AdminCheckPath, Handler: operatorOnly(a.serveCheck)})
	}
	routes = append(routes, a.identityRoutes()...)
	routes = append(routes, a.appRoutes()...)
	routes = append(routes, a.statusRoutes()...)
	routes = append(routes, a.backupRoutes()...)
	for i := range routes {
		routes[i].Access = auth.ForAnyone // the guard asks for more
	}
	return routes
}

// adminHandler answers a request that was let in.
type adminHandler func(repos Repositories, w http.ResponseWriter, r *http.Request) error

// operatorOnly lets in who is on this machine and knows the token.
func operatorOnly(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case !auth.FromThisMachine(r):
			return &Error{Status: http.StatusForbidden, Message: "this route answers only on the server's own machine"}
		case !auth.From(r.Context()).Operator():
			return &Error{Status: http.StatusUnauthorized, Message: "this route needs the server's admin token"}
		}
		return h(w, r)
	}
}

var errStillOpening = &Error{Status: http.StatusServiceUnavailable, Message: "the server is still opening its data directory"}

// guard is operatorOnly for what acts on repositories.
func (a *Admin) guard(h adminHandler) Handler {
	return operatorOnly(func(w http.ResponseWriter, r *http.Request) error {
		repos := a.Repositories()
		if repos == nil {
			return errStillOpening
		}
		return h(repos, w, r)
	})
}

func serveList(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	all, err := repos.List(r.Context())
	if err != nil {
		return adminError(err)
	}
	out := make([]AdminRepository, len(all))
	for i, repo := range all {
		out[i] = newAdminRepository(repo)
	}
	return serveJSON(w, out)
}

// log writes what was done to a repository to the audit log.
func (a *Admin) log(r *http.Request, action, repository, detail string) error {
	if a.Registry == nil {
		return nil
	}
	if err := a.Registry().Log(author(r), action, "repository:"+repository, detail); err != nil {
		return adminError(err)
	}
	return nil
}

// maxAdminBody bounds what a request to add or to change may say.
const maxAdminBody = 64 << 10

func (a *Admin) serveAdd(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	var add AdminAdd
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody)).Decode(&add); err != nil {
		return &Error{Status: http.StatusBadRequest, Message: `expected {"source": "…"}`, Cause: err}
	}
	repo, err := repos.Add(r.Context(), add.Source)
	if err != nil {
		return adminError(err)
	}
	if err := a.log(r, "repository.add", repo.Name, redact.URL(repo.Source)); err != nil {
		return err
	}
	return serveJSON(w, newAdminRepository(repo))
}

func (a *Admin) serveRemove(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	name, err := adminName(r)
	if err != nil {
		return err
	}
	if err := repos.Remove(r.Context(), name); err != nil {
		return adminError(err)
	}
	if err := a.log(r, "repository.remove", name, ""); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Admin) serveFacts(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	name, err := adminName(r)
	if err != nil {
		return err
	}
	var facts AdminFacts
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&facts); err != nil {
		return &Error{Status: http.StatusBadRequest, Message: `expected facts such as {"stars": 41}`, Cause: err}
	}
	repo, err := repos.ChangeFacts(r.Context(), name, facts.change())
	if err != nil {
		return adminError(err)
	}
	if err := a.log(r, "repository.facts", name, ""); err != nil {
		return err
	}
	return serveJSON(w, newAdminRepository(repo))
}

// serveSync answers with a line of JSON for each report of progress, and one
// for how the sync ended.
func serveSync(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	name, err := adminName(r)
	if err != nil {
		return err
	}
	lines := newAdminLines(w)
	res, err := repos.Sync(r.Context(), name, func(p ingest.Progress) {
		_ = lines.send(AdminLine{Progress: &AdminProgress{p.Phase, redact.Text(p.Note), p.Done, p.Total, p.Bytes}})
	})
	return lines.finish(newAdminResult(res), err)
}

// serveSkipped answers with a line of JSON for each document, and one for the
// end.
func serveSkipped(repos Repositories, w http.ResponseWriter, r *http.Request) error {
	name, err := adminName(r)
	if err != nil {
		return err
	}
	lines := newAdminLines(w)
	err = repos.Skipped(r.Context(), name, func(path, reason string, bytes int64) error {
		return lines.send(AdminLine{Skipped: &AdminSkipped{path, reason, bytes}})
	})
	return lines.finish(&AdminResult{}, err)
}

func adminName(r *http.Request) (string, error) { return adminParameter(r, "name") }

func adminParameter(r *http.Request, parameter string) (string, error) {
	value := r.URL.Query().Get(parameter)
	if value == "" {
		return "", &Error{Status: http.StatusBadRequest, Message: "the parameter " + parameter + " is missing"}
	}
	return value, nil
}

// adminError shows the whole error: who may call these routes may also read
// the log.
func adminError(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Status: adminStatus(err), Message: redact.Text(err.Error()), Cause: err}
}

func adminStatus(err error) int {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, store.ErrExists):
		return http.StatusConflict
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

func serveJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // a client that is gone misses nothing
	return nil
}
