package git_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/git"
)

// refs lists a repository's refs and their objects.
func refs(t testing.TB, dir string) string {
	t.Helper()
	cmd := exec.Command("git", "--git-dir="+dir, "for-each-ref", "--format=%(refname) %(objectname)")
	cmd.Env = fixtureEnv()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git for-each-ref in %s: %v", dir, err)
	}
	return string(out)
}

func TestMirrorAndFetch(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	first := x.commit()
	x.git("tag", "v1")
	x.git("branch", "old")
	x.git("update-ref", "refs/pull/1/head", first)
	dir := filepath.Join(t.TempDir(), "some", "mirror.git")
	var lines []string
	repo, err := unbounded.Mirror(t.Context(), "", x.dir, dir, func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) == 0 {
		t.Error("no progress was shown")
	}
	checkMirror(t, repo, x, "main", first)

	// Everything a remote can do: advance, rewrite, drop, rename.
	x.write("a", "2")
	x.git("add", "-A")
	x.git("commit", "-q", "--amend", "-m", "rewritten")
	x.git("branch", "-q", "-D", "old")
	x.git("branch", "old/nested") // takes the place of a ref as a folder
	x.git("tag", "-f", "v1")
	x.git("branch", "-m", "main", "trunk")
	if err := repo.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "trunk", x.git("rev-parse", "HEAD"))

	// A detached head.
	x.git("checkout", "-q", "--detach")
	second := x.commit()
	if err := repo.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "", second)

	// What is there already is opened without asking the remote.
	if err := os.RemoveAll(x.dir); err != nil {
		t.Fatal(err)
	}
	again, err := unbounded.Mirror(t.Context(), "", x.dir, dir, nil)
	if err != nil {
		t.Fatalf("Mirror of an existing mirror: %v", err)
	}
	oneLine(t, again.Fetch(t.Context(), nil), "fetch "+x.dir)
}

func checkMirror(t *testing.T, m *git.Mirror, x *fixture, branch, commit string) {
	t.Helper()
	got, err := m.Repo.DefaultBranch(t.Context())
	if want := (git.Branch{Name: branch, Commit: commit}); err != nil || got != want {
		t.Errorf("DefaultBranch of the mirror = %v, %v; want %v", got, err, want)
	}
	if got, want := refs(t, m.Repo.Dir()), refs(t, filepath.Join(x.dir, ".git")); got != want {
		t.Errorf("refs of the mirror\n got %s\nwant %s", got, want)
	}
}

