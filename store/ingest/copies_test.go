package ingest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/object"
)

// nodes are two nodes that share a store: the first syncs, the second reads.
type nodes struct {
	t            testing.TB
	clock        *clock.Clock
	first, other *fixture
}

func newNodes(t testing.TB) *nodes {
	t.Helper()
	log, folder := memorylog.New(1, false), object.NewFolder(vfs.NewMem(), "shared")
	n := &nodes{t: t, clock: clock.New(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))}
	open := func() *fixture {
		st, err := store.Open(filepath.Join(t.TempDir(), "data"), store.Options{CacheBytes: 8 << 20, Log: log, Runs: runs.New(folder)})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t, st, ingest.New(st, ingest.Options{MinFreeBytes: -1, Now: n.clock.Now})}
		t.Cleanup(func() {
			f.ix.Close()
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
		return f
	}
	n.first, n.other = open(), open()
	return n
}

// sync syncs a source on the first node and returns the record that the other has then.
func (n *nodes) sync(name, source string) *store.Repository {
	n.t.Helper()
	src, err := ingest.ParseSource(name + "=" + source)
	if err == nil {
		_, err = n.first.ix.Add(n.t.Context(), src)
	}
	if err == nil {
		_, err = n.first.ix.Sync(n.t.Context(), name, nil)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	want := n.first.record(name)
	return n.await(func(sn *store.Snapshot) bool {
		r := sn.RepositoryByID(want.ID)
		return r != nil && r.Generation == want.Generation
	}).record(name)
}

// await waits until the other node has a version.
func (n *nodes) await(has func(*store.Snapshot) bool) *fixture {
	n.t.Helper()
	moved := make(chan struct{}, 1)
	n.other.st.Subscribe(func(store.Applied) {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	for {
		sn := n.other.st.Snapshot()
		found := has(sn)
		_ = sn.Close()
		if found {
			return n.other
		}
		select {
		case <-moved:
		case <-n.t.Context().Done():
			n.t.Fatal("the other node does not follow")
		}
	}
}

// ready is GitDirs.Ready, which waits for ten seconds, until a slow machine is done.
func (f *fixture) ready(r *store.Repository) (dir string, err error) {
	for range 20 {
		if dir, err = f.st.GitDirs().Ready(f.t.Context(), r); !errors.Is(err, store.ErrFetching) {
			break
		}
	}
	return dir, err
}

// resolve returns what a revision names on a node, once that has the repository.
func (f *fixture) resolve(r *store.Repository, rev string) string {
	f.t.Helper()
	dir, err := f.ready(r)
	if err != nil {
		f.t.Fatalf("%s: %v", rev, err)
	}
	repo, err := git.Open(f.t.Context(), dir)
	if err != nil {
		f.t.Fatal(err)
	}
	commit, err := repo.Resolve(f.t.Context(), rev)
	if err != nil {
		f.t.Fatalf("%s: %v", rev, err)
	}
	return commit
}

// unready checks that a repository cannot be read, for a reason.
func (f *fixture) unready(r *store.Repository, want error, words string) {
	f.t.Helper()
	_, err := f.ready(r)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), words) {
		f.t.Errorf("got %v, want %v that speaks of %q", err, want, words)
	}
}

// TestMirrorOfAnotherNode reads mirrors on a node that never synced them, while
// branches move on, are rewritten and go at the source, before the first node has
// synced that and behind it. Revisions that begin at an indexed branch are the same on
// both nodes.
func TestMirrorOfAnotherNode(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	source := "file://" + src.dir
	for _, text := range []string{"1", "2", "a", "b", "c"} {
		src.write(map[string]string{"a.txt": text})
		src.commit()
	}
	src.git("branch", "topic")
	same := func(step string, r *store.Repository) {
		t.Helper()
		for _, rev := range []string{"HEAD", "HEAD~1", "main", "main~2", "topic"} {
			if got, want := n.other.resolve(r, rev), n.first.resolve(r, rev); got != want {
				t.Errorf("%s: %s is %s, want %s", step, rev, got, want)
			}
		}
	}
	r := n.sync("far", source)
	same("first", r)
	old := src.git("rev-parse", "main")
	src.write(map[string]string{"a.txt": "d"})
	src.commit()
	same("not synced", r)
	r = n.sync("far", source)
	same("synced", r)
	if got := n.other.resolve(r, "HEAD~1"); got != old {
		t.Errorf("HEAD~1 is %s, want %s", got, old)
	}
	// The source moves back: what the record names is there, and the branch is not.
	src.git("reset", "-q", "--hard", "HEAD~2")
	same("moved back, not synced", r)
	r = n.sync("far", source)
	same("moved back", r)
	src.git("reset", "-q", "--hard", "HEAD~1")
	src.write(map[string]string{"a.txt": "e"})
	src.commit()
	same("rewritten, not synced", r)
	r = n.sync("far", source)
	same("rewritten", r)
	src.git("checkout", "-q", "-b", "trunk")
	src.git("branch", "-D", "-q", "main")
	src.commit()
	r = n.sync("far", source)
	if got, want := n.other.resolve(r, "HEAD~1"), n.first.resolve(r, "HEAD~1"); got != want || n.other.resolve(r, "trunk") != r.Commit() {
		t.Errorf("of a new default branch: HEAD~1 is %s, want %s", got, want)
	}
	src.git("checkout", "-q", "--detach")
	n.sync("far", source)
	src.write(map[string]string{"a.txt": "f"})
	src.commit()
	src.git("branch", "later")
	r = n.sync("far", source)
	src.commit()
	if got := n.other.resolve(r, "HEAD"); got != r.Commit() || n.other.resolve(r, "later") != r.Commit() {
		t.Errorf("of a detached HEAD: HEAD is %s, want %s", got, r.Commit())
	}
	if err := n.first.ix.Remove(t.Context(), "far"); err != nil {
		t.Fatal(err)
	}
	n.await(func(sn *store.Snapshot) bool { return sn.RepositoryByID(r.ID) == nil })
	n.other.unready(r, store.ErrNotFound, "far")
	n.other.ix.AwaitCopies()
	if _, err := os.Stat(n.other.st.GitDirs().Dir(r)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mirror of a removed repository: %v", err)
	}
}

// TestMirrorRewrittenBeforeItIsFetched has the source rewritten between the sync of one
// node and the first look of the other: the other asks for the commit, and says which
// one it lacks when the source has dropped it. The next sync mends that.
func TestMirrorRewrittenBeforeItIsFetched(t *testing.T) {
	for _, dropped := range []bool{false, true} {
		n, src := newNodes(t), newRepo(t)
		src.write(map[string]string{"a.txt": "a"})
		src.commit()
		src.write(map[string]string{"a.txt": "b"})
		src.commit()
		r := n.sync("far", "file://"+src.dir)
		src.git("reset", "-q", "--hard", "HEAD~1")
		src.write(map[string]string{"a.txt": "c"})
		src.commit()
		if dropped {
			src.git("reflog", "expire", "--expire=now", "--all")
			src.git("gc", "-q", "--prune=now")
			n.other.unready(r, git.ErrNotRepository, r.Commit())
		} else if got := n.other.resolve(r, "main"); got != r.Commit() {
			t.Errorf("main is %s, want %s", got, r.Commit())
		}
		r = n.sync("far", "file://"+src.dir)
		if got := n.other.resolve(r, "main"); got != r.Commit() || got != src.git("rev-parse", "main") {
			t.Errorf("dropped %t, synced: main is %s, want %s", dropped, got, r.Commit())
		}
	}
}

// TestMirrorWhoseSourceIsAway gives a reason while a source cannot be reached, without
// asking it for each request, and recovers. What is there is read meanwhile.
func TestMirrorWhoseSourceIsAway(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.commit()
	src.commit()
	r := n.sync("far", "file://"+src.dir)
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(src.dir+from, src.dir+to); err != nil {
			t.Fatal(err)
		}
	}
	move("", "-away")
	n.other.unready(r, git.ErrNotRepository, `"far" is not on this node`)
	move("-away", "")
	n.other.unready(r, git.ErrNotRepository, `"far" is not on this node`)
	n.clock.Add(time.Minute)
	before := n.other.resolve(r, "HEAD~1")
	move("", "-away")
	n.clock.Add(24 * time.Hour)
	if got := n.other.resolve(r, "HEAD~1"); got != before {
		t.Errorf("HEAD~1 is %s, want %s as before", got, before)
	}
	n.other.ix.AwaitCopies()
	if got := n.other.resolve(r, "HEAD~1"); got != before {
		t.Errorf("after a look in vain: HEAD~1 is %s, want %s as before", got, before)
	}
}

