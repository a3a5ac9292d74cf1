package browse

import (
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

// commitsData is the data of a list of commits.
type commitsData struct {
	head
	Commits []commitRow
	// Newer and Older are the addresses of the pages beside this one.
	Newer, Older string
	// Problem says why older commits may be missing, "" if none are.
	Problem string
}

// commitsHolds is the memory of a list of commits: one commit at a time is
// read, of megabytes at most.
const commitsHolds = 10 << 20

// commits lists the commits that led to a revision, or those that changed the lines that
// the address names.
func (e *Endpoint) commits(r *http.Request, p *target) (answer, error) {
	skip, err := skipOf(r)
	if err != nil {
		return answer{}, err
	}
	data := commitsData{head: p.head()}
	data.SwitchURL = switchURL(p.rec.Name, p.path, "commits")
	if p.commit == "" {
		return answer{page: "commits.html", data: data}, nil
	}
	if lines := parseLines(r.URL.RawQuery); lines.first > 0 && p.path != "" {
		found, err := p.entry(r.Context())
		if err != nil {
			return answer{}, err
		}
		if !found.Directory() && found.Mode != git.ModeSubmodule {
			return e.lineHistory(r, p, found, lines, skip)
		}
	}
	httpapi.WorkOf(r.Context()).Shrink(commitsHolds)
	if data.Commits, data.Problem, err = e.pathHistory(r, p, skip, commitsPage+1); err != nil {
		return answer{}, err
	}
	here := code.CommitsURL(p.rec.Name, p.rev, p.path)
	if len(data.Commits) > commitsPage {
		data.Commits = data.Commits[:commitsPage]
		data.Older = here + "?skip=" + strconv.Itoa(skip+commitsPage)
	}
	if skip > 0 {
		data.Newer = here + "?skip=" + strconv.Itoa(max(0, skip-commitsPage))
	}
	return answer{page: "commits.html", data: data}, nil
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
func (p *target) history(r *http.Request, revs []string, o git.HistoryOptions) ([]commitRow, error) {
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
