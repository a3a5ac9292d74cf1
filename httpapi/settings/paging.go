package settings

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// perPage is how many rows a list shows at once.
const perPage = 50

// paging is the part of a list that is shown, and how to get to others.
type paging struct {
	// Query is what the list was searched for.
	Query string
	// Page counts from 1; Pages is at least 1, Total counts rows.
	Page, Pages, Total int
	path               string
}

// newPaging reads the parameters of a list of so many rows. A page behind the
// last is the last.
func newPaging(r *http.Request, path string, total int) paging {
	p := paging{Query: searchedFor(r), Pages: max(1, (total+perPage-1)/perPage), Total: total, path: path}
	n, _ := strconv.Atoi(r.URL.Query().Get("page")) // 0 is the first
	p.Page = min(max(1, n), p.Pages)
	return p
}

// searchedFor is what a list is searched for.
func searchedFor(r *http.Request) string { return strings.TrimSpace(r.URL.Query().Get("q")) }

// matches reports whether one of some texts holds what is searched for,
// whatever the case.
func matches(query string, texts ...string) bool {
	query = strings.ToLower(query)
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), query) {
			return true
		}
	}
	return false
}

// shown are the rows of the page.
func shown[T any](p paging, rows []T) []T {
	return rows[(p.Page-1)*perPage : min(p.Page*perPage, len(rows))]
}

// listed is a row of a list before it is shown. There may be many of them: what
// else a row has is read when it is.
type listed struct {
	key string // what it is sorted by
	id  uint32
}

// byName sorts rows by their keys.
func byName(rows []listed) {
	slices.SortFunc(rows, func(a, b listed) int { return strings.Compare(a.key, b.key) })
}

// namesShown is how many names a row shows: members, readers, organisations.
const namesShown = 100

// few returns the first of a list that a row shows, and how many more there are.
func few[T any](all []T) (first []T, more int) {
	n := min(len(all), namesShown)
	return all[:n], len(all) - n
}

// Previous and Next are where the pages beside this one are, "" for none.
func (p paging) Previous() string { return p.to(p.Page - 1) }

// Next is told with Previous.
func (p paging) Next() string { return p.to(p.Page + 1) }

func (p paging) to(page int) string {
	if page < 1 || page > p.Pages {
		return ""
	}
	v := url.Values{"page": {strconv.Itoa(page)}}
	if p.Query != "" {
		v.Set("q", p.Query)
	}
	return p.path + "?" + v.Encode()
}
