package ingest_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// slowHost serves repositories by plain files. Of those called slow it sends no
// object until it is released.
type slowHost struct {
	*httptest.Server
	t    *testing.T
	root string
	// at has a token for each slow repository that git waits for.
	at      chan string
	release chan struct{}
}

func newSlowHost(t *testing.T) *slowHost {
	t.Helper()
	h := &slowHost{t: t, root: t.TempDir(), at: make(chan string, 100), release: make(chan struct{})}
	files := http.FileServer(http.Dir(h.root))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := strings.Split(r.URL.Path, "/")[1]; strings.HasPrefix(name, "slow") && strings.Contains(r.URL.Path, "/objects/") {
			h.at <- name
			select {
			case <-h.release:
			case <-r.Context().Done():
				return
			}
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// add makes a repository with a file there and adds it.
func (h *slowHost) add(f *fixture, name string) {
	h.t.Helper()
	r := &repo{h.t, filepath.Join(h.root, name)}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.write(map[string]string{"a.txt": "text of " + name})
	r.commit()
	r.git("update-server-info")
	src := ingest.Source{Name: name, Location: h.URL + "/" + name + "/.git", Remote: true}
	if _, err := f.ix.Add(h.t.Context(), src); err != nil {
		h.t.Fatal(err)
	}
}

// begin syncs a slow repository until git waits for its objects. What it returns
// waits for the end of the sync.
func (h *slowHost) begin(ctx context.Context, f *fixture, name string) (end func() error) {
	h.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := f.ix.Sync(ctx, name, nil)
		ended <- err
	}()
	select {
	case <-h.at:
	case err := <-ended:
		h.t.Fatalf("sync of %s ended before anything was sent: %v", name, err)
	}
	return func() error { return <-ended }
}

// TestSlowFetchesKeepNobodyWaiting: while as many remotes as may be fetched at
// once send nothing, what need not be fetched is synced, merged and removed; one
// more remote waits, and can give up.
func TestSlowFetchesKeepNobodyWaiting(t *testing.T) {
	f, host := newFixture(t, ingest.Options{}), newSlowHost(t)
	var ends []func() error
	slow := []string{"slow-a", "slow-b", "slow-c", "slow-d"}
	host.add(f, "quick")
	for i, name := range slow {
		if i == len(slow)-1 {
			if _, err := f.ix.Sync(t.Context(), "quick", nil); err != nil {
				t.Errorf("sync of a remote beside %d slow ones: %v", i, err)
			}
		}
		host.add(f, name)
		ends = append(ends, host.begin(t.Context(), f, name))
	}
	local := newRepo(t)
	local.write(map[string]string{"l.txt": "local"})
	local.commit()
	f.sync("local", local)
	if _, err := f.ix.Merger.Merge(t.Context(), func(ingest.Progress) {}); err != nil {
		t.Error(err)
	}
	if err := f.ix.Remove(t.Context(), "local"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.ix.Sync(ctx, "quick", func(p ingest.Progress) {
		if p.Phase != "wait" {
			t.Errorf("one remote more than may be fetched is in phase %q, want wait", p.Phase)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want context.Canceled", err)
	}
	close(host.release)
	for i, end := range ends {
		if err := end(); err != nil {
			t.Errorf("sync of %s: %v", slow[i], err)
		}
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, name := range append(slow, "quick") {
		if r, err := sn.Repository(name); err != nil || r.Documents != 1 || r.LastError != "" || r.LastFetched.IsZero() {
			t.Errorf("%s: got %+v, %v; want it indexed", name, r, err)
		}
	}
}

// TestRemoveWhileFetched: the fetch ends, and nothing of the mirror stays.
func TestRemoveWhileFetched(t *testing.T) {
	f, host := newFixture(t, ingest.Options{}), newSlowHost(t)
	host.add(f, "slow")
	end := host.begin(t.Context(), f, "slow")
	// A second sync waits for the first one to end, and finds nothing then.
	waits, second := make(chan struct{}), make(chan error, 1)
	go func() {
		var once sync.Once
		_, err := f.ix.Sync(t.Context(), "slow", func(ingest.Progress) { once.Do(func() { close(waits) }) })
		second <- err
	}()
	<-waits
	if err := f.ix.Remove(t.Context(), "slow"); err != nil {
		t.Errorf("remove: %v", err)
	}
	for which, err := range map[string]error{"first": end(), "second": <-second} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the %s sync ended with %v, want store.ErrNotFound", which, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(f.st.Dir(), "mirrors"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("%s has stayed", e.Name())
	}
	if _, err := f.ix.Sync(t.Context(), "slow", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("sync of what is removed: got %v, want store.ErrNotFound", err)
	}
	close(host.release)
	host.add(f, "slow-again")
	if _, err := f.ix.Sync(t.Context(), "slow-again", nil); err != nil {
		t.Errorf("sync of another one: %v", err)
	}
}

// TestLowDiskEndsFetches: what a remote sends does not fill the disk.
func TestLowDiskEndsFetches(t *testing.T) {
	mem, dir := vfs.NewMem(), filepath.Join(t.TempDir(), "data")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 41})
	st, err := store.Open(dir, store.Options{FS: mem, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	f, host := &fixture{t, st, ingest.New(st, ingest.Options{})}, newSlowHost(t)
	host.add(f, "slow")
	end := host.begin(t.Context(), f, "slow")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 1 << 41})
	if err := end(); !errors.Is(err, ingest.ErrLowDisk) {
		t.Errorf("it ended with %v, want ingest.ErrLowDisk", err)
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 41})
	close(host.release)
	if _, err := f.ix.Sync(t.Context(), "slow", nil); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
