package hosttest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Repo is a repository of the server, whatever its kind.
type Repo struct {
	ID int64
	// NodeID is another name of GitHub's for the same.
	NodeID string
	// FullName is its path, such as lab/kiln. Put sets Name and CloneURL from it.
	FullName, Name, CloneURL string
	Description              *string
	Topics                   []string
	Stars                    int
	Fork, Archived, Private  bool
	// Visibility is public, internal or private; Private decides if it is "".
	Visibility    string
	DefaultBranch string
	// Size is in KiB.
	Size int
	// PushedAt is a time as RFC 3339 has it, "" for none.
	PushedAt string
	Parent   *Repo
	// Readers may read it while it is private. Owner is whose it is, nil for an organisation's.
	Readers []User
	Owner   *User
	// Dir is the git repository that is served, "" for none.
	Dir string
}

// User is an account of the server.
type User struct {
	ID    int64
	Login string
	// Email is verified unless Unconfirmed.
	Email       string
	Unconfirmed bool
	// Guest says that the account sees the repository and no code of it, at GitLab and Gitea.
	Guest bool
	// Team is the team or group that lets it read, "" for none, and OfProject says that
	// the permission is one for the whole project, at Bitbucket Server.
	Team      string
	OfProject bool
	// Inactive says that the account may not sign in any more.
	Inactive bool
}

// user returns an account by its login or number.
func (s *Server) user(name string) *User {
	for _, o := range s.repos {
		for _, u := range o.Readers {
			if u.Login == name || strconv.FormatInt(u.ID, 10) == name {
				return &u
			}
		}
	}
	return nil
}

// readers are those by a team, or by none.
func (r *Repo) readers(team string) (out []User) {
	for _, u := range r.Readers {
		if u.Team == team {
			out = append(out, u)
		}
	}
	return out
}

// teams are one account of each team that lets accounts read.
func (r *Repo) teams() (out []User) {
	for _, u := range r.Readers {
		if u.Team != "" && !slices.ContainsFunc(out, func(o User) bool { return o.Team == u.Team }) {
			out = append(out, u)
		}
	}
	return out
}

// members are the accounts that some condition holds of.
func (s *Server) members(wanted func(u *User) bool) (out []User) {
	for _, o := range s.sorted(func(*Repo) bool { return true }) {
		for _, u := range o.Readers {
			if wanted(&u) && !slices.ContainsFunc(out, func(o User) bool { return o.ID == u.ID }) {
				out = append(out, u)
			}
		}
	}
	return out
}

// Created is when the repository was made: one an hour, in the order of their IDs.
func (r *Repo) Created() time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.ID) * time.Hour)
}

// API is how hosts of a kind speak.
type API struct {
	// Kind is what trawl calls them.
	Kind string
	// prefix is the path of the API.
	prefix string
	// admits reports whether a request has the token.
	admits func(r *http.Request, token string) bool
	// serve answers a request for a path, whose parts are not escaped any more. It is
	// called with the lock held.
	serve func(s *Server, w http.ResponseWriter, r *http.Request, path []string)
	// Fail answers that a request failed.
	Fail func(w http.ResponseWriter, status int, message string)
	// limits begin the headers about limits, "" for Retry-After, and limited is the status
	// when none is left.
	limits  string
	limited int
	// etags says that answers have them, magic is what stands before answers, and clone the
	// form of paths for git, "" for the usual one.
	etags        bool
	magic, clone string
}

// Server is the host.
type Server struct {
	*httptest.Server
	// API is that of its kind.
	API API
	// Now is the clock of its limits.
	Now func() time.Time
	// Admin says that the token is an administrator's, and NoPermissions that it may see no
	// permissions of the repositories whose paths begin so, "" for none; both are set before
	// requests are made.
	Admin         bool
	NoPermissions string

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
	// asked are the requests of the API by status.
	asked map[int]int
}

// New starts a server without repositories for a test. An empty token lets everyone in.
func New(t interface{ Cleanup(func()) }, api API, token string) *Server {
	s := Start(api, token)
	t.Cleanup(s.Close)
	return s
}

