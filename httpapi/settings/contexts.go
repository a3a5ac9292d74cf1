package settings

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// contexts returns the search contexts of who asks.
func (v *visit) contexts() *manage.Contexts { return &manage.Contexts{Kept: v.kept, Actor: v.Actor} }

// contextsData is what the list of search contexts shows.
type contextsData struct {
	frame
	paging
	contextForm
	Contexts []contextRow
	// Chosen is the one of searches that name none, "" for all repositories.
	Chosen string
}

// contextRow is a line of the list.
type contextRow struct {
	Spec, Description, What, Path string
	Number                        uint32
	Public, Manages               bool
	Default, Starred              bool
}

// contextForm is what a form for a context was filled in with. Repositories has one a
// line, with revisions as behind repo:.
type contextForm struct {
	owners
	Title, Description, Text, Repositories string
	Private                                bool
}

func newContextRow(v *visit, c *saved.Context, choice *saved.ContextChoice) (contextRow, error) {
	spec, err := v.contexts().Spec(c)
	row := contextRow{
		Spec: spec, Description: brief(c.Description), What: brief(c.Query), Number: c.ID, Public: c.Public, Manages: v.contexts().Manages(c),
		Default: choice.Default == c.ID, Starred: slices.Contains(choice.Starred, c.ID),
	}
	return row, err
}

// fill lists the contexts that who asks may see.
func (d *contextsData) fill(v *visit) error {
	if v.kept == nil {
		return errOpening
	}
	names, err := v.owners()
	if err != nil {
		return err
	}
	d.choose(v, names)
	if v.Actor.SiteAdmin() {
		d.Owners = append(d.Owners, ownerChoice{ownerValue(manage.SiteOwner), "everyone on this server"})
	}
	choice, err := v.contexts().Choice(v.subject.ID)
	if err != nil {
		return err
	}
	var all []*saved.Context
	q := searchedFor(v.r)
	if err := v.contexts().Each(func(c *saved.Context) { all = append(all, c) }); err != nil {
		return err
	}
	rows := []contextRow{}
	for _, c := range all {
		row, err := newContextRow(v, c, choice)
		if err != nil {
			return err
		}
		if row.Spec == "" || !matches(q, row.Spec, row.Description) {
			continue
		}
		if c.Query == "" {
			row.What = ""
		}
		row.Path = d.Path + "/" + strconv.FormatUint(uint64(c.ID), 10)
		if row.Default {
			d.Chosen = row.Spec
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b contextRow) int { return cmp.Compare(a.Spec, b.Spec) })
	d.paging = newPaging(v.r, d.Path, len(rows))
	d.Contexts = shown(d.paging, rows)
	return nil
}

// readContext reads the form of a context.
func (v *visit) readContext() (form contextForm, fields manage.ContextFields, err error) {
	form = contextForm{
		owners: owners{Owner: v.form.Values["owner"]}, Title: v.value("name"), Description: v.value("description"),
		Text: v.value("query"), Repositories: v.value("repositories"), Private: v.form.Values["private"] != "",
	}
	fields = manage.ContextFields{Name: form.Title, Description: form.Description, Query: form.Text, Public: !form.Private}
	fields.Repositories, err = v.listedRepositories(form.Repositories)
	return form, fields, err
}

// listedRepositories reads repositories, one a line.
func (v *visit) listedRepositories(text string) (out []saved.ContextRepository, err error) {
	sn := v.kept.Store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	for line := range strings.Lines(text) {
		name, revisions, _ := strings.Cut(strings.TrimSpace(line), "@")
		if name == "" {
			continue
		}
		r, err := sn.Repository(name)
		if isGone(err) || err == nil && !v.Actor.CanSee(r) {
			return nil, &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "There is no repository " + strconv.Quote(brief(name))}
		}
		if err != nil {
			return nil, err
		}
		one := saved.ContextRepository{ID: r.ID}
		if revisions != "" {
			one.Revisions = strings.Split(revisions, ":")
		}
		out = append(out, one)
	}
	return out, nil
}

func createContext(v *visit) (answer, error) {
	if v.kept == nil {
		return answer{}, errOpening
	}
	form, fields, err := v.readContext()
	d := &contextsData{contextForm: form}
	if err != nil {
		return answer{data: d}, err
	}
	owner := saved.Subject{Kind: saved.SubjectUser, ID: v.subject.ID}
	if form.Owner != "" {
		owner = readOwner(form.Owner)
	}
	if _, err := v.contexts().Create(owner, fields); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "made"}, nil
}

