package browse

import (
	"embed"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

//go:embed all:pages
var pageFiles embed.FS

var pages = web.MustParse(pageFiles, "pages", nil)

// head is what the pages of a repository have at the top. All URLs are paths
// without the one that the server is reached below.
type head struct {
	Repository, RepositoryURL string
	// Revision is what a person wrote, or the branch that is shown.
	Revision            string
	Commit, CommitShort string
	CommitURL           string
	Crumbs              []crumb
	FilesURL            string
	CommitsURL          string
	BranchesURL         string
	SearchURL           string
	// Path is that of what is shown, as it can be shown.
	Path string
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

// head is that of a place.
func (p *place) head() head {
	h := newHead(p.rec)
	h.Revision, h.Path = shown(p.rev), shown(p.path)
	if len(p.rec.Branches) > 0 && h.Revision == "" {
		h.Revision = p.rec.Branches[0].Name
	}
	h.FilesURL, h.CommitsURL = code.RepositoryURL(p.rec.Name, p.rev), code.CommitsURL(p.rec.Name, p.rev, p.path)
	h.SearchURL = searchIn(p.rec.Name, p.rev)
	if p.commit != "" {
		h.Commit, h.CommitShort, h.CommitURL = p.commit, short(p.commit), code.CommitURL(p.rec.Name, p.commit)
	}
	at := ""
	for part := range strings.SplitSeq(p.path, "/") {
		if part == "" {
			continue
		}
		at = path.Join(at, part)
		c := crumb{Name: shown(part)}
		if at != p.path {
			c.URL = code.TreeURL(p.rec.Name, p.rev, at)
		}
		h.Crumbs = append(h.Crumbs, c)
	}
	return h
}

// servePage answers with a page of this package.
func (e *Endpoint) servePage(w http.ResponseWriter, r *http.Request, name string, data any) error {
	w.Header().Set("X-Robots-Tag", "noindex")
	return e.Pages.ServePage(w, r, pages, web.View{Page: name, Styles: []string{"code.css"}, Scripts: []string{"lines.js"}, Data: data})
}

// redirect leads to another page of this server.
func (e *Endpoint) redirect(w http.ResponseWriter, r *http.Request, to string) error {
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, e.Pages.Path(to), http.StatusFound)
	return nil
}

// personDate tells who did something and when.
type personDate struct {
	Name, Email string
	When        time.Time
}

func newPersonDate(s git.Signature) personDate {
	return personDate{shown(s.Name), shown(s.Email), time.Unix(s.Seconds, 0).UTC()}
}

// commitRow is a commit in a list.
type commitRow struct {
	Subject, Body, URL, Short, TreeURL string
	Author, Committer                  personDate
}

func newCommitRow(repo string, c *git.CommitObject) commitRow {
	subject, body, _ := strings.Cut(c.Message, "\n")
	return commitRow{
		Subject: shown(strings.TrimSpace(subject)), Body: strings.TrimSpace(body), URL: code.CommitURL(repo, c.OID), Short: short(c.OID),
		TreeURL: code.RepositoryURL(repo, c.OID), Author: newPersonDate(c.Author), Committer: newPersonDate(c.Committer),
	}
}
