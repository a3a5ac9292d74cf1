//go:build unix

package ingest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// pauseGit has a subcommand of git wait before it ends, the next time that it runs:
// for what is done while it does. The script needs nothing but the shell.
func pauseGit(t *testing.T, subcommand string, meanwhile func()) (done func()) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	begun, goOn, once := filepath.Join(dir, "begun"), filepath.Join(dir, "go-on"), filepath.Join(dir, "once")
	for _, fifo := range []string{begun, goOn} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\n%s \"$@\" || exit\ncase \" $* \" in *\" %s \"*) if (set -C; : >%s) 2>/dev/null; then echo >%s; read x <%s; fi;; esac\n",
		real, subcommand, once, begun, goOn)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := os.ReadFile(begun); err != nil {
			t.Error(err)
		}
		meanwhile()
		if err := os.WriteFile(goOn, []byte("\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	return func() {
		waiting.Wait()
		t.Setenv("PATH", path)
	}
}

// TestTextBesideHistory: a repository is synced and merged while the history of another
// is being read.
func TestTextBesideHistory(t *testing.T) {
	f, first, second := newFixture(t, ingest.Options{}), newRepo(t), newRepo(t)
	for _, r := range []*repo{first, second} {
		r.write(map[string]string{"a.txt": r.dir})
		r.commitAt(1, "one")
	}
	f.sync("first", first)
	done := pauseGit(t, "log", func() {
		if _, err := f.ix.Add(context.Background(), ingest.Source{Name: "second", Location: second.dir}); err != nil {
			t.Error(err)
		}
		if _, err := f.ix.Sync(context.Background(), "second", nil); err != nil {
			t.Error(err)
		}
		if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if h := f.record("first").History; h.Tip != "" {
			t.Errorf("the history is read: %+v", h)
		}
		f.want("second", map[string]string{"a.txt": second.dir})
	})
	f.history()
	done()
	f.checkHistory("first", first, ingest.AllHistory)
	f.history()
	f.checkHistory("second", second, ingest.AllHistory)
}

// TestRemovedWhileHistoryIsRead: nothing is left of a repository that is removed
// between the reading of its history and the commit.
func TestRemovedWhileHistoryIsRead(t *testing.T) {
	f, r, other := newFixture(t, ingest.Options{}), newRepo(t), newRepo(t)
	for _, r := range []*repo{r, other} {
		r.write(map[string]string{"a.txt": r.dir})
		r.commitAt(1, "one")
	}
	f.sync("other", other)
	f.sync("r", r)
	done := pauseGit(t, "log", func() {
		if err := f.ix.Remove(context.Background(), "r"); err != nil {
			t.Error(err)
		}
	})
	f.history()
	done()
	f.checkHistory("other", other, ingest.AllHistory)
	f.wantSound(t)
	if n := f.st.Metrics().Shards; n > 2 {
		t.Errorf("%d shards are left", n)
	}
}

// TestQuarantineWhileHistoryIsPlanned: a shard that is quarantined after the history was
// compared with it is not forgotten: its commits are read again.
func TestQuarantineWhileHistoryIsPlanned(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		f, r := newFixture(t, ingest.Options{}), newRepo(t)
		for k := range 3 {
			r.write(map[string]string{"a.txt": fmt.Sprint(k)})
			r.commitAt(k, "old")
		}
		f.sync("r", r)
		f.history()
		old := f.record("r").History.Shards[0]
		r.write(map[string]string{"a.txt": "4"})
		r.commitAt(4, "new")
		f.sync("r", r)
		f.history()
		r.git("commit", "-q", "--amend", "-m", "rewritten")
		f.sync("r", r)
		if interrupted { // and so read alone
			next := *f.record("r")
			next.History.Reading = next.History.Tip
			if err := f.st.Commit(store.Change{Repositories: []*store.Repository{&next}}); err != nil {
				t.Fatal(err)
			}
		}
		done := pauseGit(t, "rev-list", func() {
			if first, err := f.st.SetAside(old, store.ErrCorrupt, zeroTime); !first || err != nil {
				t.Errorf("SetAside: %v, %v", first, err)
			}
		})
		f.history()
		done()
		f.checkHistory("r", r, ingest.AllHistory)
		f.wantSound(t)
	}
}