func TestMirrorOfEmptyRepository(t *testing.T) {
	x := newFixture(t)
	repo, err := unbounded.Mirror(t.Context(), "", x.dir, filepath.Join(t.TempDir(), "m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Repo.DefaultBranch(t.Context()); !errors.Is(err, git.ErrEmpty) {
		t.Errorf("DefaultBranch: %v, want ErrEmpty", err)
	}
	x.write("a", "1")
	commit := x.commit()
	if err := repo.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
}

func TestMirrorRefusesURLs(t *testing.T) {
	parent := t.TempDir()
	mark := filepath.Join(parent, "mark")
	for url, part := range map[string]string{
		"":                                   "empty",
		"  ":                                 "empty",
		"--upload-pack=touch " + mark:        "dash",
		"-u":                                 "dash",
		"ext::sh -c touch% " + mark:          "remote helpers",
		"fd::3":                              "remote helpers",
		"https::https://example.org/x":       "remote helpers",
		"ftp://example.org/x":                "not supported",
		"ext://sh":                           "not supported",
		"ssh://-oProxyCommand=touch/x":       "the name of its host",
		"ssh://-oProxyCommand=x@host/x":      "user begins with a dash",
		"-oProxyCommand=touch:x":             "dash",
		"git@-oProxyCommand=touch:x":         "the name of its host",
		"https:///x":                         "names no host",
		"https://example.org/\nx":            "control character",
		"https://user:secret@exa mple.org/x": "does not parse",
	} {
		dir := filepath.Join(parent, "m")
		_, err := unbounded.Mirror(t.Context(), "", url, dir, nil)
		oneLine(t, err, part)
		if !errors.Is(err, git.ErrURL) {
			t.Errorf("Mirror(%q): %v, want ErrURL", url, err)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("Mirror(%q): the error shows the password: %v", url, err)
		}
	}
	if left, _ := os.ReadDir(parent); len(left) != 0 {
		t.Errorf("refused URLs left %v", left)
	}
}

// A mirror either is whole or is not there.
func TestMirrorLeavesNothingHalfMade(t *testing.T) {
	plain := t.TempDir()
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, attempt := range map[string]struct {
		ctx  context.Context
		url  string
		want error
	}{
		"unreachable":      {t.Context(), "http://127.0.0.1:1/x/y.git", nil},
		"no repository":    {t.Context(), plain, nil},
		"no such folder":   {t.Context(), filepath.Join(plain, "none"), nil},
		"cancelled before": {cancelled, x.dir, context.Canceled},
	} {
		parent := t.TempDir()
		_, err := unbounded.Mirror(attempt.ctx, "", attempt.url, filepath.Join(parent, "m"), nil)
		oneLine(t, err, "mirror ", attempt.url)
		if attempt.want != nil && !errors.Is(err, attempt.want) {
			t.Errorf("%s: %v, want %v", name, err, attempt.want)
		}
		if left, _ := os.ReadDir(parent); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}

	// What a crash left is cleared away.
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.MkdirAll(filepath.Join(dir+".partial", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := unbounded.Mirror(t.Context(), "", x.dir, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
	if _, err := os.Stat(dir + ".partial"); err == nil {
		t.Error("the partial mirror is still there")
	}
}

// httpServer serves the fixtures below root as a git host that wants a user
// and password.
func httpServer(t *testing.T, root string) *httptest.Server {
	t.Helper()
	execPath, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		needs.Skip(t, "git-http-backend", err)
	}
	handler := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "o'neil" || password != "s3cr%t $(x)" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestMirrorWithCredentials(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	server := httpServer(t, filepath.Dir(x.dir))
	dir := filepath.Join(t.TempDir(), "m")
	plainURL := server.URL + "/repo/.git"

	// Without credentials, and with wrong ones: an error at once, not a prompt.
	for _, user := range []string{"", "o'neil:wr0ng@"} {
		_, err := unbounded.Mirror(t.Context(), "", strings.Replace(plainURL, "://", "://"+user, 1), dir, nil)
		oneLine(t, err, "mirror "+plainURL)
		if strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("the error shows the password: %v", err)
		}
	}

	url := strings.Replace(plainURL, "://", "://o%27neil:s3cr%25t%20$(x)@", 1)
	repo, err := unbounded.Mirror(t.Context(), "", url, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
	x.write("a", "2")
	commit = x.commit()
	if err := repo.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(config); !strings.Contains(text, plainURL) || strings.Contains(text, "s3cr") || strings.Contains(text, "neil") {
		t.Errorf("configuration of the mirror:\n%s\nwant the URL without user and password", text)
	}
}

func TestFetchCancelled(t *testing.T) {
	x := newFixture(t)
	x.commit()
	repo, err := unbounded.Mirror(t.Context(), "", x.dir, filepath.Join(t.TempDir(), "m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	// A host that accepts and never answers.
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		cancel()
		<-r.Context().Done() // the killed client hangs up
	}))
	defer server.Close()
	again, err := unbounded.Mirror(t.Context(), "", server.URL+"/x", repo.Repo.Dir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Fetch(ctx, nil); !errors.Is(err, context.Canceled) || asked.Load() == 0 {
		t.Errorf("Fetch cancelled while the host is silent (%d requests): %v", asked.Load(), err)
	}
}

func TestOriginWithoutRemote(t *testing.T) {
	x := newFixture(t)
	_, err := git.Origin(t.Context(), filepath.Join(x.dir, ".git"))
	oneLine(t, err, "no remote named origin")
}
