package service_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
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
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/internal/hosttest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

const hostToken = "ghp_S3cr3tOfTheTest"

// hosted is a service that works, a code host, and what the service logs.
type hosted struct {
	*testing.T
	*service.Service
	host  *hosttest.Server
	data  string
	log   *lockedBuffer
	asked uint32
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func newHosted(t *testing.T, grace time.Duration) *hosted {
	t.Helper()
	return newHostedBy(t, hosttest.GitHub, grace)
}

func newHostedBy(t *testing.T, api hosttest.API, grace time.Duration) *hosted {
	t.Helper()
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes, set.AllowLocalSources, set.VanishedAfter = t.TempDir(), 0, true, grace
	h := &hosted{T: t, host: hosttest.New(t, api, hostToken), data: set.Data, log: &lockedBuffer{}}
	log := zerolog.New(h.log)
	s, err := service.Open(t.Context(), set, service.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	h.Service = s
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { s.Hosts().Follow(ctx, 0) })
	working.Go(func() {
		y := &service.Syncer{Service: s, Stay: true, Log: log, Display: progress.Lines(io.Discard, time.Now)}
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
	return h
}

// add adds a service of the host, whose configuration lacks url and token.
func (h *hosted) add(rest string) {
	h.Helper()
	h.addService(h.host.API.Kind, `{"url": "`+h.host.URL+`", "token": "`+hostToken+`", `+rest+`}`)
}

func (h *hosted) addService(kind, full string) {
	h.Helper()
	v := saved.Service{Kind: kind, DisplayName: "hub"}
	book := h.GraphQL().Book
	if err := book.Services.SetConfig(&v, full, hosts.Redact(full)); err != nil {
		h.Fatal(err)
	}
	added, err := book.Services.Add(v)
	if err != nil {
		h.Fatal(err)
	}
	h.asked = added.ID
	h.sync()
}

// sync asks the service, and waits until that is over.
func (h *hosted) sync() *saved.Service {
	h.Helper()
	book := h.GraphQL().Book
	before, err := book.Services.Get(h.asked)
	if err != nil {
		h.Fatal(err)
	}
	h.Hosts().SyncService(h.asked)
	var after *saved.Service
	eventually(h.T, "an answer of the host", func() bool {
		after, err = book.Services.Get(h.asked)
		return err == nil && after.LastSync.After(before.LastSync)
	})
	return after
}

// put adds a repository with a commit, or renames one.
func (h *hosted) put(id int64, name string, private bool) {
	h.Helper()
	dir := filepath.Join(h.data, "..", fmt.Sprint("origin", id))
	if _, err := os.Stat(dir); err != nil {
		commit(h.T, dir, "a.txt", "clay of "+name)
	}
	h.host.Put(hosttest.Repo{ID: id, FullName: name, Private: private, Dir: filepath.Join(dir, ".git"), Stars: int(id)})
}

// record is the repository of a name without that of the host, nil for none.
func (h *hosted) record(name string) *store.Repository {
	h.Helper()
	all, err := h.Repositories().List(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	for _, r := range all {
		if r.Name == "127.0.0.1/"+name {
			return r
		}
	}
	return nil
}

// indexed waits until repositories are searched.
func (h *hosted) indexed(paths ...string) {
	h.Helper()
	for _, name := range paths {
		eventually(h.T, "sync of "+name, func() bool { r := h.record(name); return r != nil && r.Indexed() })
	}
}

// A host's repositories are searched, private ones with the token, under the names that
// they have there.
func TestCodeHost(t *testing.T) {
	h := newHosted(t, time.Hour)
	h.put(1, "acme/kiln", false)
	h.put(2, "acme/glaze", true)
	h.put(3, "acme/oven", false)
	h.add(`"orgs": ["acme"]`)
	h.indexed("acme/kiln", "acme/glaze", "acme/oven")
	if n := found(t, h.Service, "clay"); n != 3 {
		t.Errorf("found %d, want 3", n)
	}
	glaze := h.record("acme/glaze")
	if o := glaze.Origin; !glaze.Private || glaze.Stars != 2 || o == nil || o.ID != "2" || o.Kind != "github" || strings.Contains(glaze.Source, "@") {
		t.Errorf("the record is %+v, from %+v", glaze, o)
	}

	// Two swap their names, one takes the name of another, and all keep their numbers.
	kiln, oven := h.record("acme/kiln"), h.record("acme/oven")
	h.put(1, "acme/swap", false)
	h.put(3, "acme/kiln", false)
	h.put(1, "acme/oven", false)
	h.sync()
	if a, b := h.record("acme/oven"), h.record("acme/kiln"); a == nil || b == nil || a.ID != kiln.ID || b.ID != oven.ID || !a.Indexed() {
		t.Errorf("after a swap: %+v and %+v", a, b)
	}
	if n := found(t, h.Service, "repo:acme/oven clay of acme/kiln"); n != 1 {
		t.Errorf("found %d in the renamed one, want 1", n)
	}

	// Nothing is hidden while the host fails, refuses the token, or gives a part.
	h.host.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
		return true
	})
	if v := h.sync(); v.LastError != "" || !strings.Contains(v.Warning, "organisation acme") || len(v.Repositories) != 3 {
		t.Errorf("a part that fails: %+v", v)
	}
	h.host.Fault(nil)
	h.host.SetToken("another")
	if v := h.sync(); !strings.Contains(v.LastError, "refuses the token") || len(v.Repositories) != 3 {
		t.Errorf("a revoked token: %+v", v)
	}
	if n := found(t, h.Service, "clay"); n != 3 {
		t.Errorf("found %d, want 3 still", n)
	}
	h.host.SetToken(hostToken)

	// What vanished is hidden at once, kept, and found again when it is back.
	h.host.Delete(2)
	if v := h.sync(); len(v.Repositories) != 3 || v.LastError != "" {
		t.Errorf("after a deletion: %+v", v)
	}
	if n, r := found(t, h.Service, "clay"), h.record("acme/glaze"); n != 2 || r == nil || !r.IsGone() {
		t.Errorf("found %d, want 2 and one that is kept: %+v", n, r)
	}
	h.put(2, "acme/glaze", true)
	h.sync()
	if n, r := found(t, h.Service, "clay"), h.record("acme/glaze"); n != 3 || r == nil || r.IsGone() || r.ID != glaze.ID {
		t.Errorf("found %d, want 3 and the same one: %+v", n, r)
	}

	// Another repository of the same name is another repository.
	h.host.Delete(2)
	h.put(4, "acme/glaze", false)
	h.sync()
	h.indexed("acme/glaze")
	if r := h.record("acme/glaze"); r.ID == glaze.ID || r.Origin.ID != "4" {
		t.Errorf("a new one under the name of an old one: %+v", r)
	}
	h.findNoToken()
}

// Hosts of each kind are followed: private repositories are read with the token, a push is
// searched after a webhook, a renamed one is the same one, a deleted one is hidden, and a
// revoked token hides nothing.
func TestEachKindOfCodeHost(t *testing.T) {
	const hook = `, "webhooks": [{"secret": "S3cr3tOfTheHook"}]`
	for _, tt := range []struct {
		api    hosttest.API
		config string
		// header and body are those of a webhook for the push of repository 1.
		header, value, body string
	}{
		{hosttest.GitLab, `"groups": ["acme"]` + hook, "X-Gitlab-Event", "Push Hook", `{"object_kind": "push", "project_id": 1}`},
		{hosttest.Gitea, `"orgs": ["acme"]` + hook, "X-Gitea-Event", "push", `{"repository": {"id": 1}}`},
		{hosttest.BitbucketServer, `"projectKeys": ["acme"]` + hook, "X-Event-Key", "repo:refs_changed", `{"repository": {"id": 1}}`},
	} {
		t.Run(tt.api.Kind, func(t *testing.T) {
			h := newHostedBy(t, tt.api, time.Hour)
			h.put(1, "acme/kiln", true)
			h.put(2, "acme/glaze", false)
			h.add(tt.config)
			h.indexed("acme/kiln", "acme/glaze")
			kiln := h.record("acme/kiln")
			if n := found(t, h.Service, "clay"); n != 2 || !kiln.Private || kiln.Origin == nil || kiln.Origin.ID != "1" || strings.Contains(kiln.Source, "@") {
				t.Errorf("found %d, want 2; the record is %+v", n, kiln)
			}
			commit(t, filepath.Join(h.data, "..", "origin1"), "pushed.txt", "freshly pushed")
			mac := hmac.New(sha256.New, []byte("S3cr3tOfTheHook"))
			mac.Write([]byte(tt.body))
			signature := hex.EncodeToString(mac.Sum(nil))
			header := http.Header{}
			for name, value := range map[string]string{
				tt.header: tt.value, "X-Gitlab-Token": "S3cr3tOfTheHook", "X-Gitea-Signature": signature, "X-Hub-Signature": "sha256=" + signature,
			} {
				header.Set(name, value)
			}
			said, err := h.Hosts().HookConfig(h.asked).ReadHook(header, []byte(tt.body), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			h.Hosts().Hooked(h.asked, said)
			eventually(t, "a result for what was pushed", func() bool { return found(t, h.Service, "freshly") == 1 })

			h.put(1, "acme/oven", true)
			h.host.Delete(2)
			h.sync()
			if r, gone := h.record("acme/oven"), h.record("acme/glaze"); r == nil || r.ID != kiln.ID || gone == nil || !gone.IsGone() {
				t.Errorf("after a rename and a deletion: %+v and %+v", r, gone)
			}
			h.host.SetToken("another")
			if v := h.sync(); !strings.Contains(v.LastError, "refuses the token") || found(t, h.Service, "clay") != 1 {
				t.Errorf("a revoked token: %+v", v)
			}
			h.findNoToken()
		})
	}
}

// What has been gone for long enough is removed, with a listing that is whole.
func TestCodeHostRemoves(t *testing.T) {
	h := newHosted(t, 0)
	h.put(1, "acme/kiln", false)
	h.put(2, "acme/glaze", false)
	h.add(`"orgs": ["acme"]`)
	h.indexed("acme/kiln", "acme/glaze")
	h.host.Delete(2)
	h.sync()
	if r := h.record("acme/glaze"); r == nil || !r.IsGone() {
		t.Fatalf("after the first listing: %+v, want it hidden", r)
	}
	h.host.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, `{"message": "oops"}`, http.StatusNotFound)
		return true
	})
	h.sync()
	if h.record("acme/glaze") == nil {
		t.Error("a listing that failed removes it")
	}
	h.host.Fault(nil)
	if v := h.sync(); h.record("acme/glaze") != nil || len(v.Repositories) != 1 {
		t.Errorf("after the second listing: %+v, want it removed", v)
	}
	if err := h.Hosts().RemoveService(t.Context(), h.asked); err != nil || h.record("acme/kiln") != nil {
		t.Errorf("without the service: %v, %+v", err, h.record("acme/kiln"))
	}
}

