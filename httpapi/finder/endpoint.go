package finder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// Path is where files are found.
const Path = "/.api/code/files"

const (
	// holds is what an answer takes while it is made: paths of 4 KiB, and the matcher.
	holds = 2 << 20
	// within is how long paths are compared.
	within       = time.Second
	maxPattern   = 200
	maxArgument  = 4 << 10
	defaultLimit = 30
	maxLimit     = 100
)

// Endpoint finds files. Its fields are set before Routes and not changed afterwards.
type Endpoint struct {
	// Store returns nil until the data directory is open.
	Store func() *store.Store
	// Git returns what git's processes share; nil, or one that returns nil, is nothing.
	Git func() *git.Budget
	// Within is how long paths are compared; 0 is a second.
	Within time.Duration
}

// Routes returns the route of the endpoint.
func (e *Endpoint) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: "GET", Path: Path, Handler: e.serve, Holds: holds, Asks: true, About: "files by parts of their paths, the best first"}}
}

// request is what is asked.
type request struct {
	text, repository, revision string
	limit                      int
}

// answer is what is answered. Incomplete says that not all paths were compared.
type answer struct {
	Results    []resultJSON `json:"results"`
	Incomplete bool         `json:"incomplete"`
}

// resultJSON is a file. Marks are the characters of its path that match, as starts and
// ends, and URL is the path of its page.
type resultJSON struct {
	Repository string   `json:"repository"`
	Revision   string   `json:"revision,omitempty"`
	Path       string   `json:"path"`
	Marks      [][2]int `json:"marks"`
	URL        string   `json:"url"`
}

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	q, err := decode(r)
	if err != nil {
		return err
	}
	st := e.Store()
	if st == nil {
		w.Header().Set("Retry-After", "1")
		return &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	}
	sn := st.Snapshot()
	defer sn.Close()
	limit := e.Within
	if limit == 0 {
		limit = within
	}
	s := newSearch(q.text, q.limit, limit)
	err = e.find(r.Context(), st, sn, q, s)
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return httpapi.ServeJSON(w, r, newAnswer(q, s, err != nil))
}

func wrong(format string, args ...any) error {
	return &httpapi.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// decode reads the parameters of a request.
func decode(r *http.Request) (q request, err error) {
	values := r.URL.Query()
	q = request{values.Get("q"), values.Get("repository"), values.Get("revision"), defaultLimit}
	if strings.TrimSpace(q.text) == "" || len(q.text) > maxPattern || !utf8.ValidString(q.text) {
		return q, wrong("q must be parts of a path, of %d bytes at most", maxPattern)
	}
	if len(q.repository) > maxArgument || len(q.revision) > maxArgument {
		return q, wrong("repository and revision have %d bytes at most", maxArgument)
	}
	if q.revision != "" && q.repository == "" {
		return q, wrong("a revision needs a repository")
	}
	if given := values.Get("limit"); given != "" {
		if q.limit, err = strconv.Atoi(given); err != nil || q.limit < 1 || q.limit > maxLimit {
			return q, wrong("limit must be a number from 1 to %d", maxLimit)
		}
	}
	return q, nil
}

// find looks where the request says.
func (e *Endpoint) find(ctx context.Context, st *store.Store, sn *store.Snapshot, q request, s *search) error {
	actor := auth.From(ctx)
	if q.repository == "" {
		return s.everywhere(ctx, sn, actor.CanSee)
	}
	rec, err := sn.Repository(q.repository)
	if errors.Is(err, store.ErrNotFound) || err == nil && !actor.CanSee(rec) {
		return &httpapi.Error{Status: http.StatusNotFound, Message: "repository not found"}
	}
	if err != nil {
		return err
	}
	if branch := branchOf(rec, q.revision); branch >= 0 {
		return s.indexed(ctx, sn, rec, branch, "")
	}
	return e.findInGit(ctx, st, rec, q, s)
}

func (e *Endpoint) findInGit(ctx context.Context, st *store.Store, rec *store.Repository, q request, s *search) error {
	var budget *git.Budget
	if e.Git != nil {
		budget = e.Git()
	}
	reader := code.NewReader(budget, st, rec)
	defer reader.Close()
	rev := q.revision
	if rev == "" {
		rev = "HEAD"
	}
	commit, err := reader.Resolve(ctx, rev)
	if err == nil && commit == "" && q.revision != "" {
		return &httpapi.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("revision not found: %q", q.revision)}
	}
	if err != nil || commit == "" {
		return err
	}
	return s.inGit(ctx, reader, rec, commit)
}

func newAnswer(q request, s *search, incomplete bool) answer {
	a := answer{Results: []resultJSON{}, Incomplete: incomplete}
	for _, f := range s.best.files {
		prefix := ""
		if q.repository == "" {
			prefix = f.repository.Name + "/"
		}
		a.Results = append(a.Results, resultJSON{
			Repository: f.repository.Name, Revision: q.revision, Path: f.path, Marks: s.pattern.marks(prefix, f.path),
			URL: code.BlobURL(f.repository.Name, q.revision, f.path),
		})
	}
	return a
}
