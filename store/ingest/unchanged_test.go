package ingest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// countGit has git's processes counted from now on: it returns the subcommands
// that were run since the last call.
func countGit(t *testing.T) func() string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\nfor a; do case $skip$a in -c) skip=x; continue;; x*) skip=; continue;; -*) ;; *) echo $a >>" + log + "; break;; esac; done\nexec " + real + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return strings.Join(strings.Fields(string(text)), " ")
	}
}

func (f *fixture) record(name string) *store.Repository {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// TestUnchangedStartsNoProcess: a look at a repository of this machine that has not
// changed starts no process and writes nothing, one at a remote starts one. All that
// a sync would do something about is seen.
func TestUnchangedStartsNoProcess(t *testing.T) {
	now := clock.New(time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC))
	f := newFixture(t, ingest.Options{Now: now.Now})
	r := newRepo(t)
	r.write(map[string]string{"a.txt": "clay"})
	r.commit()
	r.git("branch", "release/1")
	f.sync("kiln", r)
	src, err := ingest.ParseSource("far=file://" + r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Add(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Sync(t.Context(), "far", nil); err != nil {
		t.Fatal(err)
	}
	ran := countGit(t)
	facts := func(c store.FactsChange) {
		for _, name := range []string{"kiln", "far"} {
			if _, err := f.st.Repositories().ChangeFacts(name, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		do   func()
		// local and far say which of the two are as before.
		local, far bool
	}{
		{"nothing", func() {}, true, true},
		{"packed", func() { r.git("pack-refs", "--all") }, true, true},
		{"stars", func() { n := 3; facts(store.FactsChange{Stars: &n}) }, true, true},
		{"a commit", r.commit, false, false},
		{"a branch that is not indexed", func() { r.git("branch", "other") }, true, false},
		{"globs of branches", func() { globs := []string{"release/*"}; facts(store.FactsChange{Branches: &globs}) }, false, false},
		{"a branch that is indexed", func() { r.git("branch", "release/2") }, false, false},
		{"it moves", func() { r.git("branch", "-f", "release/2", "HEAD^") }, false, false},
		{"it is deleted", func() { r.git("branch", "-D", "release/2") }, false, false},
		{"HEAD names another branch of the same commit", func() { r.git("symbolic-ref", "HEAD", "refs/heads/other") }, false, false},
		{"HEAD is detached", func() { r.git("checkout", "-q", "--detach") }, false, false},
		{"HEAD leads nowhere", func() { r.git("symbolic-ref", "HEAD", "refs/heads/none") }, false, true},
	} {
		c.do()
		ran()
		for name, want := range map[string]bool{"kiln": c.local, "far": c.far} {
			for _, want := range []bool{want, true} { // nothing changes between the two
				old := f.record(name)
				now.Add(time.Minute)
				res, err := f.ix.Sync(t.Context(), name, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, name, err)
				}
				got := f.record(name)
				if !got.Fetched().Equal(now.Now()) {
					t.Errorf("%s, %s: fetched at %v, want %v", c.name, name, got.Fetched(), now.Now())
				}
				processes := ran()
				if !want {
					continue // it may be a branch that is not indexed
				}
				if !res.AsBefore || got != old || res.Unchanged != got.Documents {
					t.Errorf("%s, %s: got %+v; want it as before, and nothing written", c.name, name, res)
				}
				if processes != map[string]string{"kiln": "", "far": "ls-remote"}[name] {
					t.Errorf("%s, %s: git ran %q", c.name, name, processes)
				}
			}
		}
	}
}

// TestErrorsAreSeenByALook: an error is recorded and cleared, each in one commit, also
// when the branches are as before.
func TestErrorsAreSeenByALook(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	r.commit()
	f.sync("kiln", r)
	away := r.dir + "-away"
	for range 2 {
		if err := os.Rename(r.dir, away); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ix.Sync(t.Context(), "kiln", nil); err == nil {
			t.Error("a source that is away: no error")
		}
		failed := f.record("kiln")
		if failed.LastError == "" {
			t.Error("a source that is away: no error is recorded")
		}
		if _, err := f.ix.Sync(t.Context(), "kiln", nil); err == nil || f.record("kiln") != failed {
			t.Errorf("the same error again: got %v; want it, and nothing written", err)
		}
		if err := os.Rename(away, r.dir); err != nil {
			t.Fatal(err)
		}
		if res, err := f.ix.Sync(t.Context(), "kiln", nil); err != nil || res.AsBefore || f.record("kiln").LastError != "" {
			t.Errorf("it is back: got %+v, %v; want the error cleared", res, err)
		}
	}
}
