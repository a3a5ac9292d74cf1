package settings

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
)

// Repositories is what the page about repositories shows and does.
type Repositories interface {
	List(ctx context.Context) ([]*store.Repository, error)
	// Refresh has a repository synced soon.
	Refresh(name string)
}

const repositoriesPath = "/site-admin/repositories"

// repositories is the section about what is indexed, for site admins.
func (a *Area) repositories() Section {
	return Section{SiteAdmin, web.Link{Title: "Repositories", Path: repositoriesPath}, []httpapi.Route{
		{Method: "GET", Path: repositoriesPath, Handler: a.serveRepositories, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: repositoriesPath + "/sync", Handler: a.syncRepository, Access: auth.ForSiteAdmins},
	}}
}

// repositoriesData is what the list of repositories shows.
type repositoriesData struct {
	notice
	paging
	Path         string
	State        string
	States       []stateCount
	Repositories []repositoryRow
}

// stateCount is how many repositories are in a state.
type stateCount struct {
	State, Title string
	Count        int
	Path         string
}

// repositoryRow is a line of the list.
type repositoryRow struct {
	Name, Source, State, Error string
	Path                       string
	Documents, Skipped         int
	Synced                     time.Time
	Branch, Commit             string
	// More counts the other branches that are indexed.
	More    int
	Readers []string
}

// The states of a repository, as people and addresses name them.
const (
	stateIndexed = "indexed"
	stateWaiting = "waiting"
	stateFailed  = "failed"
)

func stateOf(r *store.Repository) string {
	switch {
	case r.LastError != "":
		return stateFailed
	case r.Indexed():
		return stateIndexed
	}
	return stateWaiting
}

func (a *Area) serveRepositories(w http.ResponseWriter, r *http.Request) error {
	repos := a.Repositories()
	if repos == nil {
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	all, err := repos.List(r.Context())
	if err != nil {
		return err
	}
	d := repositoriesData{Path: a.Server.Path(repositoriesPath), State: r.URL.Query().Get("state")}
	d.notice = done(r, map[string]string{"sync": "It is synced as soon as syncs that run have ended."})
	counts := map[string]int{}
	all = slices.DeleteFunc(all, func(repo *store.Repository) bool {
		counts[stateOf(repo)]++
		return !matches(searchedFor(r), repo.Name, repo.Source) || d.State != "" && d.State != stateOf(repo)
	})
	d.paging = newPaging(r, d.Path, len(all))
	for _, s := range []stateCount{{State: stateIndexed, Title: "indexed"}, {State: stateWaiting, Title: "not indexed yet"}, {State: stateFailed, Title: "failed"}} {
		s.Count, s.Path = counts[s.State], d.Path+"?state="+s.State
		d.States = append(d.States, s)
	}
	for _, repo := range shown(d.paging, all) {
		row, err := a.repositoryRow(repo)
		if err != nil {
			return err
		}
		d.Repositories = append(d.Repositories, row)
	}
	return a.serve(w, r, web.View{Page: "repositories.html", Here: repositoriesPath, Data: d})
}

func (a *Area) repositoryRow(repo *store.Repository) (repositoryRow, error) {
	row := repositoryRow{
		Name: repo.Name, Source: redact.URL(repo.Source), State: stateOf(repo), Error: redact.About(repo.LastError, repo.Source),
		Path: a.Server.Path((&url.URL{Path: "/" + repo.Name}).EscapedPath()), Documents: repo.Documents, Skipped: repo.Skipped,
		Synced: repo.LastFetched, Commit: repo.Commit(),
	}
	if len(repo.Branches) > 0 {
		row.Branch, row.More = repo.Branches[0].Name, len(repo.Branches)-1
	}
	var err error
	row.Readers, err = a.readers(repo.Readers)
	return row, err
}

// readers names the first readers of a repository.
func (a *Area) readers(all *store.Readers) ([]string, error) {
	if all == nil {
		return a.registry().FormatReaders(nil)
	}
	var first store.Readers
	var users, orgs int
	first.Users, users = few(all.Users)
	first.Orgs, orgs = few(all.Orgs)
	names, err := a.registry().FormatReaders(&first)
	if more := users + orgs; err == nil && more > 0 {
		names = append(names, "and "+web.Number(more)+" more")
	}
	return names, err
}

// syncRepository has a repository synced soon.
func (a *Area) syncRepository(w http.ResponseWriter, r *http.Request) error {
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	repos, name := a.Repositories(), f.Values["name"]
	if repos == nil {
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	all, err := repos.List(r.Context())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(repo *store.Repository) bool { return repo.Name == name }) {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such repository"}
	}
	if err := a.registry().Log(author(r), "repository.sync", "repository:"+name, ""); err != nil {
		return err
	}
	repos.Refresh(name)
	return a.back(w, r, repositoriesPath, "sync", "q", f.Values["q"])
}
