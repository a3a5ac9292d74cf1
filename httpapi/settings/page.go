package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

// page is what a section shows, and the forms on it.
type page struct {
	// path may hold {user}, whom the page is about then, and {id}.
	path, template string
	// done has what the page says after an action, by the word of its answer: no
	// link puts words into the page.
	done map[string]string
	// blank is what the page shows before anything is filled in.
	blank   func() content
	actions []action
	// scripts are those of the page beside that of all forms.
	scripts []string
}

// action is a form: its path behind that of the page, and what it does.
type action struct {
	path string
	do   func(v *visit) (answer, error)
}

// answer is what an action came to: a redirect, or a page that shows what cannot be
// shown again. With an error it is the page that shows what was filled in.
type answer struct {
	// did is a word of done of the page to go on to, which is that of the action
	// unless to says so; query is more of its address.
	did, to string
	query   url.Values
	// data is shown in place of a redirect, by the template of the page unless
	// template says so.
	data     content
	template string
}

// content is the data of a page. It embeds a frame.
type content interface {
	common() *frame
	// fill reads what the page shows beside what was filled in.
	fill(v *visit) error
}

// frame is what all pages show.
type frame struct {
	notice
	subject
	// Path is that of the page.
	Path string
}

func (f *frame) common() *frame { return f }

// notice is what a form came to, in the words of its page.
type notice struct {
	// Done is what was done, Problem what was not and why.
	Done, Problem string
}

// subject is the user whom a page is about.
type subject struct {
	*identity.User
	// Self says that it is who asks.
	Self bool
}

// visit is one request for a page, or of a form on it.
type visit struct {
	*manage.Operations
	area    *Area
	section *section
	page    *page
	w       http.ResponseWriter
	r       *http.Request
	// subject is set if the path of the page names a user, and path has that name in
	// it. kept is nil until the data directory is open.
	kept    *manage.Kept
	subject subject
	path    string
	form    httpapi.Form
}

// errNoUser is the answer whether there is no such user or it is none of the
// client's business.
var errNoUser = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such user"}

// visit finds the user whom the path of a request names, for themselves and for
// site admins.
func (a *Area) visit(w http.ResponseWriter, r *http.Request, s *section, p *page) (*visit, error) {
	v := &visit{area: a, section: s, page: p, w: w, r: r, path: p.path, kept: a.Kept(), Operations: &manage.Operations{
		Actor: auth.From(r.Context()), Registry: a.Server.Gate.Registry(), Apps: a.Apps(), Repositories: a.Repositories(), Site: a.Site, Backups: a.Backups(),
	}}
	name, of := mux.Vars(r)["user"]
	if !of {
		v.path = v.pathOf("")
		return v, nil
	}
	u, err := v.Registry.UserNamed(name)
	if isGone(err) || err == nil && !v.Actor.IsOrAdministers(u.ID) {
		return nil, errNoUser
	}
	if err != nil {
		return nil, err
	}
	v.subject = subject{u, v.Actor.Is(u.ID)}
	v.path = v.pathOf(u.Name)
	return v, nil
}

// pathOf is the path of the page with what the request has in place of its variables.
func (v *visit) pathOf(user string) string {
	return strings.NewReplacer("{user}", url.PathEscape(user), "{id}", url.PathEscape(mux.Vars(v.r)["id"])).Replace(v.page.path)
}

// routes are those of a page and its forms.
func (a *Area) routes(s *section, p *page) []httpapi.Route {
	access := auth.ForSiteAdmins
	if s.group.ofUsers() {
		access = auth.ForUsers
	}
	all := []httpapi.Route{{Method: "GET", Path: p.path, Access: access, Holds: pageHolds, Handler: func(w http.ResponseWriter, r *http.Request) error {
		v, err := a.visit(w, r, s, p)
		if err != nil {
			return err
		}
		return v.show(answer{}, http.StatusOK, notice{Done: p.done[r.URL.Query().Get("done")]})
	}}}
	for _, act := range p.actions {
		// Forms hold as much: a page that shows a secret once must not fail for want of memory.
		all = append(all, httpapi.Route{Method: "POST", Path: p.path + act.path, Access: access, Holds: pageHolds, Handler: func(w http.ResponseWriter, r *http.Request) error {
			v, err := a.visit(w, r, s, p)
			if err != nil {
				return err
			}
			return v.act(act)
		}})
	}
	return all
}

// act reads a form and answers with what its action came to. After a problem the
// page is shown again.
func (v *visit) act(act action) (err error) {
	if v.form, err = v.area.Server.ReadForm(v.w, v.r); err != nil {
		return err
	}
	out, err := act.do(v)
	if err != nil {
		status, n, err := problem(v.w, err)
		if err != nil {
			return err
		}
		return v.show(out, status, n)
	}
	if out.data != nil {
		return v.show(out, http.StatusOK, notice{})
	}
	query := url.Values{"done": {out.did}}
	for name, values := range out.query {
		if values[0] != "" {
			query[name] = values
		}
	}
	v.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.w, v.r, v.area.Server.Path(cmp.Or(out.to, v.path))+"?"+query.Encode(), http.StatusSeeOther)
	return nil
}

// show answers with the page, filled in.
func (v *visit) show(out answer, status int, n notice) error {
	if out.data == nil {
		out.data = v.page.blank()
	}
	f := out.data.common()
	f.notice, f.Path = n, v.area.Server.Path(v.path)
	if f.User == nil {
		f.subject = v.subject
	}
	if err := out.data.fill(v); err != nil {
		return err
	}
	here := v.section.path
	if v.section.group.ofUsers() && !f.Self {
		here = usersPath
	}
	return v.area.Serve(v.w, v.r, pages, web.View{Page: cmp.Or(out.template, v.page.template), Status: status, Here: here, Scripts: v.page.scripts, Data: out.data})
}

// number is the one that the path of the request has, 0 if it is none.
func (v *visit) number() uint32 {
	id, _ := strconv.ParseUint(mux.Vars(v.r)["id"], 10, 32)
	return uint32(id)
}

// value is what was filled in under a name, without space around it.
func (v *visit) value(name string) string { return strings.TrimSpace(v.form.Values[name]) }
