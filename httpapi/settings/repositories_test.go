package settings_test

import (
	"context"
	"fmt"
	"net/url"
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
	all       []*store.Repository
	refreshed []string
}

// List returns a list of the caller's own, as the service does.
func (r *repositories) List(context.Context) ([]*store.Repository, error) {
	return append([]*store.Repository{}, r.all...), nil
}
func (r *repositories) Refresh(name string) { r.refreshed = append(r.refreshed, name) }

func TestRepositories(t *testing.T) {
	w, root := newAdminWorld(t)
	readers, err := w.reg.ParseReaders([]string{"user:root"})
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
	w.user(identity.NewUser{Name: "ann"})
	w.has("by ann", w.as("ann").post("/site-admin/repositories/sync", url.Values{"name": {"lab/new"}}), 403)
}
