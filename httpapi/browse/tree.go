package browse

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// maxShownEntries is how many entries of a directory a page lists.
const maxShownEntries = 5000

// treeData is what the page of a directory shows.
type treeData struct {
	head
	Description string
	Empty       bool
	Parent      string
	Entries     []treeRow
	More        int
	Latest      *commitRow
	ArchiveURL  string
	// Submodule is the commit of another repository that stands here.
	Submodule string
}

// treeRow is an entry of a directory.
type treeRow struct {
	Name, URL, Kind string
}

// serveTree shows a directory. That of a file leads to the file's page.
func (e *Endpoint) serveTree(w http.ResponseWriter, r *http.Request) error {
	p, err := e.find(r)
	if err != nil {
		return err
	}
	defer p.close()
	if p.commit == "" {
		return e.servePage(w, r, "tree.html", treeData{head: p.head(), Description: p.rec.Description, Empty: true})
	}
	found, err := p.entry(r.Context())
	switch {
	case err != nil:
		return err
	case found.Mode == git.ModeSubmodule:
		return e.servePage(w, r, "tree.html", treeData{head: p.head(), Submodule: found.OID})
	case !found.Directory():
		return e.redirect(w, r, code.BlobURL(p.rec.Name, p.rev, p.path))
	}
	entries, err := p.code.Tree(r.Context(), found.OID)
	if err != nil {
		return p.readable(err)
	}
	latest, err := p.latest(r)
	if err != nil {
		return err
	}
	data := treeData{head: p.head(), Latest: latest, ArchiveURL: code.RawURL(p.rec.Name, p.commit, p.path) + "?format=zip"}
	if p.path == "" {
		data.Description = p.rec.Description
	} else {
		data.Parent = code.TreeURL(p.rec.Name, p.rev, strings.TrimPrefix(path.Dir("/"+p.path), "/"))
	}
	data.Entries, data.More = p.rows(entries)
	return e.servePage(w, r, "tree.html", data)
}

// rows lists entries, directories first.
func (p *place) rows(entries []git.Entry) (out []treeRow, more int) {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b git.Entry) int { return rank(a) - rank(b) })
	if len(entries) > maxShownEntries {
		entries, more = entries[:maxShownEntries], len(entries)-maxShownEntries
	}
	for _, g := range entries {
		at := g.Name
		if p.path != "" {
			at = p.path + "/" + g.Name
		}
		row := treeRow{Name: shown(g.Name), URL: code.BlobURL(p.rec.Name, p.rev, at)}
		switch {
		case g.Directory():
			row.Kind, row.URL = "directory", code.TreeURL(p.rec.Name, p.rev, at)
		case g.Mode == git.ModeSubmodule:
			row.Kind, row.URL = "submodule at "+short(g.OID), code.TreeURL(p.rec.Name, p.rev, at)
		case g.Mode == git.ModeSymlink:
			row.Kind = "symbolic link"
		case g.Mode == git.ModeExecutable:
			row.Kind = "executable"
		}
		out = append(out, row)
	}
	return out, more
}

func rank(e git.Entry) int {
	if e.Directory() {
		return 0
	}
	return 1
}

// latest is the commit that is shown, of the root.
func (p *place) latest(r *http.Request) (*commitRow, error) {
	c, err := p.code.Commit(r.Context(), p.commit)
	if err != nil {
		return nil, p.readable(err)
	}
	row := newCommitRow(p.rec.Name, c)
	return &row, nil
}