// What a host lists is shown before it is taken.
func TestCodeHostPreview(t *testing.T) {
	h := newHosted(t, time.Hour)
	for id := range int64(3000) {
		h.host.Put(hosttest.Repo{ID: id + 1, FullName: fmt.Sprintf("acme/r%04d", id), Archived: id%2 == 0})
	}
	text := `{"url": "` + h.host.URL + `", "token": "` + hostToken + `", "orgs": ["acme"], "exclude": [{"archived": true}]}`
	p, err := h.Hosts().PreviewService(t.Context(), &saved.Service{Kind: "GITHUB", Config: text})
	if err != nil || len(p.Added) != 1500 || len(p.Hidden)+len(p.Removed)+len(p.Changed)+len(p.Renamed) != 0 {
		t.Fatalf("got %+v, %v; want 1500 that are added", p, err)
	}
	if h.host.Asked(0) != 30 {
		t.Errorf("%d requests, want 30", h.host.Asked(0))
	}
	if all, err := h.Repositories().List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a preview added %d repositories, %v", len(all), err)
	}
}

// What is pushed is searched soon after the host's webhook, while hundreds of new
// repositories are read.
func TestCodeHostPush(t *testing.T) {
	h := newHosted(t, time.Hour)
	h.put(1, "acme/kiln", false)
	h.add(`"orgs": ["acme"], "webhooks": [{"secret": "S3cr3tOfTheHook"}]`)
	h.indexed("acme/kiln")
	h.put(2, "acme/new", false)
	for id := range int64(200) {
		h.host.Put(hosttest.Repo{ID: id + 3, FullName: fmt.Sprintf("acme/r%03d", id), Dir: filepath.Join(h.data, "..", "origin2", ".git")})
	}
	h.sync()
	dir := filepath.Join(h.data, "..", "origin1")
	var took []time.Duration
	for i := range 3 {
		word := fmt.Sprintf("pushed%d", i)
		commit(t, dir, word+".txt", word)
		start := time.Now()
		body := fmt.Appendf(nil, `{"ref": "refs/heads/main", "after": "%d", "repository": {"id": 1}}`, i)
		mac := hmac.New(sha256.New, []byte("S3cr3tOfTheHook"))
		mac.Write(body)
		config := h.Hosts().HookConfig(h.asked)
		if config == nil {
			t.Fatal("the service takes no webhooks")
		}
		hook, err := config.ReadHook(http.Header{"X-Github-Event": {"push"}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}, body, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		h.Hosts().Hooked(h.asked, hook)
		eventually(t, "a result for what was pushed", func() bool { return found(t, h.Service, word) == 1 })
		took = append(took, time.Since(start))
	}
	unread := 0
	all, err := h.Repositories().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if !r.Indexed() {
			unread++
		}
	}
	t.Logf("searched after %s, while %d repositories of %d were not read yet", took, unread, len(all))
	if unread == 0 {
		t.Error("the test shows nothing: all repositories were read before")
	}
	// A webhook for what is not known has the host asked.
	h.put(500, "acme/later", false)
	h.Hosts().Hooked(h.asked, codehost.Hook{Repositories: []string{"500"}})
	eventually(t, "a listing", func() bool { return h.record("acme/later") != nil })
}

// findNoToken looks for the token in all that was written.
func (h *hosted) findNoToken() {
	h.Helper()
	if text := h.log.String(); strings.Contains(text, hostToken) {
		h.Errorf("the token is in the log: %s", text)
	}
	var files int
	err := filepath.WalkDir(h.data, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the server is at work
		case err != nil || !d.Type().IsRegular():
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(hostToken)) {
			h.Errorf("the token is in %s", path)
		}
		files++
		return nil
	})
	if err != nil || files == 0 {
		h.Errorf("walk of %d files: %v", files, err)
	}
	all, err := h.GraphQL().Book.Services.All()
	if err != nil {
		h.Fatal(err)
	}
	if slices.ContainsFunc(all, func(v *saved.Service) bool { return strings.Contains(v.Config, hostToken) }) {
		h.Error("a record has the token")
	}
}
