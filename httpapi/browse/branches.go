package browse

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store/git"
)

// branchesHolds is the memory of the page of branches and tags.
const branchesHolds = 6 << 20

// refsPage is how many branches, and how many tags, a page lists.
const refsPage = 500

// branchesData is the data of the list of branches and tags.
type branchesData struct {
	head
	// Query is the text that names are searched for, Here where that is done.
	Query, Here string
	// Head and Base are what is compared, which nobody has chosen yet.
	Head, Base string
	// Path and View are what the links lead to at each ref; the path is as it is.
	At, View       string
	Branches, Tags refList
}

// Shown is the path that the links lead to, as it can be shown.
func (d branchesData) Shown() string { return shown(d.At) }

// Search reports whether names can be searched for: there are many, or they are.
func (d branchesData) Search() bool { return d.Query != "" || d.Branches.Paged() || d.Tags.Paged() }

// refList is a part of the branches or of the tags.
type refList struct {
	Refs []refRow
	// First and Last count the refs that are shown, from 1; Total counts all.
	First, Last, Total int
	// Previous and Next are the addresses of the parts beside this one.
	Previous, Next string
}

// Paged reports whether there are others.
func (l refList) Paged() bool { return len(l.Refs) < l.Total }

// refRow is a branch or tag.
type refRow struct {
	Name, URL, CompareURL, CommitsURL string
	Short, CommitURL                  string
	Default                           bool
}

// refQuery asks for a part of the refs with a prefix: those that have a text in
// their names, from the one with an index on.
type refQuery struct {
	prefix, text string
	from         int
	// path and view are what the links lead to.
	path, view string
}

// views are the pages that a path can be shown by, beside that of a file or directory.
var views = map[string]string{"blame": "blame", "commits": "commits"}

// viewURL is the address of a path at a revision. That of a file's directory page leads
// to the file.
func viewURL(name, rev, path, view string) string {
	switch view {
	case "blame":
		return code.BlameURL(name, rev, path)
	case "commits":
		return code.CommitsURL(name, rev, path)
	}
	return code.TreeURL(name, rev, path)
}

// branches lists branches and tags: the newest first if they fit a page, by name
// otherwise. The dates of a hundred thousand would have to be read from as many
// objects.
func (e *Endpoint) branches(r *http.Request, p *target) (answer, error) {
	data := branchesData{head: p.head(), Here: code.BranchesURL(p.rec.Name)}
	values := r.URL.Query()
	if clean, ok := code.CleanPath(values.Get("path")); ok && len(clean) <= maxPathBytes {
		data.At, data.View = clean, views[values.Get("view")]
	}
	if rev := strings.TrimSpace(values.Get("rev")); rev != "" && len(rev) <= maxRevBytes {
		return answer{elsewhere: viewURL(p.rec.Name, rev, data.At, data.View)}, nil
	}
	if head := strings.TrimSpace(values.Get("head")); head != "" && len(head) <= maxRevBytes {
		base := strings.TrimSpace(values.Get("base"))
		if base == "" || len(base) > maxRevBytes {
			base = "HEAD"
		}
		return answer{elsewhere: code.CompareURL(p.rec.Name, base, head)}, nil
	}
	data.Query = beginning(strings.TrimSpace(r.URL.Query().Get("q")), maxShownName)
	for part, list := range map[string]*refList{"branches": &data.Branches, "tags": &data.Tags} {
		q := refQuery{prefix: "refs/heads/", text: data.Query, path: data.At, view: data.View}
		if part == "tags" {
			q.prefix = "refs/tags/"
		}
		from, err := strconv.Atoi(r.URL.Query().Get(part))
		if err == nil && from > 0 {
			q.from = from
		}
		if *list, err = p.refs(r, q); err != nil {
			return answer{}, err
		}
		to := func(from int) string {
			v := url.Values{part: {strconv.Itoa(from)}}
			if data.At != "" {
				v.Set("path", data.At)
			}
			if data.View != "" {
				v.Set("view", data.View)
			}
			if q.text != "" {
				v.Set("q", q.text)
			}
			return data.Here + "?" + v.Encode()
		}
		if list.First > 1 {
			list.Previous = to(max(list.First-1-refsPage, 0))
		}
		if list.Last < list.Total {
			list.Next = to(list.Last)
		}
	}
	return answer{page: "branches.html", data: data, scripts: []string{"compare.js"}}, nil
}

// refs reads the part of the refs that is asked for.
func (p *target) refs(r *http.Request, q refQuery) (refList, error) {
	repo, err := p.code.Repo(r.Context())
	if err != nil {
		return refList{}, err
	}
	var names []string
	total := 0
	err = repo.EachRefName(r.Context(), q.prefix, func(name string) error {
		if !strings.Contains(name[len(q.prefix):], q.text) {
			return nil
		}
		if total >= q.from && len(names) < refsPage {
			names = append(names, name)
		}
		total++
		return nil
	})
	if err != nil {
		return refList{}, err
	}
	list := refList{First: min(q.from, total) + 1, Total: total}
	if total <= refsPage && q.text == "" {
		list.Refs, err = p.newestRefs(r, repo, q)
	} else {
		list.Refs, err = p.namedRefs(r, repo, names, q)
	}
	list.Last = list.First - 1 + len(list.Refs)
	return list, err
}

// newestRefs lists few refs, the newest first.
func (p *target) newestRefs(r *http.Request, repo *git.Repo, q refQuery) ([]refRow, error) {
	var out []refRow
	left := byteBudget(listBytes)
	err := repo.EachRef(r.Context(), true, []string{q.prefix}, func(ref git.Ref) error {
		row := p.refRow(ref.Name, ref.Commit, q)
		if len(out) == refsPage || !row.fits(&left) {
			return errEnough
		}
		out = append(out, row)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// namedRefs lists refs by their names.
func (p *target) namedRefs(r *http.Request, repo *git.Repo, names []string, q refQuery) ([]refRow, error) {
	commits, err := repo.Commits(r.Context(), names)
	if err != nil {
		return nil, err
	}
	var out []refRow
	left := byteBudget(listBytes)
	for i, name := range names {
		row := p.refRow(name, commits[i], q)
		if !row.fits(&left) {
			break
		}
		out = append(out, row)
	}
	return out, nil
}

func (p *target) refRow(full, commit string, q refQuery) refRow {
	main := ""
	if len(p.rec.Branches) > 0 {
		main = p.rec.Branches[0].Name
	}
	name := full[len(q.prefix):]
	row := refRow{Name: shown(name)}
	if len(name) > maxRevBytes {
		return row // no address has so long a revision
	}
	row.URL, row.CommitsURL = viewURL(p.rec.Name, name, q.path, q.view), code.CommitsURL(p.rec.Name, name, "")
	row.Default = q.prefix == "refs/heads/" && name == main
	if main != "" && !row.Default {
		row.CompareURL = code.CompareURL(p.rec.Name, main, name)
	}
	if commit != "" {
		row.Short, row.CommitURL = short(commit), code.CommitURL(p.rec.Name, commit)
	}
	return row
}

func (r refRow) fits(left *byteBudget) bool {
	return left.take(r.Name, r.URL, r.CommitsURL, r.CompareURL)
}

// errEnough ends a listing.
var errEnough = errors.New("enough")