// contextData is what the page of a search context shows.
type contextData struct {
	frame
	contextForm
	Row contextRow
	// List is the path of the list; Hidden counts the repositories that who asks may not
	// see.
	List   string
	Hidden int
}

var errNoContext = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such search context"}

// context finds the one of the path, with its spec.
func (v *visit) context() (*saved.Context, string, error) {
	if v.kept == nil {
		return nil, "", errOpening
	}
	c, err := v.contexts().FindByID(v.number())
	if isGone(err) {
		return nil, "", errNoContext
	}
	if err != nil {
		return nil, "", err
	}
	spec, err := v.contexts().Spec(c)
	if err == nil && spec == "" {
		err = errNoContext
	}
	return c, spec, err
}

func (d *contextData) fill(v *visit) error {
	c, _, err := v.context()
	if err != nil {
		return err
	}
	choice, err := v.contexts().Choice(v.subject.ID)
	if err != nil {
		return err
	}
	if d.Row, err = newContextRow(v, c, choice); err != nil {
		return err
	}
	d.List = strings.TrimSuffix(d.Path, "/"+mux.Vars(v.r)["id"])
	repositories, hidden, err := v.namesOf(c)
	if err != nil {
		return err
	}
	d.Hidden = hidden
	if v.r.Method == http.MethodGet {
		d.Title, d.Description, d.Text, d.Private, d.Repositories = c.Name, c.Description, c.Query, !c.Public, repositories
	}
	return nil
}

// namesOf writes the repositories of a context as its form has them. hidden counts
// those that who asks may not see.
func (v *visit) namesOf(c *saved.Context) (text string, hidden int, err error) {
	sn := v.kept.Store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	var out strings.Builder
	for _, r := range c.Repositories {
		at := sn.RepositoryByID(r.ID)
		if at == nil || !v.Actor.CanSee(at) {
			hidden++
			continue
		}
		out.WriteString(at.Name)
		if len(r.Revisions) > 0 {
			out.WriteString("@" + strings.Join(r.Revisions, ":"))
		}
		out.WriteByte('\n')
	}
	return out.String(), hidden, nil
}

func changeContext(v *visit) (answer, error) {
	_, spec, err := v.context()
	if err != nil {
		return answer{}, err
	}
	form, fields, err := v.readContext()
	d := &contextData{contextForm: form}
	if err != nil {
		return answer{data: d}, err
	}
	if _, err := v.contexts().Change(spec, fields); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "saved"}, nil
}

func deleteContext(v *visit) (answer, error) {
	_, spec, err := v.context()
	if err != nil {
		return answer{}, err
	}
	return answer{did: "deleted", to: userPath(v.subject.Name) + "/contexts"}, v.contexts().Delete(spec)
}

// onListed does something with a context for the user of the page, and shows the list
// again.
func onListed(did string, do func(c *manage.Contexts, user uint32, spec string) error) func(v *visit) (answer, error) {
	return func(v *visit) (answer, error) {
		_, spec, err := v.context()
		if err != nil {
			return answer{}, err
		}
		return answer{did: did, to: userPath(v.subject.Name) + "/contexts"}, do(v.contexts(), v.subject.ID, spec)
	}
}

func noDefault(c *manage.Contexts, user uint32, _ string) error {
	return c.SetDefault(user, manage.GlobalContext)
}

func starContext(c *manage.Contexts, user uint32, spec string) error { return c.Star(user, spec, true) }

func unstarContext(c *manage.Contexts, user uint32, spec string) error {
	return c.Star(user, spec, false)
}

// placesShown is how many contexts the search page offers.
const placesShown = 200

// Contexts are those that the search page offers who asks: their own, those of their
// organisations, those that belong to nobody, and those that they marked. chosen is the
// one of searches that name none.
func (a *Area) Contexts(r *http.Request) (all []string, chosen string) {
	kept := a.Kept()
	if kept == nil {
		return nil, ""
	}
	c := &manage.Contexts{Kept: kept, Actor: auth.From(r.Context())}
	choice, err := c.Choice(c.Actor.UserID())
	if err != nil {
		return nil, "" // the page is as good without
	}
	_ = c.Each(func(v *saved.Context) {
		if v.Owner != manage.SiteOwner && !c.Owns(v.Owner) && v.ID != choice.Default && !slices.Contains(choice.Starred, v.ID) || len(all) == placesShown {
			return
		}
		spec, err := c.Spec(v)
		if err != nil || spec == "" {
			return
		}
		all = append(all, spec)
		if v.ID == choice.Default {
			chosen = spec
		}
	})
	slices.Sort(all)
	return all, chosen
}