// TestOldMirrorIsRenewed has another node see a branch that is not indexed once its copy
// is old.
func TestOldMirrorIsRenewed(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.commit()
	r := n.sync("far", "file://"+src.dir)
	n.other.resolve(r, "HEAD")
	src.git("branch", "topic")
	src.commit()
	before := n.other.st.GitDirs().State(r)
	n.clock.Add(2 * time.Hour)
	n.other.resolve(r, "HEAD") // begins it
	n.other.ix.AwaitCopies()
	if got := n.other.resolve(r, "topic"); got != r.Commit() {
		t.Errorf("topic is %s, want %s", got, r.Commit())
	}
	if got := n.other.resolve(r, "main"); got != r.Commit() {
		t.Errorf("main is %s, want %s, which is indexed", got, r.Commit())
	}
	if n.other.st.GitDirs().State(r) == before {
		t.Error("what revisions name has changed without a word")
	}
}

// TestMirrorIsFetchedOnce has many requests want a mirror whose source sends nothing
// for now. They go on without it, and the fetch goes on without them; those who wait
// get it by the same fetch.
func TestMirrorIsFetchedOnce(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.commit()
	src.git("update-server-info")
	var asked atomic.Int64
	var slow atomic.Bool
	at, release := make(chan struct{}, 1000), make(chan struct{})
	files := http.FileServer(http.Dir(src.dir))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() && strings.HasSuffix(r.URL.Path, "/info/refs") {
			asked.Add(1)
			at <- struct{}{}
			<-release
		}
		files.ServeHTTP(w, r)
	}))
	defer host.Close()
	r := n.sync("far", host.URL+"/.git")
	slow.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := n.other.st.GitDirs().Ready(ctx, r); !errors.Is(err, store.ErrFetching) || !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("with little time: got %v, want ErrFetching", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := n.other.st.GitDirs().Ready(gone, r); !errors.Is(err, context.Canceled) {
		t.Errorf("of a client that left: got %v, want context.Canceled", err)
	}
	<-at
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := n.other.ready(r); err != nil {
				t.Error(err)
			}
		})
	}
	close(release)
	wg.Wait()
	if got := asked.Load(); got != 1 {
		t.Errorf("the source was asked %d times, want once", got)
	}
	n.other.resolve(r, "HEAD")
}

