package settings

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
)

// repositoriesData is what the list of repositories shows.
type repositoriesData struct {
	frame
	paging
	State        string
	States       []stateCount
	Repositories []repositoryRow
	// Source is what was filled in to be added.
	Source string
	// Services is the path of the external services.
	Services string
}

// stateCount is how many repositories are in a state.
type stateCount struct {
	State, Title string
	Count        int
	Path         string
}

// repositoryRow is a line of the list.
type repositoryRow struct {
	ID                         uint32
	Name, Source, State, Error string
	// Path is where its files are, Edit where it is changed.
	Path, Edit         string
	Documents, Skipped int
	Synced             time.Time
	Branch, Commit     string
	// More counts the other branches that are indexed.
	More    int
	Readers []string
	// Now says what a sync at work does, "" if there is none.
	Now string
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

func (d *repositoriesData) fill(v *visit) error {
	if v.Repositories == nil {
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	all, err := v.Repositories.List(v.r.Context())
	if err != nil {
		return err
	}
	d.State, d.Services = v.r.URL.Query().Get("state"), v.area.Server.Path(servicesPath)
	counts := map[string]int{}
	all = slices.DeleteFunc(all, func(repo *store.Repository) bool {
		counts[stateOf(repo)]++
		return !matches(searchedFor(v.r), repo.Name, repo.Source) || d.State != "" && d.State != stateOf(repo)
	})
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, s := range []stateCount{{State: stateIndexed, Title: "indexed"}, {State: stateWaiting, Title: "not indexed yet"}, {State: stateFailed, Title: "failed"}} {
		s.Count, s.Path = counts[s.State], d.Path+"?state="+s.State
		d.States = append(d.States, s)
	}
	syncing := syncingNow(v.Repositories)
	for _, repo := range shown(d.paging, all) {
		row, err := newRepositoryRow(v, repo)
		if err != nil {
			return err
		}
		row.Now = syncing[repo.Name]
		d.Repositories = append(d.Repositories, row)
	}
	return nil
}

func newRepositoryRow(v *visit, repo *store.Repository) (repositoryRow, error) {
	row := repositoryRow{
		ID: repo.ID, Name: repo.Name, Source: redact.URL(repo.Source), State: stateOf(repo), Error: redact.About(repo.LastError, repo.Source),
		Path: v.area.Server.Path((&url.URL{Path: "/" + repo.Name}).EscapedPath()), Edit: v.area.Server.Path(repositoryPath(repo.ID)), Documents: repo.Documents, Skipped: repo.Skipped,
		Synced: repo.Fetched(), Commit: repo.Commit(),
	}
	if len(repo.Branches) > 0 {
		row.Branch, row.More = repo.Branches[0].Name, len(repo.Branches)-1
	}
	var err error
	row.Readers, err = readers(v.Registry, repo.Readers)
	return row, err
}

// repositoryPath is the page by which site admins change a repository.
func repositoryPath(id uint32) string {
	return repositoriesPath + "/" + strconv.FormatUint(uint64(id), 10)
}

// readers names the first readers of a repository.
func readers(reg *identity.Registry, all *store.Readers) ([]string, error) {
	if all == nil {
		return reg.FormatReaders(nil)
	}
	var first store.Readers
	var users, orgs int
	first.Users, users = few(all.Users)
	first.Orgs, orgs = few(all.Orgs)
	names, err := reg.FormatReaders(&first)
	if err != nil {
		return nil, err
	}
	return andMore(names, users+orgs), nil
}

// addRepository records a repository by its address or path.
func addRepository(v *visit) (answer, error) {
	d := &repositoriesData{Source: v.value("source")}
	if v.Repositories == nil {
		return answer{data: d}, nil // which it cannot fill in
	}
	if d.Source == "" {
		return answer{data: d}, &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "Fill in the address of a repository"}
	}
	r, err := v.AddNamedRepository(v.r.Context(), d.Source)
	if err != nil {
		return answer{data: d}, err
	}
	return answer{did: "added", query: url.Values{"q": {r.Name}}}, nil
}

// removeRepository forgets a repository, with all that was indexed of it.
func removeRepository(v *visit) (answer, error) {
	if v.Repositories == nil {
		return answer{data: &repositoriesData{}}, nil // which it cannot fill in
	}
	return answer{did: "removed", query: url.Values{"q": {v.form.Values["q"]}}}, v.RemoveRepository(v.r.Context(), v.form.Values["name"])
}

// syncRepository has a repository synced soon.
func syncRepository(v *visit) (answer, error) {
	if v.Repositories == nil {
		return answer{data: &repositoriesData{}}, nil // which it cannot fill in
	}
	err := v.SyncRepository(v.r.Context(), v.form.Values["name"])
	return answer{did: "sync", query: url.Values{"q": {v.form.Values["q"]}}}, err
}
