package backup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// runGit runs git in dir and returns what it prints.
func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitrepo.Run(t, dir, nil, "", args...)
}

// TestMirrorAtWork: git fetches into a mirror and repacks it while backups are
// made. Every backup has a mirror in which nothing is missing.
func TestMirrorAtWork(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	source, data := filepath.Join(dir, "source"), filepath.Join(dir, "data")
	mirror := filepath.Join(data, "mirrors", "1.git")
	runGit(t, dir, "init", "-q", "-b", "main", source)
	runGit(t, source, "commit", "-q", "--allow-empty", "-m", "0")
	runGit(t, dir, "clone", "-q", "--mirror", "--template=", source, mirror)
	st, err := store.Open(data, store.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	dest := object.NewFolder(disk.OS(), filepath.Join(dir, "backups"))

	var fetching sync.WaitGroup
	stop := make(chan struct{})
	fetching.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.WriteFile(filepath.Join(source, fmt.Sprint(i%5)), []byte(strings.Repeat(fmt.Sprint("cup ", i), 100)), 0o600); err != nil {
				t.Error(err)
				return
			}
			runGit(t, source, "add", "-A")
			runGit(t, source, "commit", "-q", "-m", fmt.Sprint(i))
			runGit(t, source, "branch", "-f", fmt.Sprint("b", i%3))
			runGit(t, mirror, "fetch", "-q", "--prune", "--force", source, "+refs/*:refs/*")
			if i%2 == 0 {
				runGit(t, mirror, "repack", "-q", "-a", "-d")
				runGit(t, mirror, "pack-refs", "--all")
			}
		}
	})
	var ids []string
	for range 3 {
		res, err := backup.Create(ctx, st, dest, backup.Options{Mirrors: true}.Quick(nil))
		if err != nil {
			t.Error(err)
			break
		}
		ids = append(ids, res.Backup)
	}
	close(stop)
	fetching.Wait()
	for _, id := range ids {
		to := filepath.Join(dir, "new-"+id)
		if _, err := backup.Restore(ctx, dest, disk.OS(), to, backup.RestoreOptions{Backup: id}); err != nil {
			t.Fatal(err)
		}
		restored := filepath.Join(to, "mirrors", "1.git")
		runGit(t, restored, "fsck", "--full", "--connectivity-only")
		if runGit(t, restored, "rev-parse", "HEAD") == "" {
			t.Error("there is no HEAD")
		}
	}
}

// The refs of a mirror may stand in tables, of which those count that a list
// names. All that is listed is in a backup, and comes back.
func TestMirrorWithTables(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	data := filepath.Join(dir, "data")
	st, err := store.Open(data, store.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	wants := map[string]string{
		"HEAD":                 "ref: refs/heads/.invalid\n",
		"config":               "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\trefstorage = reftable\n",
		"refs/heads":           "this repository uses the reftable format\n",
		"reftable/tables.list": "0x000000000001-0x000000000004-0a1b2c3d.ref\n0x000000000005-0x000000000005-4e5f6071.ref\n",
		"reftable/0x000000000001-0x000000000004-0a1b2c3d.ref": "REFT old",
		"reftable/0x000000000005-0x000000000005-4e5f6071.ref": "REFT new",
	}
	put := func(name, text string) {
		path := filepath.Join(data, "mirrors", "1.git", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range wants {
		put(name, text)
	}
	put("reftable/0x000000000006-0x000000000006-99999999.ref", "not listed yet")
	put("reftable/tables.list.lock", "0x")
	dest := object.NewFolder(disk.OS(), filepath.Join(dir, "backups"))
	if _, err := backup.Create(ctx, st, dest, backup.Options{Mirrors: true}.Quick(nil)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "new")
	if _, err := backup.Restore(ctx, dest, disk.OS(), to, backup.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range wants {
		if got, err := os.ReadFile(filepath.Join(to, "mirrors", "1.git", name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "mirrors", "1.git", "reftable", "tables.list.lock")); !os.IsNotExist(err) {
		t.Errorf("the lock of the list: %v, want none", err)
	}
}

// A restored mirror's configuration tells git nothing that would make it run
// something.
func TestHarmlessConfig(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"[core]\n\trepositoryformatversion = 0\n\tbare = true\n", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"},
		{"[remote \"origin\"]\n\turl = https://git.example.org/lab/kiln\n\tfetch = +refs/*:refs/*\n\tmirror = true\n",
			"[remote \"origin\"]\n\turl = https://git.example.org/lab/kiln\n\tfetch = +refs/*:refs/*\n\tmirror = true\n"},
		{"[extensions]\n\trefstorage = reftable\n", "[extensions]\n\trefstorage = reftable\n"},
		{"[extensions]\n\trefstorage = reftable:///tmp/x\n", "[extensions]\n"},
		{"[core]\n\tsshCommand = touch x\n\tfsmonitor = touch x\n\tbare = true\n", "[core]\n\tbare = true\n"},
		{"[remote \"origin\"]\n\tuploadpack = touch x\n", "[remote \"origin\"]\n"},
		{"[credential]\n\thelper = !touch x\n\turl = x\n", ""},
		{"[include]\n\tpath = /tmp/x\n[core]\n\tbare = true\n", "[core]\n\tbare = true\n"},
		{"[alias]\n\turl = !touch x\n", ""},
		{"[core] sshCommand = touch x\n\tbare = true\n", ""},
		{"[core]\n\tbare = true\\\n\tsshCommand = touch x\n", "[core]\n"},
		{"bare = true\n", ""},
	} {
		if got := string(backup.HarmlessConfig([]byte(c.config))); got != c.want {
			t.Errorf("of %q: got %q, want %q", c.config, got, c.want)
		}
	}
}
