package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// errOpening is the answer until the data directory is open.
var errOpening = &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}

// briefRunes is how much of a query or description a row shows.
const briefRunes = 300

// brief is the beginning of a text.
func brief(text string) string {
	n := 0
	for i := range text {
		if n++; n > briefRunes {
			return text[:i] + "…"
		}
	}
	return text
}

// owners are whom searches of a user may belong to: the user, and organisations of
// theirs. Owner is the one that was filled in, as OwnerValue writes it.
type owners struct {
	Owner  string
	Owners []ownerChoice
}

// ownerChoice is one of them.
type ownerChoice struct{ Value, Name string }

// ownerValue is an owner in a form: its kind and number.
func ownerValue(of saved.Subject) string {
	return string(rune(of.Kind)) + strconv.FormatUint(uint64(of.ID), 10)
}

// readOwner is the opposite of ownerValue. What is none is nobody, who may own nothing.
func readOwner(text string) (of saved.Subject) {
	if text == "" {
		return of
	}
	id, err := strconv.ParseUint(text[1:], 10, 32)
	if err != nil {
		return of
	}
	return saved.Subject{Kind: saved.SubjectKind(text[0]), ID: uint32(id)}
}

// names are those of the owners of a user's searches.
func (v *visit) owners() (map[saved.Subject]string, error) {
	of, err := v.Registry.OrgsOf(v.subject.ID)
	if err != nil {
		return nil, err
	}
	names := map[saved.Subject]string{{Kind: saved.SubjectUser, ID: v.subject.ID}: v.subject.Name}
	for _, id := range of {
		switch o, err := v.Registry.Org(id); {
		case err == nil:
			names[saved.Subject{Kind: saved.SubjectOrg, ID: id}] = o.Name
		case !isGone(err):
			return nil, err
		}
	}
	return names, nil
}

// choose lists the owners, the user first.
func (o *owners) choose(v *visit, names map[saved.Subject]string) {
	self := ownerValue(saved.Subject{Kind: saved.SubjectUser, ID: v.subject.ID})
	for of, name := range names {
		if value := ownerValue(of); value != self {
			o.Owners = append(o.Owners, ownerChoice{value, "the organisation " + name})
		}
	}
	slices.SortFunc(o.Owners, func(a, b ownerChoice) int { return cmp.Compare(a.Name, b.Name) })
	first := "you"
	if !v.subject.Self {
		first = v.subject.Name
	}
	o.Owners = slices.Insert(o.Owners, 0, ownerChoice{self, first})
	o.Owner = cmp.Or(o.Owner, self)
}

// searches returns the saved searches of who asks.
func (v *visit) searches() *manage.Searches { return &manage.Searches{Kept: v.kept, Actor: v.Actor} }

// searchesData is what the list of saved searches shows.
type searchesData struct {
	frame
	paging
	owners
	Searches []searchRow
	// Description and Text are what was filled in.
	Description, Text string
}

// searchRow is a line of the list.
type searchRow struct {
	Title, Query, Owner string
	Path                string
	Updated             time.Time
	// Monitored says that it has a monitor.
	Monitored bool
}

// newSearchRow shows a search below the page of a user's searches.
func newSearchRow(s *saved.Search, owner, path string) searchRow {
	return searchRow{
		Title: brief(cmp.Or(strings.TrimSpace(s.Description), s.Query)), Query: brief(s.Query), Owner: owner,
		Path: path + "/" + strconv.FormatUint(uint64(s.ID), 10), Updated: s.Updated,
	}
}