// Start starts a server that the caller closes.
func Start(api API, token string) *Server {
	s := &Server{API: api, Now: time.Now, repos: map[int64]*Repo{}, old: map[string]int64{}, token: token, limit: -1, asked: map[int]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Put adds a repository, or changes the one with its ID; a new path is a new name.
func (s *Server) Put(r Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.repos[r.ID]; was != nil && was.FullName != r.FullName {
		s.old[was.FullName] = r.ID
	}
	r.Name = path.Base(r.FullName)
	r.NodeID = cmp.Or(r.NodeID, fmt.Sprintf("R_%d", r.ID))
	r.CloneURL, r.DefaultBranch = s.URL+s.clonePath(r.FullName), cmp.Or(r.DefaultBranch, "main")
	if r.Visibility == "" {
		r.Visibility = map[bool]string{true: "private", false: "public"}[r.Private]
	}
	s.repos[r.ID] = &r
}

// clonePath is where git finds a repository.
func (s *Server) clonePath(path string) string {
	return fmt.Sprintf(cmp.Or(s.API.clone, "/%s.git"), path)
}

// Dir is the git repository that is served as a repository.
func (s *Server) Dir(id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.repos[id]; o != nil {
		return o.Dir
	}
	return ""
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

// SecondPage reports whether a request is for the second page of a list.
func (s *Server) SecondPage(r *http.Request) bool {
	q := r.URL.Query()
	return q.Get("page") == "2" || q.Get("start") == "100" || q.Get("S") == "100"
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

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	escaped, isAPI := strings.CutPrefix(r.URL.EscapedPath(), s.API.prefix)
	if !isAPI {
		s.git(w, r)
		return
	}
	rec := &recorder{w, http.StatusOK}
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault == nil || !fault(rec, r) {
		s.api(rec, r, strings.Split(escaped, "/"))
	}
	s.mu.Lock()
	s.asked[rec.status]++
	s.mu.Unlock()
}

func (s *Server) api(w http.ResponseWriter, r *http.Request, path []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range path {
		if part, err := url.PathUnescape(path[i]); err == nil {
			path[i] = part
		}
	}
	if s.token != "" && !s.API.admits(r, s.token) {
		s.API.Fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if s.admit(w) {
		s.API.serve(s, w, r, path)
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
	say := func(name, value string) {
		if s.API.limits != "" {
			w.Header().Set(s.API.limits+name, value)
		}
	}
	say("Limit", "5000")
	say("Reset", strconv.FormatInt(s.reset.Unix(), 10))
	if s.limit == 0 {
		say("Remaining", "0")
		if s.API.limits == "" {
			w.Header().Set("Retry-After", strconv.Itoa(int(s.reset.Sub(s.Now()).Round(time.Second).Seconds())))
		}
		s.API.Fail(w, s.API.limited, "API rate limit exceeded")
		return false
	}
	s.limit--
	say("Remaining", strconv.Itoa(s.limit))
	return true
}

// sorted are repositories in the order in which they were made.
func (s *Server) sorted(wanted func(*Repo) bool) []*Repo {
	var out []*Repo
	for _, id := range slices.Sorted(maps.Keys(s.repos)) {
		if o := s.repos[id]; wanted(o) {
			out = append(out, o)
		}
	}
	return out
}

// named returns a repository by its path, or by one that it had before; moved says so.
func (s *Server) named(path string) (o *Repo, moved bool) {
	for _, o := range s.repos {
		if strings.EqualFold(o.FullName, path) {
			return o, false
		}
	}
	o = s.repos[s.old[path]]
	return o, o != nil
}

// below returns the repositories of a group, and of those within it.
func (s *Server) below(group string) []*Repo {
	return s.sorted(func(o *Repo) bool { return strings.HasPrefix(o.FullName, group+"/") })
}

// page cuts a page out of a list, whose size a parameter names, and links to the next.
func page[T any](s *Server, w http.ResponseWriter, r *http.Request, all []T, sizeName string, usual, most int) []T {
	q := r.URL.Query()
	per, _ := strconv.Atoi(q.Get(sizeName))
	number, _ := strconv.Atoi(q.Get("page"))
	per, number = min(cmp.Or(per, usual), most), cmp.Or(number, 1)
	from := min((number-1)*per, len(all))
	to := min(from+per, len(all))
	if to < len(all) {
		q.Set("page", strconv.Itoa(number+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.EscapedPath(), q.Encode()))
		w.Header().Set("X-Next-Page", strconv.Itoa(number+1))
	}
	return all[from:to]
}

// each makes a list of what the API says of repositories or accounts.
func each[T any](all []T, says func(T) map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(all))
	for _, o := range all {
		out = append(out, says(o))
	}
	return out
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if !s.API.etags {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(append([]byte(s.API.magic), body...)) // a client that is gone
		return
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

// failWith returns a function that answers a failure with a message in a member.
func failWith(member string) func(w http.ResponseWriter, status int, message string) {
	return func(w http.ResponseWriter, status int, message string) {
		answerJSON(w, status, map[string]string{member: message})
	}
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that is gone
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// git serves a repository to git, private ones with the token as password only.
func (s *Server) git(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var found *Repo
	rest := ""
	for _, o := range s.repos {
		if after, ok := strings.CutPrefix(r.URL.Path, s.clonePath(o.FullName)); ok && strings.HasPrefix(after, "/") {
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
		w.Header().Set("WWW-Authenticate", `Basic realm="host"`)
		http.Error(w, "authentication required", http.StatusUnauthorized)
		return
	}
	program, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	(&cgi.Handler{
		Path: program, Args: []string{"-c", "safe.directory=*", "http-backend"}, Dir: found.Dir,
		Env: []string{"GIT_PROJECT_ROOT=" + found.Dir, "GIT_HTTP_EXPORT_ALL=1", "PATH_INFO=" + rest, "PATH_TRANSLATED=" + found.Dir + rest, "GIT_CONFIG_NOSYSTEM=1"},
	}).ServeHTTP(w, r)
}
