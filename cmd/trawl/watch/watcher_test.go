package watch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/cmd/trawl/watch"
	"github.com/trawlsearch/trawl/internal/gitrepo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// changes are the names that a watcher reports.
type changes struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *changes) changed(name string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.times[name]++
}

func (c *changes) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[name]
}

func newWatcher(t *testing.T, mostDirs int) (*watch.Watcher, *changes) {
	t.Helper()
	c := &changes{}
	w, err := watch.New(watch.Options{Changed: c.changed, Log: zerolog.Nop(), MostDirs: mostDirs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, c
}

// after runs something, and waits until a repository is reported once more.
func (c *changes) after(t *testing.T, what, name string, do func()) {
	t.Helper()
	before := c.of(name)
	do()
	for end := time.Now().Add(30 * time.Second); c.of(name) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: %s is not reported", what, name)
		}
	}
}

// locals are repositories, by pairs of a name and a folder.
func locals(pairs ...string) (out []watch.Local) {
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, watch.Local{Name: pair[0], Dir: pair[1]})
	}
	return out
}

// git runs a command of git's in a folder.
func git(t *testing.T, dir, line string) {
	t.Helper()
	gitrepo.Run(t, dir, nil, "", strings.Fields(line)...)
}

// made makes a repository with a commit.
func made(t *testing.T, dir string, args string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init -q -b main "+args)
	git(t, dir, "commit -q --allow-empty -m one")
	return dir
}

// Every way in which git writes refs is seen.
func TestRefs(t *testing.T) {
	root := t.TempDir()
	kiln := made(t, filepath.Join(root, "kiln"), "")
	w, c := newWatcher(t, 0)
	w.Follow(locals("kiln", kiln))
	for _, line := range []string{
		"commit -q --allow-empty -m two", "branch wide/and/deep", "checkout -q -b other", "pack-refs --all", "branch -q -D wide/and/deep", "branch wide/again",
	} {
		c.after(t, line, "kiln", func() { git(t, kiln, line) })
	}
	// A push to a bare one, and a commit in a worktree, which shares the refs of another.
	bare := filepath.Join(root, "bare.git")
	git(t, root, "clone -q --bare kiln bare.git")
	git(t, kiln, "worktree add -q ../tree")
	w.Follow(locals("kiln", kiln, "bare", bare, "tree", filepath.Join(root, "tree")))
	c.after(t, "push", "bare", func() { git(t, kiln, "push -q ../bare.git main:pushed") })
	c.after(t, "a commit in a worktree", "tree", func() { git(t, filepath.Join(root, "tree"), "commit -q --allow-empty -m five") })

	// What is not followed any more is silent.
	w.Follow(locals("kiln", kiln))
	// What had been seen of it before is reported before this.
	c.after(t, "a commit", "kiln", func() { git(t, kiln, "commit -q --allow-empty -m six") })
	before := c.of("bare")
	c.after(t, "push", "kiln", func() {
		git(t, bare, "branch silent main")
		git(t, kiln, "commit -q --allow-empty -m seven")
	})
	if c.of("bare") != before || w.Watching("bare") {
		t.Error("bare is watched still")
	}
}

