package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/needs"
)

// TestPages looks at a small corpus once. How fast that goes is not judged here.
func TestPages(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	browser := needs.Program(t, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
	corpus, data := filepath.Join(dir, "toy"), filepath.Join(dir, "data")
	if err := run(t.Context(), []string{"corpus", "--out", corpus}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"git", "-C", corpus, "init", "-q"}, {"git", "-C", corpus, "add", "-A"},
		{"git", "-C", corpus, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all"}, {binary, "index", corpus, "--data", data}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	files, err := exec.Command("git", "-C", corpus, "ls-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, _, _ := strings.Cut(string(files), "\n")
	args := []string{"pages", "--trawl", binary, "--data", data, "--browser", browser, "--memory", "512MiB", "--runs", "1",
		"--file", "/toy/-/blob/" + file, "--few", "e", "--all", "count:all e", "--json"}
	var out, notes bytes.Buffer
	err = run(t.Context(), args, &out, &notes)
	for range 2 {
		if !errors.Is(err, bench.ErrNotPainted) {
			break
		}
		out.Reset() // a busy machine's browser, and not the page, did nothing
		err = run(t.Context(), args, &out, &notes)
	}
	if err != nil && !errors.Is(err, errBadRun) {
		t.Fatalf("%q: %v", args, err)
	}
	var r bench.PagesReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if r.Home.Transferred < 1000 || r.File.Transferred < 1000 || r.File.First <= 0 || r.File.Whole <= 0 || r.File.Answered <= 0 ||
		len(r.FirstResults) != 1 || r.FirstResults[0] == 0 || r.Results < 10 || !strings.Contains(r.AllTold, "results") || !r.LastReached || r.HeapBytes < 1000 {
		t.Errorf("%q: %+v\n%s", args, r, &notes)
	}
}

func TestPagesFlags(t *testing.T) {
	for flag, want := range map[string]string{"--runs=1": "--data", "--data=x --runs=0": "at least one"} {
		err := run(t.Context(), append([]string{"pages"}, strings.Fields(flag)...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pages %s: error %v, want one that says %q", flag, err, want)
		}
	}
}
