package browse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// target is the target of a request's URL.
type target struct {
	st   *store.Store
	rec  *store.Repository
	code *code.Reader
	// rev is the revision that a person wrote, empty for the default branch.
	rev string
	// path is clean, "" for the root.
	path string
	// commit is the commit that rev names, "" for a repository without any.
	commit string
	// gone is the error of git if it has no repository any more, so that the index
	// is read instead.
	gone error
	// entries are those of the directory at path, once the index was read for them.
	entries []git.Entry
}

func (p *target) close() { p.code.Close() }

// The errors of missing targets. A repository that the user may not see is
// reported as missing.
var (
	errOpening = &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	errNoRoute = &httpapi.Error{Status: http.StatusNotFound, Message: "no route"}
	errNoRepo  = &httpapi.Error{Status: http.StatusNotFound, Message: "repository not found"}
	errCloning = &httpapi.Error{Status: http.StatusNotFound, Message: "Repository unavailable while cloning."}
	errNothing = &httpapi.Error{Status: http.StatusNotFound, Message: "the repository has no commit yet"}
)

// The longest revision and path that an address may have. Both stand in each
// link of a page, so a page of thousands of links is as large as they allow. git
// itself takes 4,096 bytes for a path.
const (
	maxRevBytes  = 1 << 10
	maxPathBytes = 4 << 10
)

func errNoRevision(rev string) error {
	return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("revision not found: %q", beginning(rev, maxRevBytes))}
}

func errNoPath(name string) error {
	return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("file does not exist: %q", beginning(name, maxPathBytes))}
}

// repository finds the record of a request's repository, if it may be seen.
func (e *Endpoint) repository(r *http.Request) (*store.Store, *store.Repository, error) {
	return e.visible(r, mux.Vars(r)["repo"])
}

// visible finds the record of a repository, if the client of a request may see it.
func (e *Endpoint) visible(r *http.Request, name string) (*store.Store, *store.Repository, error) {
	st := e.Store()
	if st == nil {
		return nil, nil, errOpening
	}
	sn := st.Snapshot()
	rec, err := sn.Repository(name)
	if err := errors.Join(hideMissing(err), sn.Close()); err != nil {
		return nil, nil, err
	}
	if rec == nil || !auth.From(r.Context()).CanSee(rec) {
		return nil, nil, errNoRepo
	}
	return st, rec, nil
}

func hideMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// budget is what git's processes share.
func (e *Endpoint) budget() *git.Budget {
	if e.Git == nil {
		return nil
	}
	return e.Git()
}

// find finds the target of a request. Its close must be called.
func (e *Endpoint) find(r *http.Request) (*target, error) {
	if strings.HasPrefix(r.URL.Path, "/.api/") {
		return nil, errNoRoute // what is there is no repository
	}
	st, rec, err := e.repository(r)
	if err != nil {
		return nil, err
	}
	vars := mux.Vars(r)
	clean, ok := code.CleanPath(vars["path"])
	if !ok || len(clean) > maxPathBytes {
		return nil, errNoPath(vars["path"])
	}
	if rec.Mirror && rec.Fetched().IsZero() && !rec.Indexed() && rec.LastError == "" {
		return nil, errCloning
	}
	p := &target{st: st, rec: rec, code: code.NewReader(e.budget(), st, rec), rev: strings.TrimPrefix(vars["rev"], "@"), path: clean}
	p.commit, err = p.resolve(r.Context(), p.rev)
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// resolve returns the commit of a revision. The default branch is the commit
// that is searched, so that what is shown is what was found. It is "" for that
// of a repository without commits.
func (p *target) resolve(ctx context.Context, rev string) (string, error) {
	if len(rev) > maxRevBytes {
		return "", errNoRevision(rev)
	}
	if rev == "" || rev == "HEAD" {
		if oid := p.rec.Commit(); oid != "" || rev == "" && p.rec.Indexed() {
			return oid, nil
		}
	}
	wanted := rev
	if wanted == "" {
		wanted = "HEAD"
	}
	oid, err := p.code.Resolve(ctx, wanted)
	if errors.Is(err, git.ErrNotRepository) && p.searched(rev) {
		return p.rec.Commit(), nil
	}
	if err == nil && oid == "" && rev != "" {
		err = errNoRevision(rev)
	}
	return oid, err
}

// searched reports whether the index alone shows that a revision is the indexed
// commit.
func (p *target) searched(rev string) bool {
	return p.rec.Indexed() && (rev == p.rec.Commit() || len(p.rec.Branches) > 0 && rev == p.rec.Branches[0].Name)
}

// entry finds what stands at the path, in git or, if that is gone, in the index.
func (p *target) entry(ctx context.Context) (git.Entry, error) {
	if p.commit == "" {
		return git.Entry{}, errNothing
	}
	found, ok, err := p.code.At(ctx, p.commit, p.path)
	if errors.Is(err, git.ErrNotRepository) {
		p.gone = err
		err = p.indexed(func(runs []code.DocumentRun) error {
			found, ok = code.EntryIn(runs, p.path)
			return nil
		})
	}
	if err == nil && !ok {
		err = errNoPath(p.path)
	}
	return found, p.readable(err)
}

// readable makes an answer of what git cannot read.
func (p *target) readable(err error) error {
	switch {
	case errors.Is(err, git.ErrMissing), errors.Is(err, git.ErrCorrupt):
		return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%q cannot be read: an object is missing or damaged", p.path), Cause: err}
	case errors.Is(err, git.ErrTooLarge):
		return &httpapi.Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf("%q lies in a directory that is too large to be listed", p.path), Cause: err}
	}
	return err
}
