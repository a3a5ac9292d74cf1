package browse

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/repolist"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// maxFolders is how many folders above a missing path are looked for, and maxNearBytes the
// longest name that is searched for.
const (
	maxFolders   = 4
	maxNearBytes = 200
)

// near adds to the error of a page that there is not what is near it. The target is nil if
// its repository or its revision was not found.
func (e *Endpoint) near(r *http.Request, p *target, err error) error {
	var known *httpapi.Error
	if !errors.As(err, &known) || known.Status != http.StatusNotFound || !httpapi.WantsPage(r) {
		return err
	}
	out := *known // others have the same error
	switch {
	case p == nil:
		out.Near = e.nearRepository(r)
	case p.commit != "" && p.path != "":
		out.Near = p.nearPath(r)
	default:
		out.Near = p.nearView(mux.Vars(r))
	}
	return &out
}

// Near is what is near an address below a repository that no route answers, for those who
// may see the repository.
func (e *Endpoint) Near(r *http.Request) []httpapi.Near {
	at, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/-/")
	name, _, _ := strings.Cut(at, "@")
	if !below || name == "" {
		return nil
	}
	_, rec, err := e.visible(r, name)
	if err != nil {
		return nil // the page is not there in any case
	}
	return []httpapi.Near{filesOf(rec), commitsOf(rec), branchesOf(rec)}
}

// nearView is what is near a commit that there is not, or revisions that cannot be compared.
func (p *target) nearView(vars map[string]string) []httpapi.Near {
	near := []httpapi.Near{filesOf(p.rec)}
	if _, ok := vars["oid"]; ok {
		near = append(near, commitsOf(p.rec))
	}
	if _, ok := vars["spec"]; ok {
		near = append(near, branchesOf(p.rec))
	}
	return near
}

func filesOf(rec *store.Repository) httpapi.Near {
	return httpapi.Near{Text: "All files of " + rec.Name, Path: code.RepositoryURL(rec.Name, "")}
}

func commitsOf(rec *store.Repository) httpapi.Near {
	return httpapi.Near{Text: "All commits of " + rec.Name, Path: code.CommitsURL(rec.Name, "", "")}
}

func branchesOf(rec *store.Repository) httpapi.Near {
	return httpapi.Near{Text: "Branches and tags of " + rec.Name, Path: code.BranchesURL(rec.Name)}
}

// nearRepository is what is near a revision that there is not, or a repository that the
// user does not see.
func (e *Endpoint) nearRepository(r *http.Request) []httpapi.Near {
	vars := mux.Vars(r)
	rev := strings.TrimPrefix(vars["rev"], "@")
	_, rec, err := e.repository(r)
	if err != nil {
		name := path.Base(vars["repo"])
		if len(name) > maxNearBytes {
			return nil
		}
		return []httpapi.Near{{Text: "Repositories like " + shown(name), Path: repolist.Path + "?q=" + url.QueryEscape(name)}}
	}
	near := []httpapi.Near{{Text: rec.Name + " at its default branch", Path: code.RepositoryURL(rec.Name, "")}}
	if rev != "" && len(rev) <= maxNearBytes {
		near = append(near, httpapi.Near{Text: "Branches and tags like " + shown(rev), Path: code.BranchesURL(rec.Name) + "?q=" + url.QueryEscape(rev)})
	}
	return near
}

const (
	// maxCompared is how many entries of a folder are compared with a name, maxComparedBytes
	// how long names are, and maxAlike how many entries are named.
	maxCompared, maxComparedBytes, maxAlike = 1000, 100, 3
)

// alike names the entries of the folder of a missing path whose names are most like its
// own, the likest first: two thirds of the characters are the same.
func (p *target) alike(r *http.Request) (near []httpapi.Near) {
	dir, name := path.Split(p.path)
	dir, name = strings.TrimSuffix(dir, "/"), strings.ToLower(name)
	folder, ok, err := p.code.At(r.Context(), p.commit, dir)
	if err != nil || !ok || !folder.Directory() || len(name) > maxComparedBytes {
		return nil
	}
	type like struct {
		entry    git.Entry
		distance int
	}
	var found []like
	n, compared := utf8.RuneCountInString(name), 0
	// What cannot be read is not near.
	_ = p.code.EachEntry(r.Context(), folder.OID, func(e git.Entry) bool {
		if length := utf8.RuneCountInString(e.Name); max(length-n, n-length) <= n/3 {
			if d := levenshtein.ComputeDistance(name, strings.ToLower(e.Name)); d <= n/3 {
				found = append(found, like{e, d})
			}
		}
		compared++
		return compared < maxCompared
	})
	slices.SortStableFunc(found, func(a, b like) int { return a.distance - b.distance })
	for _, l := range found[:min(len(found), maxAlike)] {
		at, address := path.Join(dir, l.entry.Name), code.BlobURL
		if l.entry.Directory() {
			address = code.TreeURL
		}
		near = append(near, httpapi.Near{Text: shown(at), Path: address(p.rec.Name, p.rev, at)})
	}
	return near
}

// nearPath is what is near a path that the revision does not have: the same path at the
// default branch, files and folders with similar names, the folder that it would be in, and
// files of the same name.
func (p *target) nearPath(r *http.Request) (near []httpapi.Near) {
	if p.rev != "" && p.rec.Commit() != "" && p.has(r, p.rec.Commit(), p.path, false) {
		near = append(near, httpapi.Near{Text: shown(p.path) + " at the default branch", Path: code.BlobURL(p.rec.Name, "", p.path)})
	}
	near = append(near, p.alike(r)...)
	above := httpapi.Near{Text: "All files of " + p.rec.Name, Path: code.RepositoryURL(p.rec.Name, p.rev)}
	dir := path.Dir(p.path)
	for i := 0; i < maxFolders && dir != "."; i, dir = i+1, path.Dir(dir) {
		if p.has(r, p.commit, dir, true) {
			above = httpapi.Near{Text: "The folder " + shown(dir), Path: code.TreeURL(p.rec.Name, p.rev, dir)}
			break
		}
	}
	near = append(near, above)
	if base := path.Base(p.path); len(base) <= maxNearBytes && utf8.ValidString(base) && !strings.ContainsFunc(base, unicode.IsControl) {
		// A space would end the filter.
		pattern := strings.ReplaceAll(regexp.QuoteMeta(base), " ", `\x20`)
		near = append(near, httpapi.Near{
			Text: "Files called " + base,
			Path: searchIn(p.rec.Name, "") + url.QueryEscape("file:(^|/)"+pattern+"$ type:path"),
		})
	}
	return near
}

// has reports whether a commit is known to have a path, which a folder is or is not.
func (p *target) has(r *http.Request, commit, path string, folder bool) bool {
	entry, ok, err := p.code.At(r.Context(), commit, path)
	return err == nil && ok && entry.Directory() == folder
}
