package browse

import (
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// treeHolds is the memory of the page of a directory, with the message of its
// commit, which may be megabytes.
const treeHolds = 10 << 20

// entriesPage is how many entries of a directory a page lists.
const entriesPage = 1000

// treeData is the data of the page of a directory.
type treeData struct {
	head
	Description string
	Empty       bool
	Parent      string
	entryList
	Latest     *commitRow
	ArchiveURL string
	// Submodule is the commit of another repository that stands here, Source where that comes
	// from, nil if it is not known.
	Submodule string
	Source    *namedLink
	Readme    *readme
	// Languages and Commits are those of a repository, at its root: what it is written
	// in, and its last commits.
	Languages []code.LanguageShare
	Commits   []commitRow
}

// entryList is a part of the entries of a directory.
type entryList struct {
	Entries []treeRow
	// First and Last count the entries that are shown, from 1; Total counts all.
	First, Last, Total int
	// Previous and Next are the addresses of the parts beside this one.
	Previous, Next string
	// readme is the file that tells about the directory, if it has one.
	readme git.Entry
}

// Paged reports whether there are others.
func (l entryList) Paged() bool { return len(l.Entries) < l.Total }

// treeRow is an entry of a directory.
type treeRow struct {
	Name, URL, Kind string
}

// tree shows a directory. That of a file leads to the file's page.
func (e *Endpoint) tree(r *http.Request, p *target) (answer, error) {
	data := treeData{head: p.head(), Description: cut(p.rec.Description, maxShownName)}
	if p.commit == "" {
		data.Empty = true
		return answer{page: "tree.html", data: data}, nil
	}
	found, err := p.entry(r.Context())
	data.Missing = p.missing()
	switch {
	case err != nil:
		return answer{}, err
	case found.Mode == git.ModeSubmodule:
		source, err := p.submoduleSource(r.Context())
		return answer{page: "tree.html", data: treeData{head: data.head, Submodule: found.OID, Source: source}}, p.readable(err)
	case !found.Directory():
		return answer{redirect: code.BlobURL(p.rec.Name, p.rev, p.path)}, nil
	}
	if data.entryList, err = p.list(r, found); err != nil {
		return answer{}, p.readable(err)
	}
	if data.Readme, err = e.readme(r, p, data.readme); err != nil {
		return answer{}, p.readable(err)
	}
	if err := e.addFacts(r, p, &data); err != nil {
		return answer{}, err
	}
	if p.gone == nil {
		data.ArchiveURL = code.RawURL(p.rec.Name, p.commit, p.path) + "?format=zip"
	}
	if p.path != "" {
		data.Description = ""
		data.Parent = code.TreeURL(p.rec.Name, p.rev, dirOf(p.path))
	}
	return answer{page: "tree.html", data: data}, nil
}

// rootCommits is how many commits the page of a repository shows.
const rootCommits = 5

// addFacts adds the commit that is shown and, at the root, what there is to tell of the
// repository.
func (e *Endpoint) addFacts(r *http.Request, p *target, data *treeData) error {
	if p.path == "" && p.commit == p.rec.Commit() {
		sn := p.st.Snapshot()
		shares, err := e.Languages.Of(sn, p.rec)
		if err = errors.Join(err, sn.Close()); err != nil {
			return err
		}
		data.Languages = shares
	}
	if p.gone != nil {
		return nil
	}
	if p.path != "" {
		latest, err := p.latest(r)
		data.Latest = latest
		return err
	}
	var err error
	data.Commits, err = p.history(r, []string{p.commit}, git.HistoryOptions{Max: rootCommits})
	return p.readable(err)
}

// list lists the part of a directory that a request asks for, directories
// first. The tree is read twice, and never held: once to count, since where the
// files begin depends on how many directories there are.
func (p *target) list(r *http.Request, dir git.Entry) (entryList, error) {
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	directories, total := 0, 0
	var readme git.Entry
	err = p.eachEntry(r.Context(), dir, func(e git.Entry) bool {
		if total++; e.Directory() {
			directories++
		}
		if rank := readmeRank(e); rank >= 0 && (readme.Name == "" || rank < readmeRank(readme)) {
			readme = e
		}
		return true
	})
	if err != nil {
		return entryList{}, err
	}
	from = min(from, total)
	rows := make([]git.Entry, min(entriesPage, total-from))
	at := [2]int{0, directories} // where the next directory and the next file are
	err = p.eachEntry(r.Context(), dir, func(e git.Entry) bool {
		kind := rank(e)
		if i := at[kind] - from; i >= 0 && i < len(rows) {
			rows[i] = e
			rows[i].Name = beginning(e.Name, maxPathBytes+1) // too long for a link in any case
		}
		at[kind]++
		return at[0] < directories || at[1] < from+len(rows)
	})
	if err != nil {
		return entryList{}, err
	}
	out := entryList{Entries: p.fitting(rows), First: from + 1, Total: total, readme: readme}
	out.Last = from + len(out.Entries)
	here := code.TreeURL(p.rec.Name, p.rev, p.path) + "?from="
	if from > 0 {
		out.Previous = here + strconv.Itoa(max(from-entriesPage, 0))
	}
	if out.Last < total {
		out.Next = here + strconv.Itoa(out.Last)
	}
	return out, nil
}

// fitting returns the rows of the first entries, as many as there is room for.
func (p *target) fitting(entries []git.Entry) []treeRow {
	var rows []treeRow
	left := byteBudget(listBytes)
	for _, e := range entries {
		row := p.treeRow(e)
		if !left.take(row.Name, row.URL) {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// treeRow is the row of an entry. One whose path no address can have is no link.
func (p *target) treeRow(g git.Entry) treeRow {
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
	if len(at) > maxPathBytes {
		row.URL = ""
	}
	return row
}

func rank(e git.Entry) int {
	if e.Directory() {
		return 0
	}
	return 1
}

// latest is the commit that is shown, of the root.
func (p *target) latest(r *http.Request) (*commitRow, error) {
	c, err := p.code.Commit(r.Context(), p.commit)
	if err != nil {
		return nil, p.readable(err)
	}
	row := newCommitRow(p.rec.Name, c)
	return &row, nil
}

// dirOf is the directory of a path, "" for the root.
func dirOf(at string) string { return strings.TrimPrefix(path.Dir("/"+at), "/") }
