package service_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a service in a new directory and closes it with the test.
func open(t *testing.T) *service.Service {
	t.Helper()
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestSpoolIsEmptyBetweenRuns: nothing of a download stays in the data directory
// when the service is closed, or opened behind one that was killed.
func TestSpoolIsEmptyBetweenRuns(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	dir := filepath.Join(set.Data, "spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("opened: %v, %v", left, err)
	}
	f, err := s.Spool().Create(t.Context(), "a client", 100)
	if err == nil {
		err = f.Close()
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("closed: %v, want no folder", err)
	}
}

// commit writes a file into the repository dir, makes one if needed, and
// commits it.
func commit(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init -q -b main", "add -A", "commit -q -m changed"} {
		gitrepo.Run(t, dir, nil, "", strings.Fields(line)...)
	}
}

// found counts what a query finds.
func found(t *testing.T, s *service.Service, text string) int {
	t.Helper()
	q, err := syntax.Parse(text, query.Standard)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	out := s.Search(t.Context(), q, search.Options{Display: -1}, answer.SinkFunc(func(m []query.Match) error {
		n += len(m)
		return nil
	}))
	if out.Err != nil {
		t.Fatalf("search %q: %v", text, out.Err)
	}
	return n
}

func ignore(ingest.Progress) {}

func TestAddLooksAtPaths(t *testing.T) {
	s := open(t)
	dir := t.TempDir()
	if _, err := s.Repositories().Add(t.Context(), dir); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("Add of a plain directory: got %v, want git.ErrNotRepository", err)
	}
	if all, err := s.Repositories().List(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("List: got %v, %v; want nothing kept", all, err)
	}
	// What was a repository when it was added may be away for a while.
	kiln := filepath.Join(dir, "kiln")
	commit(t, kiln, "a.txt", "glaze")
	if _, err := s.Repositories().Add(t.Context(), kiln); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(kiln); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Repositories().Add(t.Context(), kiln); err != nil || r.Name != "kiln" {
		t.Errorf("Add of a known one: got %v, %v", r, err)
	}
}

func TestSyncWaitsForItsTurnOrGivesUp(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "glaze")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	running, release := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		var once sync.Once
		_, err := s.Repositories().Sync(t.Context(), "kiln", func(ingest.Progress) {
			once.Do(func() {
				close(running)
				<-release
			})
		})
		if err != nil {
			t.Errorf("the first sync: %v", err)
		}
	})
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Repositories().Sync(ctx, "kiln", func(p ingest.Progress) {
		if p.Phase != "wait" {
			t.Errorf("got phase %q while another sync runs, want wait", p.Phase)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the second sync: got %v, want context.Canceled", err)
	}
	close(release)
	first.Wait()
}

func TestStopEndsSyncs(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "glaze")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err == nil || err.Error() != `sync "kiln": the server is shutting down` {
		t.Errorf("got %v, want that the server is shutting down", err)
	}
	if r := find(t, s, "kiln"); r.LastError != "" {
		t.Errorf("LastError: got %q; that the server stopped is no fault of the repository", r.LastError)
	}
}

// round runs one round of a syncer that logs to a buffer.
func round(t *testing.T, s *service.Service, first []string) string {
	t.Helper()
	var log bytes.Buffer
	writer := zerolog.SyncWriter(&log)
	logger := zerolog.New(writer)
	begun := false
	y := &service.Syncer{Service: s, Log: logger, Display: progress.Log(logger, writer, time.Now)}
	y.Run(t.Context(), first, func() {
		begun = true
		for _, name := range first {
			if r := find(t, s, name); !r.Indexed() && r.LastError == "" {
				t.Errorf("begun was called before %s was tried", name)
			}
		}
	})
	if !begun {
		t.Error("begun was not called")
	}
	return log.String()
}

func find(t *testing.T, s *service.Service, name string) *store.Repository {
	t.Helper()
	all, err := s.Repositories().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no repository %q", name)
	return nil
}

// A source that is away is logged without its password, keeps its last
// generation, and stops no other.
func TestSyncerGoesOnAfterAFailure(t *testing.T) {
	s := open(t)
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		commit(t, filepath.Join(root, name), "f.txt", "glaze "+name)
		if _, err := s.Repositories().Add(t.Context(), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	bad := ingest.Source{Name: "away", Location: "http://me:secret@127.0.0.1:1/x", Remote: true}
	if _, err := s.Repositories().Declare(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	log := round(t, s, []string{"away", "b"})
	if n := found(t, s, "glaze"); n != 3 {
		t.Errorf("found %d documents, want those of all 3 good repositories", n)
	}
	if !strings.Contains(log, `"level":"warn","repo":"away"`) || strings.Contains(log, "secret") {
		t.Errorf("want a warning about the one that is away, without its password:\n%s", log)
	}

	commit(t, filepath.Join(root, "a"), "g.txt", "fired a")
	if err := os.RemoveAll(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	round(t, s, nil)
	if n := found(t, s, "fired"); n != 1 {
		t.Errorf("after the second round: found %d of the new document, want 1", n)
	}
	if n := found(t, s, "glaze"); n != 3 {
		t.Errorf("after the second round: found %d, want the last generation of what is away, too", n)
	}
	if r := find(t, s, "b"); r.LastError == "" {
		t.Error("the repository that went away has no error")
	}
}

func TestSyncerEndsWithItsContext(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	y := &service.Syncer{Service: s, Interval: time.Hour, Log: zerolog.Nop(), Display: progress.Lines(&bytes.Buffer{}, time.Now)}
	y.Run(ctx, nil, cancel) // returns, or the test hangs
}

func TestSkipped(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "bin", "\x00\x01\x02\xff")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := s.Repositories().Skipped(t.Context(), "kiln", func(path, reason string, bytes int64) error {
		got = append(got, path+" "+reason)
		return nil
	})
	if len(got) != 1 || got[0] != "bin binary" || err != nil {
		t.Errorf("got %q, %v; want bin, which is binary", got, err)
	}
	if err := s.Repositories().Skipped(t.Context(), "none", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of an unknown repository: got %v, want store.ErrNotFound", err)
	}
}

// TestSearchesWaitForMemory: when as many searches are at work as there is
// memory for, the next one waits for one of them, or for its own end.
func TestSearchesWaitForMemory(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "glaze")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
		t.Fatal(err)
	}
	q, err := syntax.Parse("glaze", query.Standard)
	if err != nil {
		t.Fatal(err)
	}
	at, release := make(chan struct{}), make(chan struct{})
	blocked := func(ctx context.Context) search.Outcome {
		return s.Search(ctx, q, search.Options{Display: -1}, answer.SinkFunc(func([]query.Match) error {
			at <- struct{}{}
			<-release
			return nil
		}))
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(release)
	// The setting of open is 256 MiB, 16 MiB for each.
	for range 16 {
		wg.Go(func() { blocked(t.Context()) })
		<-at
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out := blocked(ctx); out.Err != nil || out.Alert != nil {
		t.Errorf("a search that was over before it began: got %+v, want nothing", out)
	}
	wg.Go(func() { blocked(t.Context()) })
	select {
	case <-at:
		t.Error("17 searches at work, want 16")
	default:
	}
	release <- struct{}{}
	<-at // the one that waited
}

// TestKeep: what follows a sync is done without a request, and ends with ctx.
func TestKeep(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop(), History: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { s.Keep(ctx) })
	defer func() {
		cancel()
		working.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "clay")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().Sync(t.Context(), "kiln", ignore); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a commit that is read", func() bool { return find(t, s, "kiln").History.Tip != "" })
}
