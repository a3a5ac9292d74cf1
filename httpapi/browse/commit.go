package browse

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// What a page shows of a diff.
const (
	maxDiffFiles     = 300
	maxDiffFileBytes = 256 << 10
	maxDiffBytes     = 2 << 20
)

// commitData is what the page of a commit shows.
type commitData struct {
	head
	commitRow
	Parents []commitRow
	Diff    diffData
}

// serveCommit shows a commit with what it changed, a merge against its first
// parent.
func (e *Endpoint) serveCommit(w http.ResponseWriter, r *http.Request) error {
	p, c, err := e.findCommit(r, mux.Vars(r)["oid"])
	if err != nil {
		return err
	}
	defer p.close()
	data := commitData{head: p.head(), commitRow: newCommitRow(p.rec.Name, c)}
	for _, oid := range c.Parents {
		data.Parents = append(data.Parents, commitRow{Short: short(oid), URL: code.CommitURL(p.rec.Name, oid)})
	}
	base := ""
	if len(c.Parents) > 0 {
		base = c.Parents[0]
	}
	if data.Diff, err = p.diff(r.Context(), base, c.OID); err != nil {
		return err
	}
	return e.servePage(w, r, "commit.html", data)
}

// findCommit finds the repository of a request and a commit in it.
func (e *Endpoint) findCommit(r *http.Request, rev string) (*place, *git.CommitObject, error) {
	p, err := e.find(r)
	if err != nil {
		return nil, nil, err
	}
	p.rev = rev
	if p.commit, err = p.code.Resolve(r.Context(), rev); err == nil && p.commit == "" {
		err = errNoRevision(rev)
	}
	var c *git.CommitObject
	if err == nil {
		c, err = p.code.Commit(r.Context(), p.commit)
	}
	if err != nil {
		p.close()
		return nil, nil, p.readable(err)
	}
	return p, c, nil
}

// compareData is what the page of two revisions shows.
type compareData struct {
	head
	Base, Head string
	Commits    []commitRow
	More       bool
	Diff       diffData
}

// serveCompare shows what a revision has that another lacks: its commits, and
// what they changed since the two parted.
func (e *Endpoint) serveCompare(w http.ResponseWriter, r *http.Request) error {
	spec := mux.Vars(r)["spec"]
	base, rev, ok := strings.Cut(spec, "...")
	if !ok {
		base, rev, ok = strings.Cut(spec, "..")
	}
	if !ok {
		return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%q names no two revisions: write base...head", spec)}
	}
	p, err := e.find(r)
	if err != nil {
		return err
	}
	defer p.close()
	commits := map[string]string{}
	for _, side := range []string{base, rev} {
		if commits[side], err = p.resolve(r.Context(), side); err == nil && commits[side] == "" {
			err = errNoRevision(side)
		}
		if err != nil {
			return err
		}
	}
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return err
	}
	fork, err := repo.MergeBase(r.Context(), commits[base], commits[rev])
	if errors.Is(err, git.ErrNoRevision) {
		fork, err = commits[base], nil // they have nothing in common
	}
	if err != nil {
		return err
	}
	data := compareData{Base: shown(base), Head: shown(rev)}
	data.Commits, err = p.history(r, []string{commits[rev], "^" + commits[base]}, git.HistoryOptions{Max: commitsPage + 1})
	if err != nil {
		return err
	}
	if data.More = len(data.Commits) > commitsPage; data.More {
		data.Commits = data.Commits[:commitsPage]
	}
	p.rev, p.commit = rev, commits[rev]
	data.head = p.head()
	if data.Diff, err = p.diff(r.Context(), fork, p.commit); err != nil {
		return err
	}
	return e.servePage(w, r, "compare.html", data)
}

// diffData are files that differ.
type diffData struct {
	Files []diffFile
	// More says that there are others.
	More           bool
	Added, Deleted int
}

// diffFile is a file of a diff. Note says why no lines are shown.
type diffFile struct {
	Path, OldPath, URL, Status, Note string
	Lines                            []diffLine
}

// diffLine is a line of a diff; Class is "plus", "minus", "at" or "".
type diffLine struct {
	Class string
	HTML  template.HTML
}

var diffStates = map[git.DiffState]string{
	git.DiffBinary: "binary", git.DiffTooLarge: "too large to be shown", git.DiffUnread: "not read",
}

var diffStatus = map[byte]string{'A': "added", 'D': "deleted", 'R': "renamed", 'T': "another kind of file", 'C': "copied"}

// diff reads what differs between two commits, "" being nothing at all.
func (p *place) diff(ctx context.Context, base, head string) (diffData, error) {
	var out diffData
	repo, err := p.code.Repo(ctx)
	if err != nil {
		return out, err
	}
	o := git.LogOptions{Depth: git.LogHunks, MaxFiles: maxDiffFiles + 1, MaxFileBytes: maxDiffFileBytes, MaxCommitBytes: maxDiffBytes}
	err = repo.Compare(ctx, base, head, nil, o, func(d git.FileDiff) error {
		if len(out.Files) == maxDiffFiles {
			out.More = true
			return errEnough
		}
		f := diffFile{Path: shown(d.Path), Status: diffStatus[d.Status], Note: diffStates[d.State]}
		if d.OldPath != "" {
			f.OldPath = shown(d.OldPath)
		}
		at := head
		if d.Status == 'D' {
			at = base
		}
		f.URL = code.BlobURL(p.rec.Name, at, d.Path)
		f.Lines = out.lines(d.Hunks)
		out.Files = append(out.Files, f)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// lines makes HTML of hunks and counts them.
func (d *diffData) lines(hunks []byte) []diffLine {
	var out []diffLine
	for text := range strings.Lines(string(hunks)) {
		line := diffLine{}
		switch text[0] {
		case '+':
			line.Class = "plus"
			d.Added++
		case '-':
			line.Class = "minus"
			d.Deleted++
		case '@':
			line.Class = "at"
		}
		w := &lineWriter{}
		w.write("", text)
		line.HTML = w.end()[0]
		out = append(out, line)
	}
	return out
}
