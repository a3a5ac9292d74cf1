package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// serveGit serves the repositories below a directory the way src serve-git
// does: it tells which there are, and git may read them.
func serveGit(t *testing.T, root string) *httptest.Server {
	t.Helper()
	files := http.StripPrefix("/repos/", http.FileServer(http.Dir(root)))
	mux := http.NewServeMux()
	mux.Handle("GET /repos/", files)
	mux.HandleFunc("GET /v1/list-repos", func(w http.ResponseWriter, _ *http.Request) {
		var answer struct {
			Items []map[string]string
		}
		found, err := os.ReadDir(root)
		if err != nil {
			t.Error(err)
		}
		for _, d := range found {
			answer.Items = append(answer.Items, map[string]string{"Name": "lab/" + d.Name(), "URI": "/repos/" + d.Name(), "ClonePath": "/repos/" + d.Name() + "/.git"})
		}
		answer.Items = append(answer.Items, map[string]string{"Name": "odd", "ClonePath": "ext::sh"})
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// serveable makes a repository one that plain files serve.
func serveable(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("git", "-C", dir, "update-server-info").CombinedOutput(); err != nil {
		t.Fatalf("git update-server-info: %v: %s", err, out)
	}
}

// serving opens a service and has it work as a server does.
func serving(t *testing.T, allowLocal bool) *service.Service {
	t.Helper()
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes, set.AllowLocalSources = t.TempDir(), 0, allowLocal
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { s.Hosts().Follow(ctx, 0) })
	working.Go(func() {
		y := &service.Syncer{Service: s, Stay: true, Log: zerolog.Nop(), Display: progress.Lines(io.Discard, time.Now)}
		y.Run(ctx, nil, func() {})
	})
	t.Cleanup(func() {
		cancel()
		s.Stop()
		working.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// names are those of the repositories that are searched.
func names(t *testing.T, s *service.Service) string {
	t.Helper()
	all, err := s.Repositories().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range all {
		if r.Indexed() {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// eventually waits until ok is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestExternalServices(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"kiln", "glaze"} {
		commit(t, filepath.Join(root, name), "a.txt", "clay of "+name)
		serveable(t, filepath.Join(root, name))
	}
	host := serveGit(t, root)
	s := serving(t, true)
	book := s.GraphQL().Book
	add := func(text string) *saved.Service {
		t.Helper()
		v, err := book.Services.Add(saved.Service{Kind: "OTHER", DisplayName: "host", Config: text})
		if err != nil {
			t.Fatal(err)
		}
		s.Hosts().SyncService(v.ID)
		return v
	}
	all := add(`{"url": "` + host.URL + `", "repos": ["src-serve-local"]}`)
	eventually(t, "sync of both", func() bool { return names(t, s) == "lab/glaze lab/kiln" })
	if n := found(t, s, "clay"); n != 2 {
		t.Errorf("found %d, want 2", n)
	}
	known, err := book.Services.Get(all.ID)
	if err != nil || len(known.Repositories) != 2 || known.LastError != "" || known.LastSync.IsZero() || known.Warning != `"(address hidden)" is no path of a repository` {
		t.Errorf("the service is %+v, %v; want 2 repositories and a warning of one", known, err)
	}

	// What is not there any more is removed, what another service has stays.
	other := add(`{"repos": ["` + host.URL + `/repos/kiln/.git"]}`)
	eventually(t, "sync of the other", func() bool { return strings.Count(names(t, s), "kiln") == 2 })
	if err := os.RemoveAll(filepath.Join(root, "glaze")); err != nil {
		t.Fatal(err)
	}
	s.Hosts().SyncService(all.ID)
	eventually(t, "removal of glaze", func() bool { return !strings.Contains(names(t, s), "glaze") })
	if err := s.Hosts().RemoveService(t.Context(), all.ID); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); !strings.HasSuffix(got, "/repos/kiln") || strings.Contains(got, " ") {
		t.Errorf("repositories are %q, want that of the other service", got)
	}

	// A service that does not answer keeps what it has.
	host.Close()
	s.Hosts().SyncService(other.ID)
	all = add(`{"url": "` + host.URL + `", "repos": ["src-serve"]}`)
	eventually(t, "an error", func() bool {
		v, err := book.Services.Get(all.ID)
		return err == nil && strings.Contains(v.LastError, "connection refused")
	})
	if got := names(t, s); !strings.HasSuffix(got, "/repos/kiln") {
		t.Errorf("repositories are %q, want that of the other service", got)
	}
}

// Nothing of this machine is read for who adds a service, unless the operator
// allows it.
func TestExternalServicesOfThisMachine(t *testing.T) {
	var asked sync.Map
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Store(r.URL.Path, true) }))
	defer host.Close()
	s := serving(t, false)
	book := s.GraphQL().Book
	for _, text := range []string{
		`{"url": "` + host.URL + `", "repos": ["src-serve-local"]}`,
		`{"url": "` + strings.Replace(host.URL, "127.0.0.1", "localhost", 1) + `", "repos": ["src-serve-local"]}`,
	} {
		v, err := book.Services.Add(saved.Service{Kind: "OTHER", DisplayName: "host", Config: text})
		if err != nil {
			t.Fatal(err)
		}
		s.Hosts().SyncService(v.ID)
		eventually(t, "an error", func() bool {
			v, err := book.Services.Get(v.ID)
			return err == nil && strings.Contains(v.LastError, "address not allowed")
		})
	}
	v, err := book.Services.Add(saved.Service{Kind: "OTHER", DisplayName: "host", Config: `{"repos": ["` + host.URL + `/kiln"]}`})
	if err != nil {
		t.Fatal(err)
	}
	s.Hosts().SyncService(v.ID)
	eventually(t, "a failed sync", func() bool {
		all, err := s.Repositories().List(t.Context())
		return err == nil && len(all) == 1 && all[0].LastError != ""
	})
	asked.Range(func(path, _ any) bool {
		t.Errorf("the host was asked for %s", path)
		return true
	})
}

// A site admin who adds a repository on a page reaches nothing of this machine with
// it, unless the operator allows that.
func TestRepositoriesNamedOnAPage(t *testing.T) {
	var asked sync.Map
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Store(r.URL.Path, true) }))
	defer host.Close()
	kiln := gitrepo.New(t, filepath.Join(t.TempDir(), "kiln"))
	kiln.Commit("made")

	s := serving(t, false)
	for source, want := range map[string]string{
		kiln.Dir:                            "set allow-local-sources",
		"x=" + kiln.Dir:                     "set allow-local-sources",
		"file://" + kiln.Dir:                "begin with https:// or http:// here",
		"ssh://git@git.example.org/x":       "begin with https:// or http:// here",
		"git@git.example.org:x":             "begin with https:// or http:// here",
		"name=ext::sh -c id":                "begin with https:// or http:// here",
		"--upload-pack=id":                  "",
		"https:///x":                        "",
		"":                                  "names no repository",
		"http://git.example.org/a\x00b":     "",
		"https://git.example.org/\n":        "",
		strings.Repeat("https://x/", 1<<10): "",
	} {
		if r, err := s.Repositories().AddNamed(t.Context(), source); err == nil && !strings.HasPrefix(source, "http") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v, want %q", source, r, err, want)
		}
	}
	if _, err := s.Repositories().AddNamed(t.Context(), "here="+host.URL+"/kiln"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().AddNamed(t.Context(), "here=https://git.example.org/kiln"); !errors.Is(err, store.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	s.Repositories().Refresh("here")
	eventually(t, "a failed sync", func() bool {
		all, err := s.Repositories().List(t.Context())
		i := slices.IndexFunc(all, func(r *store.Repository) bool { return r.Name == "here" })
		return err == nil && i >= 0 && all[i].LastError != ""
	})
	asked.Range(func(path, _ any) bool {
		t.Errorf("this machine was asked for %s", path)
		return true
	})

	local := serving(t, true)
	if _, err := local.Repositories().AddNamed(t.Context(), kiln.Dir); err != nil {
		t.Fatal(err)
	}
	local.Repositories().Refresh("kiln")
	eventually(t, "a sync of the path", func() bool { return names(t, local) == "kiln" })
}