// A repository in the newer form of git's refs is watched as well: git writes a new list
// of tables for each change, and puts it in the place of the old one.
func TestReftable(t *testing.T) {
	kiln := made(t, filepath.Join(t.TempDir(), "kiln"), "")
	tables := filepath.Join(kiln, ".git", "reftable")
	if err := os.Mkdir(tables, 0o755); err != nil {
		t.Fatal(err)
	}
	w, c := newWatcher(t, 0)
	w.Follow(locals("kiln", kiln))
	c.after(t, "a change", "kiln", func() {
		list := filepath.Join(tables, "tables.list")
		if err := os.WriteFile(list+".lock", []byte("0x000000000001-0x000000000002-5a3b.ref\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(list+".lock", list); err != nil {
			t.Fatal(err)
		}
	})
}

// A repository that is removed and made again is watched again.
func TestMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kiln")
	made(t, dir, "")
	w, c := newWatcher(t, 0)
	all := locals("kiln", dir)
	w.Follow(all)
	c.after(t, "removal", "kiln", func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
	w.Follow(all)
	made(t, dir, "")
	for end := time.Now().Add(30 * time.Second); !w.Watching("kiln"); time.Sleep(10 * time.Millisecond) {
		if w.Follow(all); time.Now().After(end) {
			t.Fatal("it is not watched again")
		}
	}
	c.after(t, "commit", "kiln", func() { git(t, dir, "commit -q --allow-empty -m two") })
}

// That a folder of refs was removed may be heard of when it has been made again and is
// watched.
func TestRemovalHeardLate(t *testing.T) {
	dir := made(t, filepath.Join(t.TempDir(), "kiln"), "")
	w, c := newWatcher(t, 0)
	w.Follow(locals("kiln", dir))
	w.Removed(filepath.Join(dir, ".git", "refs", "heads"))
	oid := strings.TrimSpace(gitrepo.Run(t, dir, nil, "", "commit-tree", "-m", "two", "HEAD^{tree}"))
	for _, branch := range []string{"one", "two"} { // the first report may be of the removal
		c.after(t, branch, "kiln", func() { git(t, dir, "update-ref refs/heads/"+branch+" "+oid) }) // which writes to no other folder
	}
}

// Folders beyond the bound are not watched, and a repository is watched whole or not at
// all.
func TestBounds(t *testing.T) {
	root := t.TempDir()
	one, two := made(t, filepath.Join(root, "one"), ""), made(t, filepath.Join(root, "two"), "")
	w, c := newWatcher(t, 6) // one takes 4: .git, refs, refs/heads, refs/tags
	w.Follow(locals("one", one))
	w.Follow(locals("one", one, "two", two, "none", filepath.Join(root, "none"), "file", os.Args[0]))
	if !w.Watching("one") || w.Watching("two") || w.Watching("none") || w.Watching("file") {
		t.Errorf("watched: one %t, two %t, none %t, file %t; want one only", w.Watching("one"), w.Watching("two"), w.Watching("none"), w.Watching("file"))
	}
	c.after(t, "commit", "one", func() { git(t, one, "commit -q --allow-empty -m two") })
	w.Follow(locals("two", two))
	if w.Watching("one") || !w.Watching("two") {
		t.Error("two has no room that one has left")
	}
	// A folder of branches for which there is no room ends the watch, and is reported.
	c.after(t, "a deep branch", "two", func() { git(t, two, "branch a/b/c/d/e") })
	for end := time.Now().Add(30 * time.Second); w.Watching("two"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is watched, though not all of it is")
		}
	}
}

// Of more repositories than may be watched the first ones are, those that are watched stay so,
// and the log says once how many are left.
func TestMoreThanMayBeWatched(t *testing.T) {
	root := t.TempDir()
	var all []watch.Local
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, watch.Local{Name: name, Dir: made(t, filepath.Join(root, name), "")})
	}
	var log strings.Builder
	w, err := watch.New(watch.Options{Changed: func(string, time.Time) {}, Log: zerolog.New(&log), MostDirs: 9}) // room for two
	if err != nil {
		t.Fatal(err)
	}
	watched := func() (out string) {
		for _, r := range all {
			if w.Watching(r.Name) {
				out += r.Name
			}
		}
		return out
	}
	for _, c := range []struct {
		order, want string
	}{{"ecabd", "ce"}, {"abcde", "ce"}, {"abde", "ae"}, {"abcde", "ae"}, {"ae", "ae"}} {
		var some []watch.Local
		for _, name := range c.order {
			some = append(some, all[name-'a'])
		}
		if w.Follow(some); watched() != c.want {
			t.Errorf("of %s, %s are watched, want %s", c.order, watched(), c.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 3 || strings.Count(log.String(), `"watched":2,"not_watched":3`) != 2 {
		t.Errorf("the log says %s, want three lines, one for each number that are left", log.String())
	}
}

// Many changes in a row are few reports.
func TestManyChanges(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the number of events is that of Linux")
	}
	dir := made(t, filepath.Join(t.TempDir(), "kiln"), "")
	w, c := newWatcher(t, 0)
	w.Follow(locals("kiln", dir))
	ref := filepath.Join(dir, ".git", "refs", "heads", "main")
	id, err := os.ReadFile(ref)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c.after(t, "many writes", "kiln", func() {
		for range 2000 {
			if err := os.WriteFile(ref, id, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
	// Reports are at least 100 ms apart at first, and twice as far each time up to 800 ms.
	most := 3
	for sum, spacing := time.Duration(0), 100*time.Millisecond; sum < time.Since(start); spacing = min(2*spacing, 800*time.Millisecond) {
		sum += spacing
		most++
	}
	if n := c.of("kiln"); n > most {
		t.Errorf("%d reports in %s, want at most %d", n, time.Since(start), most)
	}
}
