package browse

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

//go:embed all:pages
var pageFiles embed.FS

var pages = web.NewTemplates(pageFiles, "pages", template.FuncMap{"part": newPart})

// part is what a template that is used in several places is given.
type part struct {
	Base string
	Part any
}

func newPart(f web.Frame, data any) part { return part{f.Base, data} }

// head is what the pages of a repository have at the top. All URLs are paths
// without the one that the server is reached below.
type head struct {
	Repository, RepositoryURL string
	// Revision is what a person wrote, or the branch that is shown; Asked is that of the
	// address as it is.
	Revision, Asked     string
	Commit, CommitShort string
	CommitURL           string
	Crumbs              []crumb
	FilesURL            string
	CommitsURL          string
	BranchesURL         string
	SearchURL           string
	// SwitchURL leads to what is shown at other revisions.
	SwitchURL string
	// Path is that of what is shown, as it can be shown.
	Path string
	// Missing says what cannot be shown because the source is gone, "" if it is
	// there.
	Missing string
}

// crumb is a part of a path; the last has no URL.
type crumb struct{ Name, URL string }

func newHead(rec *store.Repository) head {
	return head{
		Repository: rec.Name, RepositoryURL: code.RepositoryURL(rec.Name, ""), FilesURL: code.RepositoryURL(rec.Name, ""),
		CommitsURL: code.CommitsURL(rec.Name, "", ""), BranchesURL: code.BranchesURL(rec.Name), SearchURL: searchIn(rec.Name, ""),
	}
}

// searchIn is the address of the search page, with a repository filled in.
func searchIn(name, rev string) string {
	q := "repo:^" + regexp.QuoteMeta(name) + "$"
	if rev != "" && !strings.ContainsAny(rev, " :*") {
		q += "@" + rev
	}
	return "/search?q=" + url.QueryEscape(q+" ")
}

// head is the head of the page of a target.
func (p *target) head() head {
	h := newHead(p.rec)
	h.Revision, h.Asked, h.Path = shown(p.rev), p.rev, shown(p.path)
	if len(p.rec.Branches) > 0 && h.Revision == "" {
		h.Revision = p.rec.Branches[0].Name
	}
	h.FilesURL, h.CommitsURL = code.RepositoryURL(p.rec.Name, p.rev), code.CommitsURL(p.rec.Name, p.rev, p.path)
	h.SearchURL = searchIn(p.rec.Name, p.rev)
	if p.commit != "" {
		h.Commit, h.CommitShort, h.CommitURL = p.commit, short(p.commit), code.CommitURL(p.rec.Name, p.commit)
	}
	h.Crumbs, h.Missing = p.crumbs(), p.missing()
	h.SwitchURL = switchURL(p.rec.Name, p.path, "")
	return h
}

// switchURL is the address of the list of branches and tags that leads to a path, in
// one of the views.
func switchURL(name, path, view string) string {
	values := url.Values{}
	if path != "" {
		values.Set("path", path)
	}
	if view != "" {
		values.Set("view", view)
	}
	if len(values) == 0 {
		return code.BranchesURL(name)
	}
	return code.BranchesURL(name) + "?" + values.Encode()
}

// maxCrumbs is how many parts of a path are links.
const maxCrumbs = 32

// crumbs are the parts of the path. Very long paths lose those in the middle:
// each is a link with all parts before it.
func (p *target) crumbs() []crumb {
	if p.path == "" {
		return nil
	}
	var out []crumb
	parts := strings.Split(p.path, "/")
	for i, part := range parts {
		if left := len(parts) - maxCrumbs; left > 0 && i >= maxCrumbs/2 && i < maxCrumbs/2+left {
			if i == maxCrumbs/2 {
				out = append(out, crumb{Name: "\u2026"})
			}
			continue
		}
		c := crumb{Name: shown(part)}
		if i < len(parts)-1 {
			c.URL = code.TreeURL(p.rec.Name, p.rev, strings.Join(parts[:i+1], "/"))
		}
		out = append(out, c)
	}
	return out
}

// answer is a page with its data, or where a request is led to instead.
type answer struct {
	page     string
	data     any
	redirect string
	// elsewhere is the same without the query of the request.
	elsewhere string
	// scripts are those of the page beside those of all.
	scripts []string
}

// show returns a handler that answers with what build makes of a target. What
// build has read is let go of before the answer is sent.
func (e *Endpoint) show(build func(r *http.Request, p *target) (answer, error)) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		a, err := e.build(r, build)
		if err != nil {
			return err
		}
		if a.elsewhere != "" {
			http.Redirect(w, r, e.Pages.Path(a.elsewhere), http.StatusFound)
			return nil
		}
		if a.redirect != "" {
			return e.redirect(w, r, a.redirect)
		}
		w.Header().Set("X-Robots-Tag", "noindex")
		return e.Pages.ServePage(w, r, pages, web.View{
			Page: a.page, Compress: true, Reflected: reflects(r.URL.RawQuery), Styles: []string{"code.css"},
			Scripts: append([]string{"lines.js", "switch.js", "finder.js"}, a.scripts...), Data: a.data,
		})
	}
}

func (e *Endpoint) build(r *http.Request, build func(r *http.Request, p *target) (answer, error)) (answer, error) {
	p, err := e.find(r)
	if err != nil {
		return answer{}, e.near(r, nil, err)
	}
	defer p.close()
	a, err := build(r, p)
	return a, e.near(r, p, err)
}

// redirect leads to another page of this server.
func (e *Endpoint) redirect(w http.ResponseWriter, r *http.Request, to string) error {
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, e.Pages.Path(to), http.StatusFound)
	return nil
}

// personDate returns the name of a person and a date.
type personDate struct {
	Name, Email string
	When        time.Time
}

func newPersonDate(s git.Signature) personDate {
	return personDate{shown(strings.Clone(cut(s.Name, maxSubject))), shown(strings.Clone(cut(s.Email, maxSubject))), time.Unix(s.Seconds, 0).UTC()}
}

// commitRow is a commit in a list.
type commitRow struct {
	Subject, URL, Short, TreeURL string
	Author, Committer            personDate
	// As is the path that a file had then, "" if it has it still, and FileURL the file there.
	As, FileURL string
}

// maxSubject is how many bytes of the first line of a message are shown.
const maxSubject = 500

// newCommitRow holds nothing of the commit, which may be megabytes.
func newCommitRow(repo string, c *git.CommitObject) commitRow {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return commitRow{
		Subject: shown(strings.Clone(cut(strings.TrimSpace(subject), maxSubject))), URL: code.CommitURL(repo, c.OID), Short: short(c.OID),
		TreeURL: code.RepositoryURL(repo, c.OID), Author: newPersonDate(c.Author), Committer: newPersonDate(c.Committer),
	}
}
