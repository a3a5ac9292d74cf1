package githubtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Repo is a repository of the server. The JSON is that of the API.
type Repo struct {
	ID            int64    `json:"id"`
	NodeID        string   `json:"node_id"`
	Name          string   `json:"name"`
	FullName      string   `json:"full_name"`
	CloneURL      string   `json:"clone_url"`
	Description   *string  `json:"description"`
	Topics        []string `json:"topics"`
	Stars         int      `json:"stargazers_count"`
	Fork          bool     `json:"fork"`
	Archived      bool     `json:"archived"`
	Private       bool     `json:"private"`
	Visibility    string   `json:"visibility"`
	DefaultBranch string   `json:"default_branch"`
	Size          int      `json:"size"` // KiB
	PushedAt      string   `json:"pushed_at,omitempty"`
	// Parent is shown by itself only, not in lists.
	Parent *Repo `json:"parent,omitempty"`
	// Dir is the git repository that is served, "" for none.
	Dir string `json:"-"`
}

// Server is the host. Its API is below /api/v3/, as that of GitHub Enterprise is.
type Server struct {
	*httptest.Server
	// Now is the clock of its limits.
	Now func() time.Time

	mu sync.Mutex // guards all below
	// repos are by ID, old are the IDs by former paths.
	repos map[int64]*Repo
	old   map[string]int64
	token string
	// limit is how many requests are left until reset, -1 for any number.
	limit int
	reset time.Time
	// fault, if set, answers in the place of the server if it reports true.
	fault func(w http.ResponseWriter, r *http.Request) bool
	// asked are the requests of the API by status, fetches those of git.
	asked   map[int]int
	fetches int
}

// New starts a server without repositories. An empty token lets everyone in.
func New(t testing.TB, token string) *Server {
	t.Helper()
	s := &Server{Now: time.Now, repos: map[int64]*Repo{}, old: map[string]int64{}, token: token, limit: -1, asked: map[int]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Put adds a repository, or changes the one with its ID; a new path is a new name.
func (s *Server) Put(r Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.repos[r.ID]; was != nil && was.FullName != r.FullName {
		s.old[was.FullName] = r.ID
	}
	_, r.Name, _ = strings.Cut(r.FullName, "/")
	r.NodeID = cmp.Or(r.NodeID, fmt.Sprintf("R_%d", r.ID))
	r.CloneURL, r.DefaultBranch = s.URL+"/"+r.FullName+".git", cmp.Or(r.DefaultBranch, "main")
	if r.Visibility == "" {
		r.Visibility = map[bool]string{true: "private", false: "public"}[r.Private]
	}
	s.repos[r.ID] = &r
}

// Delete removes a repository.
func (s *Server) Delete(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.repos, id)
}

// SetToken changes the one token that lets in.
func (s *Server) SetToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Limit lets so many requests through until a time.
func (s *Server) Limit(requests int, reset time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.reset = requests, reset
}

// Fault has f answer requests, which reports whether it did; nil ends that.
func (s *Server) Fault(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Asked returns how often the API answered with a status, 0 being any.
func (s *Server) Asked(status int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status != 0 {
		return s.asked[status]
	}
	n := 0
	for _, each := range s.asked {
		n += each
	}
	return n
}

// Fetches returns how many requests git made.
func (s *Server) Fetches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	path, isAPI := strings.CutPrefix(r.URL.Path, "/api/v3/")
	if !isAPI {
		s.git(w, r)
		return
	}
	rec := &recorder{w, http.StatusOK}
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault == nil || !fault(rec, r) {
		s.api(rec, r, path)
	}
	s.mu.Lock()
	s.asked[rec.status]++
	s.mu.Unlock()
}

func (s *Server) api(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if !s.admit(w) {
		return
	}
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 3 && (parts[0] == "orgs" || parts[0] == "users") && parts[2] == "repos":
		all := s.sorted(func(o *Repo) bool { return strings.HasPrefix(o.FullName, parts[1]+"/") })
		if len(all) == 0 {
			fail(w, http.StatusNotFound, "Not Found")
			return
		}
		s.page(w, r, all, func(page []*Repo) any { return page })
	case path == "user/repos":
		s.page(w, r, s.sorted(func(*Repo) bool { return true }), func(page []*Repo) any { return page })
	case path == "repositories":
		since, _ := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
		all := s.sorted(func(o *Repo) bool { return o.ID > since && !o.Private })
		s.answer(w, r, all[:min(len(all), 100)])
	case path == "search/repositories":
		word := strings.TrimPrefix(r.URL.Query().Get("q"), "topic:")
		all := s.sorted(func(o *Repo) bool { return slices.Contains(o.Topics, word) })
		total := len(all)
		s.page(w, r, all[:min(total, 1000)], func(page []*Repo) any {
			return map[string]any{"total_count": total, "incomplete_results": false, "items": page}
		})
	case len(parts) == 3 && parts[0] == "repos":
		s.one(w, r, parts[1]+"/"+parts[2])
	case len(parts) == 2 && parts[0] == "repositories":
		id, _ := strconv.ParseInt(parts[1], 10, 64)
		if o := s.repos[id]; o != nil {
			s.answer(w, r, o)
			return
		}
		fail(w, http.StatusNotFound, "Not Found")
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// admit counts a request, and refuses it when none is left.
func (s *Server) admit(w http.ResponseWriter) bool {
	if s.limit < 0 {
		return true
	}
	if !s.Now().Before(s.reset) {
		s.limit = -1
		return true
	}
	w.Header().Set("X-RateLimit-Limit", "5000")
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(s.reset.Unix(), 10))
	if s.limit == 0 {
		w.Header().Set("X-RateLimit-Remaining", "0")
		fail(w, http.StatusForbidden, "API rate limit exceeded")
		return false
	}
	s.limit--
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(s.limit))
	return true
}