// fill lists the searches of the user and their organisations, those that were
// changed last coming first.
func (d *searchesData) fill(v *visit) error {
	if v.kept == nil {
		return errOpening
	}
	names, err := v.owners()
	if err != nil {
		return err
	}
	if v.r.Method == http.MethodGet {
		d.Text, d.Description = v.r.URL.Query().Get("query"), v.r.URL.Query().Get("description")
	}
	d.choose(v, names)
	type listed struct {
		id      uint32
		updated time.Time
	}
	q, all := searchedFor(v.r), []listed{}
	err = v.searches().Each(func(s *saved.Search) {
		if _, ok := names[s.Owner]; ok && matches(q, s.Description, s.Query) {
			all = append(all, listed{s.ID, s.Updated})
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(b.id, a.id)) })
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, l := range shown(d.paging, all) {
		s, err := v.searches().Find(l.id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		row := newSearchRow(s, names[s.Owner], d.Path)
		switch _, err := v.monitors().Find(s.ID); {
		case err == nil:
			row.Monitored = true
		case !isGone(err):
			return err
		}
		d.Searches = append(d.Searches, row)
	}
	return nil
}

// keepSearch saves a search.
func keepSearch(v *visit) (answer, error) {
	d := &searchesData{Description: v.value("description"), Text: v.value("query"), owners: owners{Owner: v.form.Values["owner"]}}
	if v.kept == nil {
		return answer{data: d}, nil // which it cannot fill in
	}
	owner := saved.Subject{Kind: saved.SubjectUser, ID: v.subject.ID}
	if d.Owner != "" {
		owner = readOwner(d.Owner)
	}
	_, err := v.searches().Create(owner, d.Description, d.Text)
	if err != nil {
		return answer{data: d}, err
	}
	return answer{did: "kept"}, nil
}

// searchData is what the page of a saved search shows.
type searchData struct {
	frame
	owners
	Row searchRow
	// Description and Text are what was filled in, or what is saved.
	Description, Text string
	// List is the path of the list.
	List    string
	Monitor monitorData

	filled filledIn
}

// filledIn says which form of the page of a saved search was filled in.
type filledIn byte

const (
	noForm filledIn = iota
	searchForm
	monitorForm
)

func (d *searchData) fill(v *visit) error {
	s, names, err := v.search()
	if err != nil {
		return err
	}
	d.List = strings.TrimSuffix(d.Path, "/"+mux.Vars(v.r)["id"])
	d.Row = newSearchRow(s, names[s.Owner], d.List)
	if d.filled != searchForm {
		d.Description, d.Text, d.Owner = s.Description, s.Query, ownerValue(s.Owner)
	}
	d.choose(v, names)
	return d.Monitor.fill(v, s.ID, d.filled == monitorForm)
}

// errNoSearch is the answer whether there is no such search or it is none of the
// client's business.
var errNoSearch = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such saved search"}

// search finds the one of the path among those of the user, with the names of the
// owners that it may have.
func (v *visit) search() (*saved.Search, map[saved.Subject]string, error) {
	if v.kept == nil {
		return nil, nil, errOpening
	}
	names, err := v.owners()
	if err != nil {
		return nil, nil, err
	}
	s, err := v.searches().Find(v.number())
	if isGone(err) || err == nil && names[s.Owner] == "" {
		return nil, nil, errNoSearch
	}
	return s, names, err
}

// changeSearch changes what a search says, and who owns it.
func changeSearch(v *visit) (answer, error) {
	d := &searchData{Description: v.value("description"), Text: v.value("query"), owners: owners{Owner: v.form.Values["owner"]}, filled: searchForm}
	s, _, err := v.search()
	if err != nil {
		return answer{}, err
	}
	if _, err = v.searches().Change(s.ID, d.Description, d.Text); err != nil {
		return answer{data: d}, err
	}
	if to := readOwner(d.Owner); d.Owner != "" && to != s.Owner {
		if _, err = v.searches().Transfer(s.ID, to); err != nil {
			return answer{data: d}, err
		}
	}
	return answer{did: "saved"}, nil
}

func deleteSearch(v *visit) (answer, error) {
	s, _, err := v.search()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "deleted", to: userPath(v.subject.Name) + "/searches"}, v.searches().Delete(s.ID)
}

// searchRoutes lead to the answer of a saved search, and from the address of one of an
// organisation, which other programs link to, to its page.
func (a *Area) searchRoutes() []httpapi.Route {
	p := &page{path: "/users/{user}/searches/{id}"}
	return []httpapi.Route{
		{Method: "GET", Path: p.path + "/run", Access: auth.ForUsers, Holds: httpapi.PageHolds, Handler: func(w http.ResponseWriter, r *http.Request) error {
			v, err := a.visit(w, r, nil, p)
			if err != nil {
				return err
			}
			s, _, err := v.search()
			if err != nil {
				return err
			}
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, a.Server.Path("/search?q=")+url.QueryEscape(s.Query), http.StatusFound)
			return nil
		}},
		{Method: "GET", Path: "/organizations/{org}/searches/{id}", Access: auth.ForUsers, Handler: func(w http.ResponseWriter, r *http.Request) error {
			u := auth.From(r.Context()).User
			if u == nil {
				return errNoAccount
			}
			http.Redirect(w, r, a.Server.Path(userPath(u.Name)+"/searches/"+url.PathEscape(mux.Vars(r)["id"])), http.StatusFound)
			return nil
		}},
	}
}
