package repolist

import (
	"embed"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/age"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
)

// Path is where the page is. No repository can have this address.
const Path = "/-/repositories"

const (
	// perPage is how many repositories a page lists.
	perPage = 50
	// maxQuery is how many bytes of a filter are read, and maxText how many of a text
	// about a repository are shown.
	maxQuery = 1 << 10
	maxText  = 300
)

//go:embed all:pages
var pageFiles embed.FS

var pages = web.NewTemplates(pageFiles, "pages", nil)

// Pages frames what people look at.
type Pages interface {
	ServePage(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error
}

// Endpoint lists repositories. Its fields are set before Routes and not changed
// afterwards.
type Endpoint struct {
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	Pages Pages
	// Languages counts the languages of repositories.
	Languages *code.Languages
	// Now is the clock that ages are told by; nil is time.Now.
	Now func() time.Time
}

// Routes returns the route of the page.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: "GET", Path: Path, Handler: e.serve, Holds: httpapi.PageHolds, About: "the repositories that one may see"}}
}

// data is what the page shows.
type data struct {
	Query        string
	Order        order
	Orders       []orderLink
	Repositories []row
	// First and Last count the rows, from 1; Total counts all that are found.
	First, Last, Total int
	Previous, Next     string
}

// orderLink leads to the list in another order.
type orderLink struct {
	Title, URL string
	Current    bool
}

// row is a repository.
type row struct {
	Name, URL, Description, Branch string
	Language                       string
	Stars, Documents               int
	Fork, Archived, Private        bool
	// Changed and Seen may be zero; their ages are in words.
	Changed, Seen       time.Time
	ChangedAge, SeenAge string
	// Indexed says that it can be searched, and Failed that its last sync failed.
	Indexed, Failed bool
}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	st := e.Store()
	if st == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	d, err := e.data(r, st)
	if err != nil {
		return err
	}
	return e.Pages.ServePage(w, r, pages, web.View{
		Page: "repositories.html", Here: Path, Compress: true, Reflected: true, Scripts: []string{"repolist.js"}, Data: d,
	})
}

func (e *Endpoint) data(r *http.Request, st *store.Store) (*data, error) {
	sn := st.Snapshot()
	defer sn.Close()
	values := r.URL.Query()
	d := &data{Query: cut(strings.TrimSpace(values.Get("q")), maxQuery), Order: orderNamed(values.Get("sort"))}
	all := e.listed(r, sn, newFilter(d.Query))
	d.Order.sort(all)
	from, err := strconv.Atoi(values.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	d.Total = len(all)
	if from >= d.Total {
		from = max(0, (d.Total-1)/perPage*perPage)
	}
	all = all[from:min(from+perPage, d.Total)]
	d.First, d.Last = min(from+1, d.Total), from+len(all)
	for _, rec := range all {
		one, err := e.row(r, sn, rec)
		if err != nil {
			return nil, err
		}
		d.Repositories = append(d.Repositories, one)
	}
	d.link(from)
	return d, nil
}

// listed are the repositories that the reader may see and asks for.
func (e *Endpoint) listed(r *http.Request, sn *store.Snapshot, f filter) []*store.Repository {
	actor := auth.From(r.Context())
	var all []*store.Repository
	for rec := range sn.Listed() {
		if !rec.IsGone() && actor.CanSee(rec) && f.matches(rec) {
			all = append(all, rec)
		}
	}
	return all
}

func (e *Endpoint) row(r *http.Request, sn *store.Snapshot, rec *store.Repository) (row, error) {
	now := time.Now
	if e.Now != nil {
		now = e.Now
	}
	one := row{
		Name: rec.Name, URL: code.RepositoryURL(rec.Name, ""), Description: cut(rec.Description, maxText), Stars: rec.Stars, Documents: rec.Documents,
		Fork: rec.Fork, Archived: rec.Archived, Private: rec.Private || rec.Readers != nil,
		Changed: changed(rec), Seen: rec.Fetched(), Indexed: rec.Indexed(), Failed: rec.LastError != "",
	}
	if len(rec.Branches) > 0 {
		one.Branch = cut(rec.Branches[0].Name, maxText)
	}
	if !one.Changed.IsZero() {
		one.ChangedAge = age.Words(one.Changed, now())
	}
	if !one.Seen.IsZero() {
		one.SeenAge = age.Words(one.Seen, now())
	}
	shares, err := e.Languages.Of(sn, rec)
	if err != nil {
		return one, err
	}
	if len(shares) > 0 {
		one.Language = shares[0].Name
	}
	return one, httpapi.WorkOf(r.Context()).Yield(r.Context())
}

// link sets the addresses of other parts and orders of the list.
func (d *data) link(from int) {
	to := func(o order, from int) string {
		v := url.Values{}
		if d.Query != "" {
			v.Set("q", d.Query)
		}
		if o != byStars {
			v.Set("sort", string(o))
		}
		if from > 0 {
			v.Set("from", strconv.Itoa(from))
		}
		if len(v) == 0 {
			return Path
		}
		return Path + "?" + v.Encode()
	}
	if from > 0 {
		d.Previous = to(d.Order, max(0, from-perPage))
	}
	if d.Last < d.Total {
		d.Next = to(d.Order, d.Last)
	}
	titles := map[order]string{byStars: "stars", byName: "name", byChange: "last change", byLag: "longest not looked at"}
	for _, o := range strings.Fields(allOrders) {
		d.Orders = append(d.Orders, orderLink{titles[order(o)], to(order(o), 0), order(o) == d.Order})
	}
}

// cut returns the beginning of a text, of n bytes at most.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "\u2026"
}
