package browse

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

const (
	// maxBodyBytes is how much of a message a page shows.
	maxBodyBytes = 64 << 10
	// maxParents is how many parents of a commit a page shows, maxRefsAt how many of its
	// branches and tags.
	maxParents = 100
	maxRefsAt  = 50
)

// commitData is the data of the page of a commit.
type commitData struct {
	head
	commitRow
	// Body is the message behind its first line.
	Body    string
	Parents []commitRow
	// MoreParents counts those that are not shown.
	MoreParents int
	// Refs are the branches and tags that lead to it; there may be MoreRefs.
	Refs     []refLink
	MoreRefs bool
	Diff     diffData
}

// refLink is a branch or tag, with where it is looked at.
type refLink struct{ Name, URL string }

// commit shows a commit with what it changed, a merge against its first parent.
func (e *Endpoint) commit(r *http.Request, p *target) (answer, error) {
	c, err := p.findCommit(r, mux.Vars(r)["oid"])
	if err != nil {
		return answer{}, err
	}
	data := commitData{head: p.head(), commitRow: newCommitRow(p.rec.Name, c)}
	_, body, _ := strings.Cut(c.Message, "\n")
	data.Body = strings.Clone(cut(strings.TrimSpace(body), maxBodyBytes))
	data.MoreParents = max(len(c.Parents)-maxParents, 0)
	for _, oid := range c.Parents[:len(c.Parents)-data.MoreParents] {
		data.Parents = append(data.Parents, commitRow{Short: short(oid), URL: code.CommitURL(p.rec.Name, oid)})
	}
	if err := data.findRefs(r, p); err != nil {
		return answer{}, err
	}
	base := ""
	if len(c.Parents) > 0 {
		base = c.Parents[0]
	}
	data.Diff, err = e.diff(r.Context(), p, base, c.OID, diffViewOf(r))
	return answer{page: "commit.html", data: data}, err
}

// findRefs finds the branches and tags that lead to the commit.
func (d *commitData) findRefs(r *http.Request, p *target) error {
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return err
	}
	refs, more, err := repo.RefsAt(r.Context(), p.commit, maxRefsAt)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		name := strings.TrimPrefix(strings.TrimPrefix(ref.Name, "refs/heads/"), "refs/tags/")
		d.Refs = append(d.Refs, refLink{shown(name), code.RepositoryURL(p.rec.Name, name)})
	}
	d.MoreRefs = more
	return nil
}

// findCommit finds a commit, which the target then names.
func (p *target) findCommit(r *http.Request, rev string) (*git.CommitObject, error) {
	var err error
	p.rev = rev
	if len(rev) <= maxRevBytes {
		p.commit, err = p.code.Resolve(r.Context(), rev)
	}
	if err == nil && (len(rev) > maxRevBytes || p.commit == "") {
		err = errNoRevision(rev)
	}
	if err != nil {
		return nil, p.readable(err)
	}
	c, err := p.code.Commit(r.Context(), p.commit)
	return c, p.readable(err)
}

// compareData is the data of the page that compares two revisions.
type compareData struct {
	head
	Base, Head string
	Commits    []commitRow
	More       bool
	Diff       diffData
}

// compare shows what a revision has that another lacks: its commits, and what
// they changed since the two parted.
func (e *Endpoint) compare(r *http.Request, p *target) (answer, error) {
	spec := mux.Vars(r)["spec"]
	base, rev, ok := strings.Cut(spec, "...")
	if !ok {
		base, rev, ok = strings.Cut(spec, "..")
	}
	if !ok {
		return answer{}, &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%q names no two revisions: write base...head", beginning(spec, maxRevBytes))}
	}
	commits := map[string]string{}
	for _, side := range []string{base, rev} {
		var err error
		if commits[side], err = p.resolve(r.Context(), side); err == nil && commits[side] == "" {
			err = errNoRevision(side)
		}
		if err != nil {
			return answer{}, err
		}
	}
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return answer{}, err
	}
	fork, err := repo.MergeBase(r.Context(), commits[base], commits[rev])
	if errors.Is(err, git.ErrNoRevision) {
		fork, err = commits[base], nil // they have nothing in common
	}
	if err != nil {
		return answer{}, err
	}
	data := compareData{Base: shown(base), Head: shown(rev)}
	data.Commits, err = p.history(r, []string{commits[rev], "^" + commits[base]}, git.HistoryOptions{Max: commitsPage + 1})
	if err != nil {
		return answer{}, err
	}
	if data.More = len(data.Commits) > commitsPage; data.More {
		data.Commits = data.Commits[:commitsPage]
	}
	p.rev, p.commit = rev, commits[rev]
	data.head = p.head()
	data.Diff, err = e.diff(r.Context(), p, fork, p.commit, diffViewOf(r))
	return answer{page: "compare.html", data: data, scripts: []string{"compare.js"}}, err
}