// sorted are repositories in the order in which they were made.
func (s *Server) sorted(wanted func(*Repo) bool) []*Repo {
	var out []*Repo
	for _, id := range slices.Sorted(maps.Keys(s.repos)) {
		if o := s.repos[id]; wanted(o) {
			listed := *o
			listed.Parent = nil
			out = append(out, &listed)
		}
	}
	return out
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, path string) {
	for _, o := range s.repos {
		if strings.EqualFold(o.FullName, path) {
			s.answer(w, r, o)
			return
		}
	}
	if id, ok := s.old[path]; ok {
		http.Redirect(w, r, fmt.Sprintf("%s/api/v3/repositories/%d", s.URL, id), http.StatusMovedPermanently)
		return
	}
	fail(w, http.StatusNotFound, "Not Found")
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, all []*Repo, wrap func([]*Repo) any) {
	q := r.URL.Query()
	per, _ := strconv.Atoi(q.Get("per_page"))
	number, _ := strconv.Atoi(q.Get("page"))
	per, number = min(cmp.Or(per, 30), 100), cmp.Or(number, 1)
	from := min((number-1)*per, len(all))
	to := min(from+per, len(all))
	if to < len(all) {
		q.Set("page", strconv.Itoa(number+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.Path, q.Encode()))
	}
	s.answer(w, r, wrap(append([]*Repo{}, all[from:to]...)))
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(append(body, w.Header().Get("Link")...)))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		if s.limit >= 0 {
			s.limit++ // it costs none of the limit
		}
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body) // a client that is gone
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

// git serves a repository to git, private ones with the token as password only.
func (s *Server) git(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.fetches++
	var found *Repo
	rest := ""
	for _, o := range s.repos {
		if after, ok := strings.CutPrefix(r.URL.Path, "/"+o.FullName+".git"); ok {
			found, rest = o, after
		}
	}
	token := s.token
	s.mu.Unlock()
	if found == nil || found.Dir == "" {
		http.NotFound(w, r)
		return
	}
	if _, password, _ := r.BasicAuth(); found.Private && password != token {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "authentication required", http.StatusUnauthorized)
		return
	}
	path, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	(&cgi.Handler{
		Path: path, Args: []string{"-c", "safe.directory=*", "http-backend"}, Dir: found.Dir,
		Env: []string{"GIT_PROJECT_ROOT=" + found.Dir, "GIT_HTTP_EXPORT_ALL=1", "PATH_INFO=" + rest, "PATH_TRANSLATED=" + found.Dir + rest, "GIT_CONFIG_NOSYSTEM=1"},
	}).ServeHTTP(w, r)
}