// TestRepositoryInPlaceOnAnotherNode reads the source of a repository in place, as far
// as the folder is the same on the other node.
func TestRepositoryInPlaceOnAnotherNode(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.commit()
	r := n.sync("here", src.dir)
	if err := os.Rename(src.dir, src.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	n.other.unready(r, git.ErrNotRepository, "the folder does not exist")
	another := &repo{t, src.dir}
	if err := os.Mkdir(src.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	another.git("init", "-q", "-b", "main")
	another.git("commit", "-q", "-m", "other", "--allow-empty")
	n.clock.Add(time.Minute)
	n.other.unready(r, git.ErrNotRepository, r.Commit())
	if err := errors.Join(os.RemoveAll(src.dir), os.Rename(src.dir+"-away", src.dir)); err != nil {
		t.Fatal(err)
	}
	n.clock.Add(time.Minute)
	if got := n.other.resolve(r, "HEAD"); got != r.Commit() {
		t.Errorf("HEAD is %s, want %s", got, r.Commit())
	}
}

// TestMirrorOfAnotherNodeIsSynced has the other node take over: its sync and its
// history need the mirror that it lacks.
func TestMirrorOfAnotherNodeIsSynced(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.write(map[string]string{"a.txt": "a"})
	src.commit()
	r := n.sync("far", "file://"+src.dir)
	if _, err := n.other.ix.Histories.Read(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := n.other.record("far").History; got.Tip != r.Commit() {
		t.Errorf("the history reaches to %q, want %s", got.Tip, r.Commit())
	}
	src.write(map[string]string{"a.txt": "b"})
	src.commit()
	if _, err := n.other.ix.Sync(t.Context(), "far", nil); err != nil {
		t.Fatal(err)
	}
	r = n.other.record("far")
	if got, want := n.other.resolve(r, "HEAD"), src.git("rev-parse", "HEAD"); got != want || r.Commit() != want {
		t.Errorf("HEAD is %s, indexed %s, want %s", got, r.Commit(), want)
	}
}

// TestMirrorNeedsRoom refuses to fetch a mirror when the disk is nearly full.
func TestMirrorNeedsRoom(t *testing.T) {
	n, src := newNodes(t), newRepo(t)
	src.commit()
	r := n.sync("far", "file://"+src.dir)
	full := ingest.New(n.other.st, ingest.Options{MinFreeBytes: 1 << 60})
	defer full.Close()
	n.other.unready(r, ingest.ErrLowDisk, "MiB free")
}
