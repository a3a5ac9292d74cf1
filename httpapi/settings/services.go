package settings

import (
	"net/http"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// hostKind is a kind of external service, with what a configuration looks like.
type hostKind struct {
	Kind, Title, Example string
}

// hostKinds are all of them, in the order of the form.
var hostKinds = []hostKind{
	{"GITHUB", "GitHub, GitHub Enterprise", `{
  "url": "https://github.com",
  "token": "ghp_…",
  "orgs": ["acme"],
  "repos": ["golang/go"],
  "exclude": [{"archived": true}]
}`},
	{"GITLAB", "GitLab", `{
  "url": "https://gitlab.com",
  "token": "glpat-…",
  "groups": ["lab"],
  "projects": [{"name": "lab/kiln"}]
}`},
	{"GITEA", "Gitea, Forgejo", `{
  "url": "https://codeberg.org",
  "token": "…",
  "orgs": ["lab"],
  "repos": ["ann/kiln"]
}`},
	{"BITBUCKETCLOUD", "Bitbucket Cloud", `{
  "url": "https://bitbucket.org",
  "username": "ann",
  "appPassword": "…",
  "teams": ["lab"]
}`},
	{"BITBUCKETSERVER", "Bitbucket Server, Data Center", `{
  "url": "https://bitbucket.example.org",
  "token": "…",
  "projectKeys": ["LAB"]
}`},
	{"GERRIT", "Gerrit", `{
  "url": "https://gerrit.example.org",
  "username": "ann",
  "password": "…",
  "projects": ["kiln"]
}`},
	{hosts.KindOther, "git at any address", `{
  "url": "https://git.example.org",
  "repos": ["lab/kiln", "lab/glaze"]
}`},
}

// titleOf is what people call a kind.
func titleOf(kind string) string {
	for _, k := range hostKinds {
		if k.Kind == kind {
			return k.Title
		}
	}
	return kind
}

// errNoService is the answer if there is none with the number of the path.
var errNoService = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such external service"}

// services returns the external services.
func (v *visit) services() (*manage.Services, error) {
	if v.kept == nil || v.area.Services == nil {
		return nil, errOpening
	}
	asked := v.area.Services()
	if asked == nil {
		return nil, errOpening
	}
	return &manage.Services{Kept: v.kept, Hosts: asked, Actor: v.Actor}, nil
}

// serviceRow is what pages show of a service.
type serviceRow struct {
	ID                uint32
	Name, Title, Host string
	Path              string
	Repositories      int
	Declared          bool
	LastSync          time.Time
	Error, Warning    string
}

func newServiceRow(v *visit, s *saved.Service) serviceRow {
	row := serviceRow{
		ID: s.ID, Name: brief(s.DisplayName), Title: titleOf(s.Kind), Path: v.area.Server.Path(servicesPath + "/" + strconv.FormatUint(uint64(s.ID), 10)), Repositories: len(s.Repositories),
		Declared: s.Declared != "", LastSync: s.LastSync, Error: brief(redact.Text(s.LastError)), Warning: brief(redact.Text(s.Warning)),
	}
	if c, err := hosts.ParseDeclared(s.Kind, s.Config); err == nil && c.URL != nil {
		row.Host = brief(redact.URL(c.URL.String()))
	}
	return row
}

// servicesData is what the list of external services shows.
type servicesData struct {
	frame
	paging
	Services []serviceRow
	Kinds    []hostKind
	// Kind, Name and Config are what was filled in.
	Kind, Name, Config string
	Preview            *previewData
}

func (d *servicesData) fill(v *visit) error {
	of, err := v.services()
	if err != nil {
		return err
	}
	all, err := of.All()
	if err != nil {
		return err
	}
	d.Kinds = hostKinds
	var rows []serviceRow
	for _, s := range all {
		if row := newServiceRow(v, s); matches(searchedFor(v.r), row.Name, row.Title, row.Host) {
			rows = append(rows, row)
		}
	}
	d.paging = newPaging(v.r, d.Path, len(rows))
	d.Services = shown(d.paging, rows)
	return nil
}

// filledService is what was filled in of a new service.
func (v *visit) filledService() *servicesData {
	return &servicesData{Kind: v.value("kind"), Name: v.value("name"), Config: unbroken(v.form.Values["config"])}
}

// addService keeps a new external service.
func addService(v *visit) (answer, error) {
	d := v.filledService()
	of, err := v.services()
	if err != nil {
		return answer{data: d}, err
	}
	if _, err := of.Add(d.Kind, d.Name, d.Config); err != nil {
		return answer{data: d}, err
	}
	return answer{did: "added"}, nil
}

// previewNewService shows what a service would have, and keeps nothing.
func previewNewService(v *visit) (answer, error) {
	d := v.filledService()
	of, err := v.services()
	if err != nil {
		return answer{data: d}, err
	}
	p, err := of.PreviewNew(v.r.Context(), d.Kind, d.Config)
	if err == nil {
		d.Preview = newPreview(p)
	}
	return answer{data: d}, err
}

// serviceData is what the page of an external service shows.
type serviceData struct {
	frame
	Row serviceRow
	// Name and Config are what was filled in, or what there is without secrets.
	Name, Config string
	// Were stands for what there is: a form that was filled in over another state is not taken.
	Were string
	// Hook is the address for webhooks, "" for none.
	Hook             string
	Creator, Updater string
	Created, Updated time.Time
	// List is the path of the list.
	List    string
	Preview *previewData

	// filled says that a form was filled in, overtaken that it was over another state.
	filled, overtaken bool
}

// service finds the one of the path.
func (v *visit) service() (*manage.Services, *saved.Service, error) {
	of, err := v.services()
	if err != nil {
		return nil, nil, err
	}
	s, err := of.Find(v.number())
	if isGone(err) {
		err = errNoService
	}
	return of, s, err
}

// serviceMark stands for what the form of a service has.
func serviceMark(s *saved.Service) string {
	return markOf(s.DisplayName + "\x00" + s.Config + "\x00" + s.Updated.String())
}

func (d *serviceData) fill(v *visit) error {
	_, s, err := v.service()
	if err != nil {
		return err
	}
	d.Row, d.List = newServiceRow(v, s), v.area.Server.Path(servicesPath)
	d.Created, d.Updated = s.Created, s.Updated
	if d.Creator, err = v.nameOf(s.Creator); err != nil {
		return err
	}
	if d.Updater, err = v.nameOf(s.Updater); err != nil {
		return err
	}
	if d.Were = serviceMark(s); !d.filled {
		d.Name, d.Config = s.DisplayName, hosts.Redact(s.Config)
	} else if was, ok := v.form.Values["was"]; ok && !d.overtaken {
		d.Were = was // what was filled in stays made of what it was made of
	}
	if c, err := hosts.ParseDeclared(s.Kind, s.Config); err == nil && c.TakesHooks() {
		d.Hook = auth.BaseURL(v.area.Server.ExternalURL, v.r) + hooks.PathOf(s.ID)
	}
	return nil
}

// nameOf is the name of a user; 0 is the operator.
func (v *visit) nameOf(id uint32) (string, error) {
	if id == 0 {
		return "the operator", nil
	}
	u, err := v.Registry.User(id)
	if isGone(err) {
		return "a user who is gone", nil
	}
	if err != nil {
		return "", err
	}
	return u.Name, nil
}

// changeService gives a service the name and configuration that were filled in.
func changeService(v *visit) (answer, error) {
	of, s, err := v.service()
	if err != nil {
		return answer{}, err
	}
	d := &serviceData{Name: v.value("name"), Config: unbroken(v.form.Values["config"]), filled: true}
	_, err = of.Change(s.ID, &d.Name, &d.Config, func(now *saved.Service) error {
		if v.unchanged(serviceMark(now)) == nil {
			return nil
		}
		d.overtaken = true
		return &identity.RuleError{Text: "This was changed meanwhile. What you filled in is not saved yet: saving it again replaces that change"}
	})
	if err != nil {
		return answer{data: d}, err
	}
	return answer{did: "saved"}, nil
}

// previewService shows what the configuration that was filled in would change.
func previewService(v *visit) (answer, error) {
	of, s, err := v.service()
	if err != nil {
		return answer{}, err
	}
	d := &serviceData{Name: s.DisplayName, Config: hosts.Redact(s.Config), filled: true}
	var config *string
	if filled, ok := v.form.Values["config"]; ok && s.Declared == "" {
		d.Name, d.Config = v.value("name"), unbroken(filled)
		config = &d.Config
	}
	p, err := of.Preview(v.r.Context(), s.ID, config)
	if err == nil {
		d.Preview = newPreview(p)
	}
	return answer{data: d}, err
}

// syncService has a service asked soon.
func syncService(v *visit) (answer, error) {
	of, s, err := v.service()
	if err == nil {
		err = of.Sync(s.ID)
	}
	return answer{did: "sync"}, err
}

// removeService forgets a service and the repositories that only it has.
func removeService(v *visit) (answer, error) {
	of, s, err := v.service()
	if err == nil {
		err = of.Remove(v.r.Context(), s.ID)
	}
	return answer{did: "removed", to: servicesPath}, err
}

// previewData is what asking a service would change.
type previewData struct{ Parts []previewPart }

// previewPart are the repositories that one thing would happen to.
type previewPart struct {
	Title string
	Names []string
}

func newPreview(p manage.ServicePreview) *previewData {
	out := &previewData{}
	for _, part := range []previewPart{
		{"Added", p.Added}, {"Renamed", p.Renamed}, {"Changed", p.Changed}, {"Hidden: the host does not list them any more", p.Hidden}, {"Removed", p.Removed}, {"Warnings", p.Warnings},
	} {
		if len(part.Names) == 0 {
			continue
		}
		names, more := few(part.Names)
		for i := range names {
			names[i] = brief(redact.Text(names[i]))
		}
		out.Parts = append(out.Parts, previewPart{part.Title, andMore(names, more)})
	}
	return out
}
