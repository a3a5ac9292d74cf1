package browse

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// commitsPage is how many commits a page lists, maxSkipped how far pages go.
	commitsPage = 50
	maxSkipped  = 1_000_000
)

// commitsData is what a list of commits shows.
type commitsData struct {
	head
	Commits []commitRow
	// Newer and Older are the addresses of the pages beside this one.
	Newer, Older string
}

// serveCommits lists the commits that led to a revision.
func (e *Endpoint) serveCommits(w http.ResponseWriter, r *http.Request) error {
	skip, err := skipOf(r)
	if err != nil {
		return err
	}
	p, err := e.find(r)
	if err != nil {
		return err
	}
	defer p.close()
	data := commitsData{head: p.head()}
	if p.commit == "" {
		return e.servePage(w, r, "commits.html", data)
	}
	data.Commits, err = p.history(r, []string{p.commit}, git.HistoryOptions{Path: p.path, Skip: skip, Max: commitsPage + 1})
	if err != nil {
		return err
	}
	here := code.CommitsURL(p.rec.Name, p.rev, p.path)
	if len(data.Commits) > commitsPage {
		data.Commits = data.Commits[:commitsPage]
		data.Older = here + "?skip=" + strconv.Itoa(skip+commitsPage)
	}
	if skip > 0 {
		data.Newer = here + "?skip=" + strconv.Itoa(max(0, skip-commitsPage))
	}
	return e.servePage(w, r, "commits.html", data)
}

func skipOf(r *http.Request) (int, error) {
	text := r.URL.Query().Get("skip")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxSkipped {
		return 0, &httpapi.Error{Status: http.StatusBadRequest, Message: "skip must be a number of commits, a million at most"}
	}
	return n, nil
}

// history reads commits in git's order.
func (p *place) history(r *http.Request, revs []string, o git.HistoryOptions) ([]commitRow, error) {
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return nil, err
	}
	var out []commitRow
	err = repo.History(r.Context(), revs, o, func(oid string) error {
		c, err := p.code.Commit(r.Context(), oid)
		if err != nil {
			return p.readable(err)
		}
		out = append(out, newCommitRow(p.rec.Name, c))
		return nil
	})
	return out, err
}

// branchesData is what the list of branches and tags shows.
type branchesData struct {
	head
	Branches, Tags []refRow
	// More says that there are others.
	More bool
}

// refRow is a branch or tag.
type refRow struct {
	Name, URL, CompareURL, CommitsURL string
	Short, CommitURL                  string
	Default                           bool
}

// maxShownRefs is how many branches and tags a page lists.
const maxShownRefs = 1000

// serveBranches lists branches and tags, the newest first.
func (e *Endpoint) serveBranches(w http.ResponseWriter, r *http.Request) error {
	p, err := e.find(r)
	if err != nil {
		return err
	}
	defer p.close()
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return err
	}
	data := branchesData{head: p.head()}
	main := ""
	if len(p.rec.Branches) > 0 {
		main = p.rec.Branches[0].Name
	}
	for prefix, list := range map[string]*[]refRow{"refs/heads/": &data.Branches, "refs/tags/": &data.Tags} {
		err := repo.EachRef(r.Context(), true, []string{prefix}, func(ref git.Ref) error {
			if len(*list) == maxShownRefs {
				data.More = true
				return errEnough
			}
			name := ref.Name[len(prefix):]
			row := refRow{Name: shown(name), URL: code.RepositoryURL(p.rec.Name, name), CommitsURL: code.CommitsURL(p.rec.Name, name, "")}
			row.Default = prefix == "refs/heads/" && name == main
			if main != "" && !row.Default {
				row.CompareURL = code.CompareURL(p.rec.Name, main, name)
			}
			if ref.Commit != "" {
				row.Short, row.CommitURL = short(ref.Commit), code.CommitURL(p.rec.Name, ref.Commit)
			}
			*list = append(*list, row)
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return e.servePage(w, r, "branches.html", data)
}

// errEnough ends a listing.
var errEnough = errors.New("enough")
