package home

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// Path is where programs ask how far indexing is.
const Path = "/.api/indexing"

// mostRecent is how many repositories the page shows, and mostRunning how many syncs.
const (
	mostRecent  = 8
	mostRunning = 4
)

// holds is what an answer about indexing takes while it is made.
const holds = 64 << 10

// Endpoint is the home of a server. Its functions return nil until the data
// directory is open.
type Endpoint struct {
	Store    func() *store.Store
	Registry func() *identity.Registry
	// Syncing returns the syncs at work.
	Syncing func() []manage.Syncing
}

// Routes returns the route about indexing.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: "GET", Path: Path, Handler: e.serve, Holds: holds, About: "how far indexing is, of the repositories that one may see"}}
}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	st := e.Store()
	if st == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpapi.ServeJSON(w, r, e.seenBy(r.Context(), st).Indexing)
}

// Home is what the page shows, nil while the data directory is opened.
func (e *Endpoint) Home(r *http.Request) *httpapi.Home {
	st := e.Store()
	if st == nil {
		return nil
	}
	h := e.seenBy(r.Context(), st)
	reg := e.Registry()
	h.SetUp, h.SiteAdmin = reg != nil && !reg.Used(), auth.From(r.Context()).User != nil && auth.From(r.Context()).SiteAdmin()
	return h
}

// seenBy looks at the repositories that the actor of a request may see.
func (e *Endpoint) seenBy(ctx context.Context, st *store.Store) *httpapi.Home {
	sn := st.Snapshot()
	defer sn.Close()
	h := &httpapi.Home{}
	actor := auth.From(ctx)
	shown := map[string]bool{}
	syncing := e.Syncing()
	for _, s := range syncing {
		shown[s.Name] = false
	}
	var recent []*store.Repository
	var first *store.Repository
	for r := range sn.Listed() {
		if !actor.CanSee(r) {
			continue
		}
		if _, ok := shown[r.Name]; ok {
			shown[r.Name] = true
		}
		h.Indexing.Repositories++
		if r.LastError != "" {
			h.Indexing.Failing++
		}
		switch {
		case r.Indexed():
			h.Indexing.Indexed++
		case r.LastError == "":
			h.Indexing.Waiting++
		}
		if r.Documents == 0 {
			continue
		}
		if first == nil {
			first = r
		}
		recent = newest(recent, r)
	}
	for _, r := range recent {
		row := httpapi.HomeRepository{Name: r.Name, Path: code.RepositoryURL(r.Name, ""), Documents: r.Documents, Indexed: r.LastIndexed, Description: r.Description}
		h.Recent = append(h.Recent, row)
	}
	h.Examples = examples(first)
	for _, s := range syncing {
		if shown[s.Name] && len(h.Indexing.Running) < mostRunning {
			h.Indexing.Running = append(h.Indexing.Running, httpapi.HomeSync{Name: s.Name, Phase: s.Phase, Done: s.Done, Total: s.Total})
		}
	}
	return h
}

// newest keeps the repositories that were indexed last.
func newest(all []*store.Repository, r *store.Repository) []*store.Repository {
	i, _ := slices.BinarySearchFunc(all, r, func(a, b *store.Repository) int {
		return cmp.Or(b.LastIndexed.Compare(a.LastIndexed), cmp.Compare(a.Name, b.Name))
	})
	if i == mostRecent {
		return all
	}
	all = slices.Insert(all, i, r)
	return all[:min(len(all), mostRecent)]
}
