package settings_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// repositories are those of a test, and what was asked of them.
type repositories struct {
	manage.Repositories
	// store, if set, has the repositories, and all has not.
	store     *store.Store
	all       []*store.Repository
	refreshed []string
	syncing   []manage.Syncing
	last      manage.LastSync
}

// LastSync returns the same for all.
func (r *repositories) LastSync(context.Context, *store.Repository) manage.LastSync { return r.last }

// Reindex marks a repository of the store.
func (r *repositories) Reindex(name string) error {
	_, err := r.store.Repositories().Reindex(name)
	return err
}

// AddNamed knows one source by each name.
func (r *repositories) AddNamed(_ context.Context, source string) (*store.Repository, error) {
	if strings.Contains(source, "refused") {
		return nil, fmt.Errorf("fetch https://me:secret@x: <b>%s", source)
	}
	if slices.ContainsFunc(r.all, func(one *store.Repository) bool { return one.Name == source }) {
		return nil, fmt.Errorf("there is a repository %q already: %w", source, store.ErrExists)
	}
	r.all = append(r.all, &store.Repository{Name: source, Source: source})
	return r.all[len(r.all)-1], nil
}

func (r *repositories) Remove(_ context.Context, name string) error {
	before := len(r.all)
	r.all = slices.DeleteFunc(r.all, func(one *store.Repository) bool { return one.Name == name })
	if len(r.all) == before {
		return fmt.Errorf("repository %q: %w", name, store.ErrNotFound)
	}
	return nil
}

func (r *repositories) Syncing() []manage.Syncing { return r.syncing }

// List returns a list of the caller's own, as the service does.
func (r *repositories) List(context.Context) ([]*store.Repository, error) {
	if r.store != nil {
		sn := r.store.Snapshot()
		return sn.Repositories(), sn.Close()
	}
	return append([]*store.Repository{}, r.all...), nil
}
func (r *repositories) Refresh(name string) { r.refreshed = append(r.refreshed, name) }

func TestRepositories(t *testing.T) {
	w, root := newAdminWorld(t)
	readers, err := w.Registry.ParseReaders([]string{"user:root"})
	if err != nil {
		t.Fatal(err)
	}
	branch := store.Branch{Name: "main", Commit: strings.Repeat("ab", 20)}
	w.repos.all = []*store.Repository{
		{Name: "lab/kiln", Source: "https://me:secret@git.example.org/lab/kiln", Generation: 3, Documents: 1234, Skipped: 7,
			Branches: []store.Branch{branch, branch, branch}, LastFetched: time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC), Readers: readers},
		{Name: "lab/new", Source: "lab/new"},
		{Name: "odd/<script>", Source: "/srv/odd", Generation: 1, LastError: "fetch https://me:secret@x: <b>refused"},
	}
	page := root.get("/site-admin/repositories")
	w.has("all", page, 200, "1 indexed", "1 not indexed yet", "1 failed", "3 in all", "1234", "7 by name only", "ababababab", "and 2 more",
		"3 Feb 2031, 04:05 UTC", "user:root", "everyone", "<b>refused", "https://git.example.org/lab/kiln", `href="/odd/%3Cscript%3E"`)
	w.hasNot("all", page, "secret", "<script>alert")
	for query, want := range map[string]string{"?q=KILN": "1 found", "?state=failed": "odd/<script>", "?state=waiting": "lab/new", "?q=nowhere": "There is none like that."} {
		w.has(query, root.get("/site-admin/repositories"+query), 200, want)
	}
	w.hasNot("only those that failed", root.get("/site-admin/repositories?state=failed"), "lab/new")

	w.has("sync", root.follow(root.post("/site-admin/repositories/sync", url.Values{"name": {"lab/new"}, "q": {"lab"}})), 200, "It is synced as soon as", "2 found")
	w.logged("repository.sync", "repository:lab/new", "root")
	w.has("sync of none", root.post("/site-admin/repositories/sync", url.Values{"name": {"lab/none"}}), 404)
	if got := fmt.Sprint(w.repos.refreshed); got != "[lab/new]" {
		t.Errorf("synced %s, want [lab/new]", got)
	}
	w.SignUp(identity.NewUser{Name: "ann"})
	w.has("by ann", w.as("ann").post("/site-admin/repositories/sync", url.Values{"name": {"lab/new"}}), 403)
	w.has("add by ann", w.as("ann").post("/site-admin/repositories", url.Values{"source": {"lab/x"}}), 403)
	w.has("remove by ann", w.as("ann").post("/site-admin/repositories/remove", url.Values{"name": {"lab/kiln"}}), 403)
}

// A repository is added and removed on the page, and the page tells how its sync goes.
func TestRepositoriesAreAddedAndRemoved(t *testing.T) {
	w, root := newAdminWorld(t)
	w.has("empty", root.get("/site-admin/repositories"), 200, `id="source"`, "There is none like that.")
	w.has("added", root.follow(root.post("/site-admin/repositories", url.Values{"source": {" <i>\"lab\"=1 "}})), 200, "It is there, and is indexed", `<i>"lab"=1`, "1 found")
	w.logged("repository.add", `repository:<i>"lab"=1`, "root")
	if got := fmt.Sprintf("%q", w.repos.refreshed); got != `["<i>\"lab\"=1"]` {
		t.Errorf("synced %s", got)
	}
	w.has("again", root.post("/site-admin/repositories", url.Values{"source": {`<i>"lab"=1`}}), 409, "already")
	w.has("nothing", root.post("/site-admin/repositories", url.Values{"source": {" "}}), 422, "Fill in the address")
	refused := root.post("/site-admin/repositories", url.Values{"source": {"refused"}})
	w.has("refused", refused, 422, "<b>refused", `value="refused"`)
	w.hasNot("refused", refused, "secret")

	w.repos.syncing = []manage.Syncing{{Name: `<i>"lab"=1`, Phase: "index", Done: 3, Total: 9}}
	w.has("at work", root.get("/site-admin/repositories"), 200, "indexing 3 of 9")
	w.has("removed", root.follow(root.post("/site-admin/repositories/remove", url.Values{"name": {`<i>"lab"=1`}})), 200, "It is removed", "There is none like that.")
	w.logged("repository.remove", `repository:<i>"lab"=1`, "root")
	w.has("removed again", root.post("/site-admin/repositories/remove", url.Values{"name": {`<i>"lab"=1`}}), 404, "It is gone already.")
}
